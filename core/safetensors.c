/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors.c - reading and writing files of named matrices; see safetensors.h. */
#include "core/safetensors.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/replace.h"

enum { MOST_HEADER = 100 << 20 /* the format's own limit */ };

size_t cavs__matrix_bytes(const struct cavs__matrix *m)
{
    return (size_t)m->rows * (size_t)m->cols * (size_t)m->size;
}

static const char *type_name(const struct cavs__matrix *m)
{
    return m->size == 8 ? "F64" : "F32";
}

/* ---- writing ---- */

static char *make_header(json_t *metadata, int n, const struct cavs__matrix *m)
{
    json_t *header = json_object();
    size_t at = 0;
    char *text;

    json_object_set(header, "__metadata__", metadata);
    for (int i = 0; i < n; i++) {
        size_t end = at + cavs__matrix_bytes(&m[i]);

        json_object_set_new(header, m[i].name,
                            json_pack("{s:s, s:[i,i], s:[I,I]}", "dtype", type_name(&m[i]), "shape",
                                      m[i].rows, m[i].cols, "data_offsets", (json_int_t)at,
                                      (json_int_t)end));
        at = end;
    }
    text = json_dumps(header, JSON_COMPACT);
    json_decref(header);
    return text;
}

static bool write_header(FILE *f, const char *text)
{
    size_t n = strlen(text), padded = (n + 7) / 8 * 8;
    unsigned char length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(padded >> (8 * i));
    if (fwrite(length, 1, 8, f) != 8 || fwrite(text, 1, n, f) != n)
        return false;
    for (; n < padded; n++) {
        if (fputc(' ', f) == EOF)
            return false;
    }
    return true;
}

static int write_matrix(struct cavs__replacement *r, const struct cavs__matrix *m, int i,
                        cavs__matrix_get *get, void *context)
{
    size_t n = cavs__matrix_bytes(m);
    void *values = malloc(n);
    int rc = values ? get(context, i, values) : cavs__fail_nomem(m->name, n);

    if (!rc && fwrite(values, 1, n, r->file) != n)
        rc = cavs__replace_failed(r);
    free(values);
    return rc;
}

int cavs__safetensors_write(const char *path, json_t *metadata, int n, const struct cavs__matrix *m,
                            cavs__matrix_get *get, void *context)
{
    char *header = metadata ? make_header(metadata, n, m) : NULL;
    struct cavs__replacement r;
    int rc = header ? cavs__replace_open(&r, path) : cavs__fail_nomem("header", 256 * (size_t)n);

    json_decref(metadata);
    if (rc) {
        free(header);
        return rc;
    }
    rc = write_header(r.file, header) ? CAVS_OK : cavs__replace_failed(&r);
    for (int i = 0; i < n && !rc; i++)
        rc = write_matrix(&r, &m[i], i, get, context);
    free(header);
    if (!rc)
        return cavs__replace_commit(&r);
    cavs__replace_cancel(&r);
    return rc;
}

/* ---- reading ---- */

static int read_length(struct cavs__safetensors *f, uint64_t *n)
{
    unsigned char length[8];

    if (fread(length, 1, 8, f->file) != 8)
        return cavs__fail(CAVS_EFORMAT, "%s: shorter than a safetensors header", f->path);
    *n = 0;
    for (int i = 0; i < 8; i++)
        *n |= (uint64_t)length[i] << (8 * i);
    if (*n < 2 || *n > MOST_HEADER)
        return cavs__fail(CAVS_EFORMAT, "%s: not a safetensors file (header of %llu bytes)",
                          f->path, (unsigned long long)*n);
    return CAVS_OK;
}

static int read_header(struct cavs__safetensors *f)
{
    uint64_t n = 0;
    json_error_t error;
    char *text;
    int rc = read_length(f, &n);

    if (rc)
        return rc;
    text = malloc(n);
    if (!text)
        return cavs__fail_nomem("header", n);
    if (fread(text, 1, n, f->file) != n) {
        free(text);
        return cavs__fail(CAVS_EFORMAT, "%s: ends within its header of %llu bytes", f->path,
                          (unsigned long long)n);
    }
    f->header = json_loadb(text, n, 0, &error);
    free(text);
    if (!json_is_object(f->header))
        return cavs__fail(CAVS_EFORMAT, "%s: header is not a JSON object: %s", f->path, error.text);
    f->data = 8 + (long)n;
    return CAVS_OK;
}

int cavs__safetensors_open(struct cavs__safetensors *f, const char *path)
{
    int rc;

    *f = (struct cavs__safetensors){.path = path, .file = fopen(path, "rb")};
    if (!f->file)
        return cavs__fail(CAVS_EIO, "%s: %s", path, strerror(errno));
    rc = read_header(f);
    if (rc)
        cavs__safetensors_close(f);
    return rc;
}

void cavs__safetensors_close(struct cavs__safetensors *f)
{
    fclose(f->file);
    json_decref(f->header);
}

const char *cavs__safetensors_note(const struct cavs__safetensors *f, const char *name)
{
    return json_string_value(json_object_get(json_object_get(f->header, "__metadata__"), name));
}

static int check_entry(const struct cavs__safetensors *f, const struct cavs__matrix *m,
                       long *offset)
{
    json_t *entry = json_object_get(f->header, m->name), *shape = NULL;
    const char *dtype = "";
    json_int_t a = 0, b = 0, rows, cols;
    size_t dims;

    if (!entry)
        return cavs__fail(CAVS_EFORMAT, "%s: parameter %s (%d x %d) is missing", f->path, m->name,
                          m->rows, m->cols);
    if (json_unpack(entry, "{s:s, s:o, s:[I,I]}", "dtype", &dtype, "shape", &shape, "data_offsets",
                    &a, &b) != 0)
        return cavs__fail(CAVS_EFORMAT, "%s: entry of %s has no dtype, shape and data_offsets",
                          f->path, m->name);
    if (strcmp(dtype, type_name(m)) != 0)
        return cavs__fail(CAVS_EFORMAT, "%s: %s has type %s; %s is wanted", f->path, m->name, dtype,
                          type_name(m));
    dims = json_array_size(shape); /* a vector is one row */
    rows = dims == 2 ? json_integer_value(json_array_get(shape, 0)) : 1;
    cols = dims >= 1 ? json_integer_value(json_array_get(shape, dims - 1)) : 1;
    if (dims > 2 || rows != m->rows || cols != m->cols)
        return cavs__fail(CAVS_ESHAPE, "%s: %s is %lld x %lld in the file, %d x %d in the model",
                          f->path, m->name, (long long)rows, (long long)cols, m->rows, m->cols);
    if (a < 0 || b < a || b - a != (json_int_t)cavs__matrix_bytes(m))
        return cavs__fail(CAVS_EFORMAT, "%s: %s has byte range %lld..%lld for %zu bytes", f->path,
                          m->name, (long long)a, (long long)b, cavs__matrix_bytes(m));
    *offset = (long)a;
    return CAVS_OK;
}

int cavs__safetensors_read(const struct cavs__safetensors *f, const struct cavs__matrix *m,
                           void **values)
{
    size_t n = cavs__matrix_bytes(m);
    long offset = 0;
    int rc = check_entry(f, m, &offset);
    void *p;

    if (rc)
        return rc;
    p = malloc(n);
    if (!p)
        return cavs__fail_nomem(m->name, n);
    if (offset > LONG_MAX - f->data || fseek(f->file, f->data + offset, SEEK_SET) != 0 ||
        fread(p, 1, n, f->file) != n) {
        free(p);
        return cavs__fail(CAVS_EFORMAT, "%s: ends within %s", f->path, m->name);
    }
    *values = p;
    return CAVS_OK;
}

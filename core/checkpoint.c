/* SPDX-License-Identifier: Apache-2.0 */
/*
 * checkpoint.c - model files in the safetensors format: 8 bytes of header length (little endian), a
 * JSON header that names every tensor with its type, shape and byte range, then the numbers.
 * Parameters go by name, row-major float32.
 *
 * A file is written beside its final name, flushed, and renamed: whatever happens, the old file or
 * the new one is there.
 */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/error.h"
#include "core/session.h"

enum { MOST_HEADER = 100 << 20 /* the format's own limit */ };

static size_t param_bytes(const struct cavs_param *p)
{
    return (size_t)p->rows * (size_t)p->cols * sizeof(float);
}

/* ---- saving ---- */

static char *make_header(const struct cavs_model *m)
{
    json_t *header = json_object();
    size_t at = 0;
    char *text;

    json_object_set_new(header, "__metadata__", json_pack("{s:s}", "format", "cavs"));
    for (int i = 0; i < m->nparams; i++) {
        const struct cavs_param *p = m->params[i];

        json_object_set_new(header, p->name,
                            json_pack("{s:s, s:[i,i], s:[I,I]}", "dtype", "F32", "shape", p->rows,
                                      p->cols, "data_offsets", (json_int_t)at,
                                      (json_int_t)(at + param_bytes(p))));
        at += param_bytes(p);
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

static int write_params(struct cavs_session *s, FILE *f)
{
    for (int i = 0; i < s->model->nparams; i++) {
        const struct cavs_param *p = s->model->params[i];
        float *values = malloc(param_bytes(p));
        size_t n = param_bytes(p) / sizeof *values, written;
        int rc = values ? cavs_session_get_param(s, p, values)
                        : cavs__fail_nomem(p->name, param_bytes(p));

        written = rc ? 0 : fwrite(values, sizeof *values, n, f);
        free(values);
        if (rc)
            return rc;
        if (written != n)
            return cavs__fail(CAVS_EIO, "%s", strerror(errno));
    }
    return CAVS_OK;
}

static int write_file(struct cavs_session *s, const char *path)
{
    FILE *f = fopen(path, "wb");
    char *text = make_header(s->model);
    int rc;

    if (!f || !text) {
        rc = f ? cavs__fail_nomem("header", 4096)
               : cavs__fail(CAVS_EIO, "%s: %s", path, strerror(errno));
        free(text);
        if (f)
            fclose(f);
        return rc;
    }
    rc = write_header(f, text) ? write_params(s, f) : cavs__fail(CAVS_EIO, "%s", strerror(errno));
    free(text);
    if (!rc && (fflush(f) != 0 || fsync(fileno(f)) != 0))
        rc = cavs__fail(CAVS_EIO, "%s", strerror(errno));
    if (fclose(f) != 0 && !rc)
        rc = cavs__fail(CAVS_EIO, "%s", strerror(errno));
    return rc ? cavs__fail_in(rc, "writing %s", path) : CAVS_OK;
}

int cavs_session_save(struct cavs_session *s, const char *path)
{
    size_t n;
    char *temporary;
    int rc;

    if (!s || !path || !*path)
        return cavs__fail(CAVS_EINVAL, "cavs_session_save: no session or path");
    n = strlen(path) + 32;
    temporary = malloc(n);
    if (!temporary)
        return cavs__fail_nomem("path", n);
    snprintf(temporary, n, "%s.%ld.tmp", path, (long)getpid());
    rc = write_file(s, temporary);
    if (!rc && rename(temporary, path) != 0)
        rc = cavs__fail(CAVS_EIO, "renaming %s to %s: %s", temporary, path, strerror(errno));
    if (rc)
        unlink(temporary);
    free(temporary);
    return rc;
}

/* ---- loading ---- */

static int read_header(FILE *f, const char *path, json_t **header, long *data)
{
    unsigned char length[8];
    uint64_t n = 0;
    json_error_t error;
    char *text;

    if (fread(length, 1, 8, f) != 8)
        return cavs__fail(CAVS_EFORMAT, "%s: shorter than a safetensors header", path);
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)length[i] << (8 * i);
    if (n < 2 || n > MOST_HEADER)
        return cavs__fail(CAVS_EFORMAT, "%s: not a safetensors file (header of %llu bytes)", path,
                          (unsigned long long)n);
    text = malloc(n);
    if (!text)
        return cavs__fail_nomem("header", n);
    if (fread(text, 1, n, f) != n) {
        free(text);
        return cavs__fail(CAVS_EFORMAT, "%s: ends within its header of %llu bytes", path,
                          (unsigned long long)n);
    }
    *header = json_loadb(text, n, 0, &error);
    free(text);
    if (!json_is_object(*header)) {
        json_decref(*header);
        *header = NULL;
        return cavs__fail(CAVS_EFORMAT, "%s: header is not a JSON object: %s", path, error.text);
    }
    *data = 8 + (long)n;
    return CAVS_OK;
}

static int check_entry(const char *path, const struct cavs_param *p, json_t *entry, long *offset)
{
    const char *dtype = "";
    json_t *shape = NULL;
    json_int_t a = 0, b = 0, rows, cols;
    size_t dims;

    if (!entry)
        return cavs__fail(CAVS_EFORMAT, "%s: parameter %s (%d x %d) is missing", path, p->name,
                          p->rows, p->cols);
    if (json_unpack(entry, "{s:s, s:o, s:[I,I]}", "dtype", &dtype, "shape", &shape, "data_offsets",
                    &a, &b) != 0)
        return cavs__fail(CAVS_EFORMAT, "%s: entry of %s has no dtype, shape and data_offsets",
                          path, p->name);
    if (strcmp(dtype, "F32") != 0)
        return cavs__fail(CAVS_EFORMAT, "%s: %s has type %s; F32 is wanted", path, p->name, dtype);
    dims = json_array_size(shape); /* a vector is one row */
    rows = dims == 2 ? json_integer_value(json_array_get(shape, 0)) : 1;
    cols = dims >= 1 ? json_integer_value(json_array_get(shape, dims - 1)) : 1;
    if (dims > 2 || rows != p->rows || cols != p->cols)
        return cavs__fail(CAVS_ESHAPE, "%s: %s is %lld x %lld in the file, %d x %d in the model",
                          path, p->name, (long long)rows, (long long)cols, p->rows, p->cols);
    if (a < 0 || b < a || b - a != (json_int_t)param_bytes(p))
        return cavs__fail(CAVS_EFORMAT, "%s: %s has byte range %lld..%lld for %zu bytes", path,
                          p->name, (long long)a, (long long)b, param_bytes(p));
    *offset = (long)a;
    return CAVS_OK;
}

static int check_names(const char *path, const struct cavs_model *m, json_t *header)
{
    const char *name;
    json_t *value;

    json_object_foreach(header, name, value)
    {
        if (strcmp(name, "__metadata__") != 0 && !cavs_model_find_param(m, name))
            return cavs__fail(CAVS_EFORMAT, "%s: the model has no parameter named %s", path, name);
    }
    return CAVS_OK;
}

static int read_param(FILE *f, const char *path, const struct cavs_param *p, json_t *header,
                      long data, float **out)
{
    long offset = 0;
    int rc = check_entry(path, p, json_object_get(header, p->name), &offset);

    if (rc)
        return rc;
    *out = malloc(param_bytes(p));
    if (!*out)
        return cavs__fail_nomem(p->name, param_bytes(p));
    if (offset > LONG_MAX - data || fseek(f, data + offset, SEEK_SET) != 0 ||
        fread(*out, 1, param_bytes(p), f) != param_bytes(p))
        return cavs__fail(CAVS_EFORMAT, "%s: ends within %s", path, p->name);
    return CAVS_OK;
}

/* Everything is read and checked before the first parameter changes. */
static int load_from(struct cavs_session *s, FILE *f, const char *path)
{
    const struct cavs_model *m = s->model;
    float **values = calloc((size_t)m->nparams + 1, sizeof *values);
    json_t *header = NULL;
    long data = 0;
    int rc = values ? read_header(f, path, &header, &data)
                    : cavs__fail_nomem("parameters", sizeof *values);

    if (!rc)
        rc = check_names(path, m, header);
    for (int i = 0; i < m->nparams && !rc; i++)
        rc = read_param(f, path, m->params[i], header, data, &values[i]);
    for (int i = 0; i < m->nparams && !rc; i++)
        rc = cavs_session_set_param(s, m->params[i], values[i]);
    for (int i = 0; values && i < m->nparams; i++)
        free(values[i]);
    free(values);
    json_decref(header);
    return rc;
}

int cavs_session_load(struct cavs_session *s, const char *path)
{
    FILE *f;
    int rc;

    if (!s || !path)
        return cavs__fail(CAVS_EINVAL, "cavs_session_load: no session or path");
    f = fopen(path, "rb");
    if (!f)
        return cavs__fail(CAVS_EIO, "%s: %s", path, strerror(errno));
    rc = load_from(s, f, path);
    fclose(f);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * safetensors_write.c - writing files of named matrices; see safetensors.h.
 *
 * The header comes first and holds the checksums of what follows: so all numbers are asked for
 * twice.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/base/replace.h"
#include "core/files/safetensors.h"

size_t cavs__matrix_bytes(const struct cavs__matrix *m)
{
    return (size_t)m->rows * (size_t)m->cols * (size_t)m->size;
}

const char *cavs__matrix_type(const struct cavs__matrix *m)
{
    return m->size == 8 ? "F64" : m->size == 2 ? "BF16" : "F32";
}

/* What is to be written. */
struct content {
    json_t *header, *metadata; /* the header holds the metadata */
    int n;
    const struct cavs__matrix *m;
    cavs__matrix_get *get;
    void *context;
};

/* Does something with the bytes of matrix i. */
typedef int use_bytes(void *context, const struct cavs__matrix *m, const void *bytes, size_t n);

static int with_bytes(const struct content *c, int i, use_bytes *use, void *context)
{
    size_t n = cavs__matrix_bytes(&c->m[i]);
    void *bytes = malloc(n + 1);
    int rc = bytes ? c->get(c->context, i, bytes) : cavs__fail_nomem(c->m[i].name, n + 1);

    if (!rc)
        rc = use(context, &c->m[i], bytes, n);
    free(bytes);
    return rc;
}

/* ---- the header ---- */

static bool add_entry(json_t *header, const struct cavs__matrix *m, json_int_t from)
{
    json_t *entry =
        json_pack("{s:s, s:[i,i], s:[I,I]}", "dtype", cavs__matrix_type(m), "shape", m->rows,
                  m->cols, "data_offsets", from, from + (json_int_t)cavs__matrix_bytes(m));

    return json_object_set_new(header, m->name, entry) == 0;
}

static int add_checksum(void *context, const struct cavs__matrix *m, const void *bytes, size_t n)
{
    const struct content *c = context;
    char text[17], *name;
    bool good = cavs__matrix_checksum(json_object_get(c->header, m->name), bytes, n, text) &&
                asprintf(&name, CAVS__CHECKSUM ".%s", m->name) >= 0;

    if (good) {
        good = json_object_set_new(c->metadata, name, json_string(text)) == 0;
        free(name);
    }
    return good ? CAVS_OK : cavs__fail_nomem("checksum", 0);
}

static int make_header(struct content *c)
{
    json_int_t at = 0;
    char text[17];
    int rc = CAVS_OK;

    c->header = json_object();
    if (json_object_set(c->header, "__metadata__", c->metadata) != 0)
        return cavs__fail_nomem("header of a model file", 0);
    for (int i = 0; i < c->n && !rc; i++) {
        if (!add_entry(c->header, &c->m[i], at))
            return cavs__fail_nomem("header of a model file", 0);
        at += (json_int_t)cavs__matrix_bytes(&c->m[i]);
        rc = with_bytes(c, i, add_checksum, c);
    }
    if (rc)
        return rc;
    if (!cavs__metadata_checksum(c->metadata, text) ||
        json_object_set_new(c->metadata, CAVS__CHECKSUM, json_string(text)) != 0)
        return cavs__fail_nomem("checksum", 0);
    return CAVS_OK;
}

static int write_header(struct cavs__replacement *r, const char *text)
{
    size_t n = strlen(text), padded = (n + 7) / 8 * 8;
    unsigned char length[8];

    if (padded > CAVS__MOST_HEADER)
        return cavs__fail(CAVS_EINVAL,
                          "cannot write %s: names and notes need a header of %zu bytes, the most "
                          "that the format allows is %d",
                          r->path, padded, CAVS__MOST_HEADER);
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(padded >> (8 * i));
    if (fwrite(length, 1, 8, r->file) != 8 || fwrite(text, 1, n, r->file) != n ||
        fwrite("       ", 1, padded - n, r->file) != padded - n)
        return cavs__replace_failed(r);
    return CAVS_OK;
}

/* ---- the file ---- */

static int write_bytes(void *context, const struct cavs__matrix *m, const void *bytes, size_t n)
{
    struct cavs__replacement *r = context;

    (void)m;
    return fwrite(bytes, 1, n, r->file) == n ? CAVS_OK : cavs__replace_failed(r);
}

static int write_file(const char *path, const struct content *c, const char *header)
{
    struct cavs__replacement r;
    int rc = cavs__replace_open(&r, path);

    if (rc)
        return rc;
    rc = write_header(&r, header);
    for (int i = 0; i < c->n && !rc; i++)
        rc = with_bytes(c, i, write_bytes, &r);
    if (!rc)
        return cavs__replace_commit(&r);
    cavs__replace_cancel(&r);
    return rc;
}

int cavs__safetensors_write(const char *path, json_t *metadata, int n, const struct cavs__matrix *m,
                            cavs__matrix_get *get, void *context)
{
    struct content c = {.metadata = metadata, .n = n, .m = m, .get = get, .context = context};
    int rc = metadata ? make_header(&c) : cavs__fail_nomem("metadata of a model file", 0);
    char *text = NULL;

    if (!rc) {
        text = cavs__json_text(c.header, JSON_COMPACT);
        rc = text ? write_file(path, &c, text) : cavs__fail_nomem("header of a model file", 0);
    }
    free(text);
    json_decref(c.header);
    json_decref(metadata);
    return rc;
}

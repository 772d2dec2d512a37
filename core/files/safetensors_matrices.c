/* SPDX-License-Identifier: Apache-2.0 */
/* safetensors_matrices.c - where a file has a matrix, and its numbers; see safetensors.h. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/files/safetensors.h"

/* False if the product of all dimensions but the last, or the last, is no int. */
static bool read_shape(const json_t *shape, int *rows, int *cols)
{
    size_t n = json_array_size(shape);
    json_int_t size[2] = {1, 1}; /* all but the last one, and that */

    for (size_t i = 0; i < n; i++) {
        json_int_t d = json_integer_value(json_array_get(shape, i));
        bool good = json_is_integer(json_array_get(shape, i)) && d >= 0 && d <= INT_MAX;

        if (!good || size[i + 1 == n] * d > INT_MAX)
            return false;
        size[i + 1 == n] *= d;
    }
    *rows = (int)size[0];
    *cols = (int)size[1];
    return json_is_array(shape);
}

size_t cavs__type_size(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcmp(type, types[i].name) == 0)
            return types[i].size;
    }
    return 0;
}

static int check_range(const struct cavs__safetensors *f, const char *name, json_int_t a,
                       json_int_t b, const struct cavs__stored *m)
{
    size_t size = cavs__type_size(m->type), wanted = (size_t)m->rows * (size_t)m->cols;

    /* wanted is below 2^62, and so many numbers of 8 bytes need not be a size_t */
    if (a < 0 || b < a ||
        (size > 0 && wanted > 0 &&
         ((size_t)(b - a) % size != 0 || (size_t)(b - a) / size != wanted)))
        return cavs__fail(CAVS_EFORMAT, "%s: %s, %s of %d x %d, has byte range %lld..%lld", f->path,
                          name, m->type, m->rows, m->cols, (long long)a, (long long)b);
    if (b > f->size - f->data)
        return cavs__fail(CAVS_EFORMAT, "%s: ends within %s", f->path, name);
    return CAVS_OK;
}

/* By hand: json_unpack() needs memory, and does not tell its lack from a missing member. */
static bool read_entry(struct cavs__stored *m, const json_t **shape, json_int_t range[2])
{
    const json_t *offsets = json_object_get(m->entry, "data_offsets");

    m->type = json_string_value(json_object_get(m->entry, "dtype"));
    *shape = json_object_get(m->entry, "shape");
    for (size_t i = 0; i < 2; i++) {
        if (!json_is_integer(json_array_get(offsets, i)))
            return false;
        range[i] = json_integer_value(json_array_get(offsets, i));
    }
    return m->type && *shape;
}

int cavs__safetensors_find(const struct cavs__safetensors *f, const char *name,
                           struct cavs__stored *out)
{
    const json_t *shape;
    json_int_t range[2];
    struct cavs__stored m = {.name = name, .entry = json_object_get(f->header, name)};
    int rc;

    if (!read_entry(&m, &shape, range))
        return cavs__fail(CAVS_EFORMAT, "%s: entry of %s has no dtype, shape and data_offsets",
                          f->path, name);
    if (!read_shape(shape, &m.rows, &m.cols))
        return cavs__fail(CAVS_EFORMAT, "%s: the shape of %s is not one of a matrix", f->path,
                          name);
    rc = check_range(f, name, range[0], range[1], &m);
    if (rc)
        return rc;
    m.bytes = (size_t)(range[1] - range[0]);
    m.offset = f->data + (long)range[0];
    *out = m;
    return CAVS_OK;
}

/* A file with checksums has one of each matrix. */
static int check_bytes(const struct cavs__safetensors *f, const struct cavs__stored *m,
                       const void *bytes)
{
    const char *want = NULL;
    char *name, got[17];

    if (asprintf(&name, CAVS__CHECKSUM ".%s", m->name) < 0)
        return cavs__fail_nomem("checksum", 0);
    want = cavs__safetensors_note(f, name);
    free(name);
    if (!want && !cavs__safetensors_note(f, CAVS__CHECKSUM))
        return CAVS_OK;
    if (!cavs__matrix_checksum(m->entry, bytes, m->bytes, got))
        return cavs__fail_nomem("checksum", 0);
    return want && strcmp(want, got) == 0
               ? CAVS_OK
               : cavs__fail(CAVS_EFORMAT, "%s: %s is damaged (wrong checksum)", f->path, m->name);
}

int cavs__safetensors_bytes(const struct cavs__safetensors *f, const struct cavs__stored *m,
                            void *bytes)
{
    bool sought = fseek(f->file, m->offset, SEEK_SET) == 0;

    if (sought && fread(bytes, 1, m->bytes, f->file) == m->bytes)
        return check_bytes(f, m, bytes);
    if (sought && !ferror(f->file)) /* it was longer when it was opened */
        return cavs__fail(CAVS_EFORMAT, "%s: ends within %s", f->path, m->name);
    return cavs__fail(cavs__system_error(), "%s: reading %s: %s", f->path, m->name,
                      strerror(errno));
}

/* What the file has under the name of m is a matrix like m. */
static int find_like(const struct cavs__safetensors *f, const struct cavs__matrix *m,
                     struct cavs__stored *found)
{
    int rc;

    if (!json_object_get(f->header, m->name))
        return cavs__fail(CAVS_EFORMAT, "%s: parameter %s (%d x %d) is missing", f->path, m->name,
                          m->rows, m->cols);
    rc = cavs__safetensors_find(f, m->name, found);
    if (rc)
        return rc;
    if (strcmp(found->type, cavs__matrix_type(m)) != 0 &&
        (m->size != sizeof(float) || !cavs__type_size(found->type)))
        return cavs__fail(CAVS_EFORMAT, "%s: %s has type %s; %s is wanted", f->path, m->name,
                          found->type, cavs__matrix_type(m));
    if (found->rows != m->rows || found->cols != m->cols)
        return cavs__fail(CAVS_ESHAPE, "%s: %s is %d x %d in the file, %d x %d in the model",
                          f->path, m->name, found->rows, found->cols, m->rows, m->cols);
    return CAVS_OK;
}

/* bytes: of the file, to be replaced by numbers of m's type unless they are those. */
static int as_wanted(const struct cavs__matrix *m, const struct cavs__stored *found, void **bytes)
{
    float *values;

    if (strcmp(found->type, cavs__matrix_type(m)) == 0)
        return CAVS_OK;
    values = malloc(cavs__matrix_bytes(m) + 1);
    if (!values)
        return cavs__fail_nomem(m->name, cavs__matrix_bytes(m) + 1);
    cavs__to_floats(found->type, *bytes, (size_t)m->rows * (size_t)m->cols, values);
    free(*bytes);
    *bytes = values;
    return CAVS_OK;
}

int cavs__safetensors_read(const struct cavs__safetensors *f, const struct cavs__matrix *m,
                           void **values)
{
    struct cavs__stored found;
    int rc = find_like(f, m, &found);
    void *p;

    if (rc)
        return rc;
    p = malloc(found.bytes + 1);
    rc = p ? cavs__safetensors_bytes(f, &found, p) : cavs__fail_nomem(m->name, found.bytes + 1);
    if (!rc)
        rc = as_wanted(m, &found, &p);
    if (rc)
        free(p);
    else
        *values = p;
    return rc;
}

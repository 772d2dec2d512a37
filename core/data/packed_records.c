/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_records.c - the records of a packed file: each has all that one sample brings, column by
 * column, so that reading a sample takes one place of the file.
 *
 * Nothing is put between values, so where they are follows from where each sample begins among the
 * vertices, children and entries of all: with a value more of one of these a record is longer by
 * the bytes of all columns that are counted by it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/base/read_at.h"
#include "core/data/packed.h"

/* ---- the arrays ahead of them ----
 * They say how large samples are, and are looked at here and there for each batch.  Where memory is
 * short, pages of the file would be given up for those of the samples, and awaited again. */

static int read_index(struct cavs_packed *p, size_t n)
{
    if (!p->large || n == 0)
        return CAVS_OK;
    p->index = malloc(n);
    if (!p->index)
        return cavs__fail_nomem("sizes of packed samples", n);
    if (cavs__read_at(p->fd, p->arrays, n, p->index) != n)
        return cavs__fail(CAVS_EIO, "%s: cannot be read", p->path);
    p->nindex = n;
    return CAVS_OK;
}

/* ---- what records consist of, which the directory says ---- */

/* Where samples start must begin with 0 and never descend.  No bytes are nothing but zeros. */
static bool are_starts(const int64_t *start, size_t n, int samples)
{
    if (n == 0)
        return true;
    if (n != ((size_t)samples + 1) * sizeof *start || start[0] != 0)
        return false;
    for (int i = 0; i < samples; i++) {
        if (start[i + 1] < start[i] || start[i + 1] - start[i] > CAVS__MOST_OF_SAMPLE)
            return false;
    }
    return true;
}

/* Columns are counted by an array of the directory: *number says by which of those that count
 * anything, -1 if it is none of these. */
static int add_starts(struct cavs_packed *p, const json_t *of, const char *name, const char *owner,
                      int *number)
{
    struct cavs__records *r = &p->records;
    struct cavs__record_starts starts = {.bytes = 0};
    const void *at;
    size_t n;
    int samples = cavs_packed_size(p);

    if (!cavs__packed_array(p, json_object_get(of, name), &at, &n) || !are_starts(at, n, samples))
        return cavs__fail(CAVS_EFORMAT, "%s: %s: starts of samples (%s) descend or are missing",
                          p->path, owner, name);
    *number = -1;
    starts.at = at;
    if (n == 0 || starts.at[samples] == 0)
        return CAVS_OK;
    *number = r->nstarts;
    return CAVS__APPEND(r->starts, r->nstarts, starts)
               ? CAVS_OK
               : cavs__fail_nomem("records", (size_t)r->nstarts * sizeof starts);
}

static int add_part(struct cavs_packed *p, const json_t *of, const char *name, size_t size,
                    int starts)
{
    struct cavs__record_part part = {.of = of, .name = name, .size = size, .starts = starts};

    return CAVS__APPEND(p->records.parts, p->records.nparts, part)
               ? CAVS_OK
               : cavs__fail_nomem("records", (size_t)p->records.nparts * sizeof part);
}

/* What the values of an input belong to, or -1. */
static int per_of(const json_t *input)
{
    const char *per = json_string_value(json_object_get(input, "per"));

    for (int i = CAVS__PER_VERTEX; i <= CAVS__PER_ENTRY; i++) {
        if (strcmp(per, cavs__packed_per[i]) == 0)
            return i;
    }
    return -1;
}

static int add_input(struct cavs_packed *p, const json_t *input, bool over, int vertices,
                     int children)
{
    bool ids = strcmp(json_string_value(json_object_get(input, "type")), "ids") == 0;
    json_int_t width = json_integer_value(json_object_get(input, "width"));
    const char *name = json_string_value(json_object_get(input, "name"));
    int per = per_of(input), starts = per == CAVS__PER_EDGE ? children : vertices, rc = CAVS_OK;

    if (per < 0 || width < 1 || width > INT32_MAX)
        return cavs__fail(CAVS_EFORMAT, "%s: input %s has values of an unknown form", p->path,
                          name);
    if (per == CAVS__PER_ENTRY)
        rc = add_starts(p, input, "entry", name, &starts);
    if (!rc)
        rc = add_part(p, input, "values", (ids ? 1 : (size_t)width) * sizeof(int32_t), starts);
    if (!rc && !ids && !over)
        rc = add_part(p, input, "equal", sizeof(int32_t), starts);
    if (!rc && per == CAVS__PER_ENTRY)
        rc = add_part(p, input, "length", sizeof(int32_t), vertices);
    return rc;
}

static int add_stage(struct cavs_packed *p, const json_t *stage)
{
    const json_t *arrays = json_object_get(stage, "arrays"), *input;
    bool over = json_is_object(json_object_get(stage, "over"));
    const char *name = json_string_value(json_object_get(stage, "name"));
    int vertices, children, rc = add_starts(p, arrays, "start", name, &vertices);
    size_t i;

    if (!rc)
        rc = add_starts(p, arrays, "first", name, &children);
    if (!rc)
        rc = add_part(p, arrays, "function", sizeof(int32_t), vertices);
    if (!rc)
        rc = add_part(p, arrays, "degree", sizeof(int32_t), vertices);
    if (!rc)
        rc = add_part(p, arrays, "child", sizeof(int32_t), children);
    if (!rc && over)
        rc = add_part(p, arrays, "over", sizeof(int32_t), vertices);
    json_array_foreach(json_object_get(stage, "inputs"), i, input)
    {
        if (!rc)
            rc = add_input(p, input, over, vertices, children);
    }
    return rc;
}

/* ---- where they are ---- */

/* How many bytes of a record lie ahead of each part of it, for each value of each starts. */
static int lay_out(struct cavs__records *r)
{
    size_t n = (size_t)r->nstarts, *before = calloc((size_t)r->nparts * n + 1, sizeof *before);

    if (!before)
        return cavs__fail_nomem("records", ((size_t)r->nparts * n + 1) * sizeof *before);
    r->before = before;
    for (int i = 0; i < r->nparts; i++, before += n) {
        for (size_t k = 0; k < n; k++)
            before[k] = r->starts[k].bytes;
        if (r->parts[i].starts >= 0)
            r->starts[r->parts[i].starts].bytes += r->parts[i].size;
    }
    return CAVS_OK;
}

static int check_length(const struct cavs_packed *p, size_t n)
{
    const struct cavs__records *r = &p->records;
    size_t samples = (size_t)cavs_packed_size(p), all = 0, bytes;
    bool fits = true;

    for (int i = 0; i < r->nstarts && fits; i++) {
        fits = !__builtin_mul_overflow(r->starts[i].bytes, r->starts[i].at[samples], &bytes) &&
               !__builtin_add_overflow(all, bytes, &all);
    }
    return fits && all == n
               ? CAVS_OK
               : cavs__fail(CAVS_EFORMAT, "%s: its records are not as long as its samples need",
                            p->path);
}

int cavs__records_open(struct cavs_packed *p)
{
    struct cavs__records *r = &p->records;
    const json_t *records = json_object_get(p->directory, "records"), *stage;
    const void *at;
    size_t i, n;
    int rc = read_index(p, (size_t)json_integer_value(json_array_get(records, 0)));

    json_array_foreach(json_object_get(p->directory, "stages"), i, stage)
    {
        if (!rc)
            rc = add_stage(p, stage);
    }
    if (!rc && !cavs__packed_array(p, records, &at, &n))
        rc = cavs__fail(CAVS_EFORMAT, "%s: it has no records", p->path);
    if (!rc)
        rc = lay_out(r);
    if (!rc)
        rc = check_length(p, n);
    if (!rc) {
        r->p = at;
        r->offset = (size_t)(r->p - p->bytes);
    }
    return rc;
}

void cavs__records_close(struct cavs__records *r)
{
    free(r->starts);
    free(r->parts);
    free(r->before);
}

int cavs__records_find(const struct cavs__records *r, const json_t *of, const char *name)
{
    for (int i = 0; i < r->nparts; i++) {
        if (r->parts[i].of == of && strcmp(r->parts[i].name, name) == 0)
            return i;
    }
    return -1;
}

const void *cavs__record_values(const struct cavs__records *r, int part, int sample)
{
    const size_t *before = r->before + (size_t)part * (size_t)r->nstarts;
    const char *at = r->p;

    for (int i = 0; i < r->nstarts; i++) {
        const int64_t *start = r->starts[i].at + sample;

        at += r->starts[i].bytes * (size_t)start[0] + before[i] * (size_t)(start[1] - start[0]);
    }
    return at;
}

size_t cavs__record_place(const struct cavs__records *r, int sample, size_t *from)
{
    size_t n = 0;

    *from = 0;
    for (int i = 0; i < r->nstarts; i++) {
        const int64_t *start = r->starts[i].at + sample;

        *from += r->starts[i].bytes * (size_t)start[0];
        n += r->starts[i].bytes * (size_t)(start[1] - start[0]);
    }
    return n;
}

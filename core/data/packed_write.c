/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_write.c - writing a packed file: a directory of all arrays is made, and directory and
 * arrays are written one after the other, the records of the samples last.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/base/json_text.h"
#include "core/base/replace.h"
#include "core/data/packed.h"

const char *const cavs__packed_per[] = {"vertex", "edge", "entry"};

/* ---- what is done with the bytes of records ---- */

struct sum {
    size_t n;
    uint64_t hash;
};

static bool add_to_sum(void *to, const void *bytes, size_t n)
{
    struct sum *sum = to;

    sum->n += n;
    sum->hash = cavs__hash(sum->hash, bytes, n);
    return true;
}

static bool write_bytes(void *to, const void *bytes, size_t n)
{
    return n == 0 || fwrite(bytes, 1, n, to) == n;
}

/* The arrays in the order in which they are written, and the directory that says where each is. */
struct plan {
    struct array {
        const void *bytes;
        size_t n;
        json_t *entry; /* the directory's */
    } * arrays;
    int narrays;
    const struct cavs_data *data; /* whose records follow them */
    size_t records;               /* bytes of these */
    size_t at;                    /* where the next one will be */
    json_t *directory;
};

static size_t padded(size_t n)
{
    return (n + CAVS__PACKED_ALIGN - 1) / CAVS__PACKED_ALIGN * CAVS__PACKED_ALIGN;
}

/* ---- the directory ---- */

/* The entry of what comes next, [offset, bytes, checksum]; NULL when memory is short. */
static json_t *plan_next(struct plan *p, size_t n, uint64_t hash)
{
    json_t *entry;
    char checksum[17];

    snprintf(checksum, sizeof checksum, "%016llx", (unsigned long long)hash);
    entry = json_pack("[I, I, s]", (json_int_t)p->at, (json_int_t)n, checksum);
    p->at += padded(n);
    return entry;
}

/* A stage that stands over another often has as many vertices of each sample: arrays that are alike
 * are in the file once, and in memory. */
static json_t *find_array(const struct plan *p, const void *bytes, size_t n)
{
    for (int i = 0; i < p->narrays; i++) {
        if (p->arrays[i].n == n && n > 0 && memcmp(p->arrays[i].bytes, bytes, n) == 0)
            return json_incref(p->arrays[i].entry);
    }
    return NULL;
}

static json_t *plan_array(struct plan *p, const void *bytes, size_t n)
{
    struct array a = {bytes, n, find_array(p, bytes, n)};

    if (a.entry)
        return a.entry;
    a.entry = plan_next(p, n, cavs__hash(CAVS__HASH_START, bytes, n));
    if (a.entry && CAVS__APPEND(p->arrays, p->narrays, a))
        return a.entry;
    json_decref(a.entry);
    return NULL;
}

static json_t *plan_records(struct plan *p)
{
    struct sum sum = {.hash = CAVS__HASH_START};

    cavs__records_visit(p->data, add_to_sum, &sum);
    p->records = sum.n;
    return plan_next(p, sum.n, sum.hash);
}

static json_t *over_entry(const struct cavs_stage *stage)
{
    if (!stage->base)
        return json_null();
    return json_pack("{s:s, s:s}", "stage", stage->base->name, "which",
                     stage->over == CAVS_ROOTS ? "roots" : "all");
}

static json_t *input_entry(const struct cavs__input *in)
{
    return json_pack("{s:s, s:s, s:s, s:i}", "name", in->name, "type", in->ids ? "ids" : "rows",
                     "per", cavs__packed_per[in->per], "width", in->ids ? 1 : in->width);
}

/* Starts of nothing are all 0, and a single function has all vertices. */
static bool is_said(const struct cavs__stage_data *s, const struct cavs__column *c)
{
    return c == &s->count ? s->stage->nfunctions > 1 : ((const int64_t *)c->p)[c->n - 1] > 0;
}

/* False when memory is short: jansson passes the NULLs of earlier calls on until then. */
static bool plan_stage(struct plan *p, struct cavs__stage_data *s, json_t *stages)
{
    json_t *entry = json_object(), *functions = json_array(), *arrays = json_object(),
           *inputs = json_array();
    bool sound = true;

    for (int i = 0; i < s->stage->nfunctions; i++)
        sound &= json_array_append_new(functions, json_string(s->stage->functions[i]->name)) == 0;
    for (int i = 0; i < s->stage->ninputs; i++)
        sound &= json_array_append_new(inputs, input_entry(s->stage->inputs[i])) == 0;
    for (int i = 0; i < cavs__stage_columns(s); i++) {
        const struct cavs__input *in;
        const char *name;
        const struct cavs__column *c = cavs__stage_column(s, i, &name, &in);

        if (cavs__is_ahead(s, i, in))
            sound &=
                json_object_set_new(in ? json_array_get(inputs, (size_t)in->number) : arrays, name,
                                    plan_array(p, c->p, is_said(s, c) ? c->n * c->size : 0)) == 0;
    }
    sound &= json_object_set_new(entry, "name", json_string(s->stage->name)) == 0 &&
             json_object_set_new(entry, "over", over_entry(s->stage)) == 0;
    sound &= json_object_set_new(entry, "functions", functions) == 0;
    sound &= json_object_set_new(entry, "arrays", arrays) == 0;
    sound &= json_object_set_new(entry, "inputs", inputs) == 0;
    return json_array_append_new(stages, entry) == 0 && sound;
}

static bool plan_all(struct plan *p, struct cavs_data *d)
{
    json_t *stages = json_array(), *notes = json_object();
    bool sound = true;

    p->data = d;
    p->directory = json_object();
    for (int i = 0; i < d->model->nstages; i++)
        sound &= plan_stage(p, &d->stages[i], stages);
    for (int i = 0; i < d->pack->nnotes; i++) {
        const struct cavs__packed_note *note = &d->pack->notes[i];

        sound &= json_object_set_new(notes, note->name, plan_array(p, note->bytes, note->n)) == 0;
    }
    sound &= json_object_set_new(p->directory, "samples", json_integer(d->samples)) == 0;
    sound &= json_object_set_new(p->directory, "stages", stages) == 0;
    sound &= json_object_set_new(p->directory, "notes", notes) == 0;
    sound &= json_object_set_new(p->directory, "records", plan_records(p)) == 0;
    return sound;
}

/* ---- the file ---- */

static bool write_padding(FILE *f, size_t n, char pad)
{
    for (size_t rest = padded(n) - n; rest > 0; rest--) {
        if (putc(pad, f) == EOF)
            return false;
    }
    return true;
}

static bool write_padded(FILE *f, const void *bytes, size_t n, char pad)
{
    return write_bytes(f, bytes, n) && write_padding(f, n, pad);
}

static bool write_all(FILE *f, const struct plan *p, const char *directory)
{
    size_t length = strlen(directory);
    struct cavs__packed_header header = {
        .magic = CAVS__PACKED_MAGIC,
        .order = CAVS__PACKED_ORDER,
        .version = CAVS__PACKED_VERSION,
        .directory = padded(length),
        .file = sizeof header + padded(length) + p->at,
    };
    char *text = malloc(padded(length));
    bool sound;

    if (!text) {
        errno = ENOMEM;
        return false;
    }
    memset(text, ' ', padded(length));
    memcpy(text, directory, length);
    header.checksum = cavs__hash(CAVS__HASH_START, text, padded(length));
    sound = fwrite(&header, sizeof header, 1, f) == 1 && write_padded(f, text, padded(length), ' ');
    for (int i = 0; i < p->narrays && sound; i++)
        sound = write_padded(f, p->arrays[i].bytes, p->arrays[i].n, '\0');
    free(text);
    return sound && cavs__records_visit(p->data, write_bytes, f) &&
           write_padding(f, p->records, '\0');
}

static int write_file(const struct plan *p, const char *directory, const char *path)
{
    struct cavs__replacement r;
    int rc = cavs__replace_open(&r, path);

    if (rc)
        return rc;
    if (write_all(r.file, p, directory))
        return cavs__replace_commit(&r);
    rc = cavs__replace_failed(&r);
    cavs__replace_cancel(&r);
    return rc;
}

int cavs_data_write(struct cavs_data *d)
{
    struct plan p = {.arrays = NULL};
    char *directory = NULL;
    int rc;

    if (!d || !d->pack)
        return cavs__fail(CAVS_EINVAL, "cavs_data_write: no data from cavs_data_pack()");
    if (d->open)
        return cavs__fail(CAVS_ESTATE, "cavs_data_write: a sample is open (cavs_data_end)");
    if (plan_all(&p, d))
        directory = cavs__json_text(p.directory, JSON_COMPACT);
    rc = directory ? write_file(&p, directory, d->pack->path)
                   : cavs__fail_nomem("directory of packed data", 0);
    free(directory);
    json_decref(p.directory);
    free(p.arrays);
    return rc;
}

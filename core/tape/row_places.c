/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_places.c - where the rows of an increment are: rows of one signature lie together, so that a
 * V_t is a range of them and a parameter's gradient one product over all.
 */
#include <string.h>

#include "codelets/part.h"
#include "core/base/error.h"
#include "core/tape/tape.h"

/* Takes so many lines: the first of them. *at counts all that have been taken. */
static int32_t take(int64_t *at, int64_t lines)
{
    int32_t first = (int32_t)*at;

    *at += lines;
    return first;
}

/* ---- lists ---- */

/* Notes for each row of a V_t where the entries of its list begin.  The entries of a signature lie
 * in the order of its rows. */
static void count_entries(const struct cavs_tape *t, struct cavs__increment *d,
                          const struct cavs__vt *vt)
{
    const struct cavs__signature *s = cavs__signature_of(t, vt);
    int32_t *longest = &d->longest[vt->function];

    for (int r = 0; r < vt->n && s->nlisted > 0; r++) {
        int32_t n = cavs__entries_of(s, &t->recording.vertices[d->vertex[vt->row0 + r]]);

        d->entry0[vt->row0 + r] = d->entries[vt->function];
        d->length[vt->row0 + r] = n;
        d->entries[vt->function] += n;
        *longest = n > *longest ? n : *longest;
    }
}

static bool has_lists(const struct cavs_tape *t, const struct cavs__increment *d)
{
    for (int f = 0; f < d->nfunctions; f++) {
        if (d->function_rows[f] > 0 && t->recording.signatures.all[f]->nlisted > 0)
            return true;
    }
    return false;
}

/* Places the entries of all lists, if there are any.  false: out of memory. */
static bool place_entries(struct cavs_tape *t, int shard, struct cavs__increment *d)
{
    size_t bytes = 2 * ((size_t)d->n + (size_t)d->nfunctions) * sizeof *d->entry0;

    d->entry0 = NULL;
    if (!has_lists(t, d))
        return true;
    d->entry0 = cavs__arena_alloc(cavs__arena_of_shard(t, shard), bytes);
    if (!d->entry0)
        return false;
    memset(d->entry0, 0, bytes);
    d->length = d->entry0 + d->n;
    d->entries = d->length + d->n;
    d->longest = d->entries + d->nfunctions;
    for (int i = 0; i < d->nvt; i++)
        count_entries(t, d, &d->vt[i]);
    return true;
}

/* ---- rows ---- */

static bool has_result(const struct cavs__signature *s)
{
    return s->like.op != CAVS__OP_METRIC;
}

/* How many rows the gradient for operand k has. */
static int64_t gradients_of(const struct cavs__signature *s, int k, int64_t rows, int64_t entries)
{
    return !s->operands[k].passes ? 0 : s->operands[k].each ? entries : rows;
}

static int32_t *place_function(struct cavs_tape *t, int shard, const struct cavs__signature *s,
                               int64_t rows, int64_t entries)
{
    bool passes = t->recording.run != CAVS_TAPE_EVALUATE;
    struct cavs__tape_shard *to = &t->shards[shard];
    int32_t *lines = cavs__arena_alloc(cavs__arena_of_shard(t, shard),
                                       (CAVS__LINES_OPERANDS + (size_t)s->n) * sizeof *lines);

    if (!lines)
        return NULL;
    lines[CAVS__LINES_RESULT] =
        take(&to->rows, has_result(s) ? rows * cavs__lines_of(s->like.width) : 0);
    lines[CAVS__LINES_KEPT] = take(&to->operands, rows * cavs__lines_of(s->function->kept));
    lines[CAVS__LINES_KEPT_ENTRIES] =
        take(&to->operands, entries * cavs__lines_of(s->function->kept_entries));
    if (cavs__keeps(s))
        to->to_keep = to->operands;
    for (int k = 0; k < s->n; k++) {
        const struct cavs__operand_sort *o = &s->operands[k];

        lines[CAVS__LINES_OPERANDS + k] = take(
            &to->operands,
            passes ? gradients_of(s, k, rows, entries) * cavs__lines_of(o->from + o->width) : 0);
    }
    return lines;
}

static void note_rows(const struct cavs_tape *t, const struct cavs__increment *d)
{
    for (int i = 0; i < d->nvt; i++) {
        const struct cavs__vt *vt = &d->vt[i];
        const struct cavs__signature *s = cavs__signature_of(t, vt);
        int32_t pitch = cavs__lines_of(s->like.width);
        int32_t line = d->lines[vt->function][CAVS__LINES_RESULT] + vt->frow0 * pitch;

        for (int r = 0; r < vt->n && has_result(s); r++, line += pitch)
            t->recording.vertices[d->vertex[vt->row0 + r]].line = line;
    }
}

int cavs__place_rows(struct cavs_tape *t, int shard, struct cavs__increment *d)
{
    struct cavs__tape_shard *to = &t->shards[shard];
    size_t bytes = ((size_t)d->nfunctions + 1) * sizeof *d->lines;

    d->lines = cavs__arena_alloc(cavs__arena_of_shard(t, shard), bytes);
    if (!d->lines || !place_entries(t, shard, d))
        return cavs__fail_nomem("rows of a tape", bytes);
    for (int f = 0; f < d->nfunctions; f++) {
        const struct cavs__signature *s = t->recording.signatures.all[f];

        d->lines[f] = NULL;
        if (d->function_rows[f] == 0)
            continue;
        d->lines[f] =
            place_function(t, shard, s, d->function_rows[f], d->entry0 ? d->entries[f] : 0);
        if (!d->lines[f])
            return cavs__fail_nomem("rows of a tape", bytes);
        if (s->like.op == CAVS__OP_PULL)
            to->given += (int64_t)d->function_rows[f] * cavs__lines_of(s->like.width);
    }
    if (to->rows > INT32_MAX || to->operands > INT32_MAX)
        return cavs__fail(CAVS_ENOMEM, "tape: the rows of a shard have %lld numbers, more than fit",
                          (long long)(to->rows > to->operands ? to->rows : to->operands) *
                              CAVS__LINE);
    note_rows(t, d);
    return CAVS_OK;
}

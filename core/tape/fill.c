/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - memory for the rows of a shard, and what its tasks read: the index sections of its
 * increments, and the rows that the user gave. */
#include <string.h>

#include "core/base/error.h"
#include "core/tape/fill_sections.h"
#include "core/tape/going.h"

/* ---- where sections are ---- */

static int64_t section_length(const struct cavs__increment *d, const struct cavs__section *sec,
                              bool gradients)
{
    int signature = sec->function ? sec->function->number : -1;

    switch (sec->kind) {
    case CAVS__S_LIST_PTR: return signature < d->nfunctions ? d->function_rows[signature] + 1 : 0;
    case CAVS__S_PARENT_PTR: return gradients ? d->n + 1 : 0;
    case CAVS__S_PARENT_EDGE: return 0; /* one for all increments, behind their sections */
    default:
        if (signature >= d->nfunctions || (sec->list > 0 && !d->entry0))
            return 0;
        return sec->list > 0 ? d->entries[signature] : d->function_rows[signature];
    }
}

static int lay_out(struct cavs_tape *t, int slot, struct cavs__increment *d, bool gradients,
                   int64_t *at)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    size_t bytes = ((size_t)sp->nsections + 1) * sizeof *d->offsets;

    d->offsets = cavs__arena_alloc(&t->session->engine.slots[slot].arena, bytes);
    if (!d->offsets)
        return cavs__fail_nomem("index sections", bytes);
    for (int i = 0; i < sp->nsections; i++) {
        d->offsets[i] = (int32_t)*at;
        *at += section_length(d, &sp->sections[i], gradients);
        if (*at > INT32_MAX / 2)
            return cavs__fail(CAVS_ENOMEM, "tape: the index of a shard is larger than fits");
    }
    return CAVS_OK;
}

/* ---- what is in them ---- */

/* Finds the pair of sections by which a row's gradient is added up from pieces.  Returns the first
 * of them, and the second in *pieces. */
static int find_pieces_sections(const struct cavs__stage_plan *sp, int *pieces)
{
    for (int i = 0; i < sp->nsections; i++) {
        if (sp->sections[i].kind == CAVS__S_PARENT_PTR) {
            *pieces = sp->sections[i].partner;
            return i;
        }
    }
    return -1;
}

static void fill_pieces(struct cavs_tape *t, int shard, int32_t *index)
{
    const struct cavs__tape_shard *s = &t->shards[shard];
    int pieces, ptr = find_pieces_sections(cavs__tape_plan(t), &pieces);

    for (struct cavs__increment *d = s->first; d && ptr >= 0; d = d->after) {
        memcpy(index + d->offsets[ptr], d->pieces, ((size_t)d->n + 1) * sizeof *index);
        d->offsets[pieces] = s->all_pieces;
    }
    cavs__write_pieces(t, shard, index + s->all_pieces);
}

/* ---- a shard ---- */

/* A chunk that this thread writes to. */
struct written {
    struct cavs__tensor *tensor;
    int chunk;
};

static struct written written_of(const struct cavs__going *g, int tensor, int shard)
{
    return (struct written){&g->e->tensors[tensor],
                            cavs__chunk_of(g->e, tensor, g->slot, shard, 0)};
}

static struct written index_of(const struct cavs__going *g, int shard)
{
    return written_of(g, cavs__tape_plan(g->t)->index, shard);
}

static struct written given_of(const struct cavs__going *g, int shard)
{
    return written_of(g, cavs__tape_plan(g->t)->input[CAVS__GIVEN_INPUT], shard);
}

static struct cavs__increment *first_of(const struct cavs__going *g, int shard)
{
    return g->gradients ? g->t->shards[shard].first : g->t->fresh[shard];
}

static int make_room(struct cavs__going *g, int shard)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(g->t);
    const struct cavs__tape_shard *s = &g->t->shards[shard];
    struct cavs__engine *e = g->e;
    int rc =
        cavs__extend(e, &e->tensors[sp->state], shard, s->rows + s->rows / 16 + 1, s->evaluated);

    if (!rc && g->gradients)
        rc = cavs__reserve(e, &e->tensors[sp->push[0]], shard, s->rows + s->rows / 16 + 1);
    if (!rc) /* even if empty: a task names it where another signature of its kind reads it */
        rc = cavs__extend(e, &e->tensors[sp->edge], shard, s->operands + s->operands / 16 + 1,
                          s->kept);
    return rc;
}

/* Says where each section is in the index, makes room, and waits until no task uses the chunks. */
static int acquire(struct cavs__going *g, int shard)
{
    struct cavs__tape_shard *s = &g->t->shards[shard];
    struct written index = index_of(g, shard), given = given_of(g, shard);
    int64_t length = 0;
    int rc = make_room(g, shard);

    for (struct cavs__increment *d = first_of(g, shard); d && !rc; d = d->after)
        rc = lay_out(g->t, g->slot, d, g->gradients, &length);
    s->all_pieces = (int32_t)length;
    length += g->gradients ? 3 * (int64_t)s->npieces : 0;
    if (!rc)
        rc = cavs__reserve(g->e, index.tensor, index.chunk, length + 1);
    if (!rc)
        rc =
            cavs__reserve(g->e, given.tensor, given.chunk, (g->t->fresh[shard] ? s->given : 0) + 1);
    if (rc)
        return rc;
    cavs__tensor_acquire(index.tensor, index.chunk, STARPU_W);
    cavs__tensor_acquire(given.tensor, given.chunk, STARPU_W);
    return CAVS_OK;
}

static int write_shard(void *of, int shard)
{
    const struct cavs__going *g = of;
    struct cavs_tape *t = g->t;
    struct written index = index_of(g, shard), given = given_of(g, shard);
    struct cavs__filling w = {.t = t, .batch = t->noise};

    if (!first_of(g, shard))
        return CAVS_OK;
    w.index = (int32_t *)index.tensor->chunks[index.chunk].p;
    for (struct cavs__increment *d = first_of(g, shard); d; d = d->after) {
        w.d = d;
        if (d == t->fresh[shard])
            w.given = given.tensor->chunks[given.chunk].p;
        for (int i = 0; i < d->nvt; i++)
            cavs__fill_vt(&w, &d->vt[i]);
    }
    if (g->gradients)
        fill_pieces(t, shard, w.index);
    return CAVS_OK;
}

static void release(struct cavs__going *g, int shard)
{
    struct written all[] = {index_of(g, shard), given_of(g, shard)};
    struct cavs__tape_shard *s = &g->t->shards[shard];

    for (int i = 0; i < 2; i++) {
        cavs__tensor_release(all[i].tensor, all[i].chunk);
        cavs__send_home(g->e, shard, all[i].tensor, all[i].chunk);
    }
    s->evaluated = s->rows;
    s->kept = s->to_keep;
}

/* ---- all ---- */

int cavs__fill(struct cavs__going *g)
{
    const double vertex = 25e-9; /* seconds */
    struct cavs_tape *t = g->t;
    int rc = CAVS_OK, acquired = 0;

    for (; acquired < t->order.nshards && !rc; acquired += !rc) {
        if (first_of(g, acquired))
            rc = acquire(g, acquired);
    }
    if (!rc)
        rc = cavs__share_work(g->e, t->order.nshards, t->order.nvertices * vertex, write_shard, g);
    for (int i = 0; i < acquired; i++) {
        if (first_of(g, i))
            release(g, i);
    }
    return rc;
}

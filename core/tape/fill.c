/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - memory for the rows of a shard, and what its tasks read: the index sections of its
 * increments, and the rows that the user gave. */
#include <string.h>

#include "core/base/error.h"
#include "core/base/splitmix.h"
#include "core/tape/fill_sections.h"

/* ---- where sections are ---- */

static int64_t section_length(const struct cavs__increment *d, const struct cavs__section *sec,
                              bool gradients)
{
    int signature = sec->function ? sec->function->number : -1;

    switch (sec->kind) {
    case CAVS__S_LIST_PTR: return signature < d->nfunctions ? d->function_rows[signature] + 1 : 0;
    case CAVS__S_PARENT_PTR: return gradients ? d->n + 1 : 0;
    case CAVS__S_PARENT_EDGE: return 0; /* of all increments together */
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

static uint64_t batch_key(const struct cavs_tape *t)
{
    const struct cavs_session *s = t->session;

    if (t->recording.run == CAVS_TAPE_EVALUATE)
        return 0;
    return cavs__splitmix(cavs__splitmix(s->options.seed ^ 0xd1b54a32d192ed03u) +
                          (uint64_t)s->optimizer.store->step) |
           1;
}

/* The sections that say what each gradient is the sum of. */
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

/* ---- all ---- */

static int32_t *acquire_index(struct cavs_tape *t, int slot, int shard, int64_t length, int *rc)
{
    struct cavs__engine *e = &t->session->engine;
    int tensor = cavs__tape_plan(t)->index, chunk = cavs__chunk_of(e, tensor, slot, shard, 0);

    *rc = cavs__reserve(e, &e->tensors[tensor], chunk, length + 1);
    return *rc ? NULL : (int32_t *)cavs__tensor_acquire(&e->tensors[tensor], chunk, STARPU_W);
}

static void release_index(struct cavs_tape *t, int slot, int shard)
{
    struct cavs__engine *e = &t->session->engine;
    int tensor = cavs__tape_plan(t)->index;

    cavs__tensor_release(&e->tensors[tensor], cavs__chunk_of(e, tensor, slot, shard, 0));
    cavs__send_home(e, shard, &e->tensors[tensor], cavs__chunk_of(e, tensor, slot, shard, 0));
}

static int write_index(struct cavs_tape *t, int slot, int shard, bool gradients, float *given)
{
    struct cavs__tape_shard *s = &t->shards[shard];
    struct cavs__filling w = {.t = t, .batch = batch_key(t)};
    struct cavs__increment *first = gradients ? s->first : t->fresh[shard];
    int64_t length = 0;
    int rc = CAVS_OK;

    for (struct cavs__increment *d = first; d && !rc; d = d->after)
        rc = lay_out(t, slot, d, gradients, &length);
    s->all_pieces = (int32_t)length;
    length += gradients ? 3 * (int64_t)s->npieces : 0;
    if (!rc)
        w.index = acquire_index(t, slot, shard, length, &rc);
    if (rc)
        return rc;
    for (struct cavs__increment *d = first; d; d = d->after) {
        w.d = d;
        if (d == t->fresh[shard])
            w.given = given;
        for (int i = 0; i < d->nvt; i++)
            cavs__fill_vt(&w, &d->vt[i]);
    }
    if (gradients)
        fill_pieces(t, shard, w.index);
    release_index(t, slot, shard);
    return CAVS_OK;
}

static int make_room(struct cavs_tape *t, int shard, bool gradients)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    const struct cavs__tape_shard *s = &t->shards[shard];
    struct cavs__engine *e = &t->session->engine;
    int rc =
        cavs__extend(e, &e->tensors[sp->state], shard, s->rows + s->rows / 16 + 1, s->evaluated);

    if (!rc && gradients)
        rc = cavs__reserve(e, &e->tensors[sp->push[0]], shard, s->rows + s->rows / 16 + 1);
    if (!rc) /* empty, too: tasks name it where another signature of their kind reads it */
        rc = cavs__extend(e, &e->tensors[sp->edge], shard, s->operands + s->operands / 16 + 1,
                          s->kept);
    return rc;
}

int cavs__fill(struct cavs_tape *t, int slot, int shard, bool gradients)
{
    struct cavs__engine *e = &t->session->engine;
    int tensor = cavs__tape_plan(t)->input[CAVS__GIVEN_INPUT];
    int chunk = cavs__chunk_of(e, tensor, slot, shard, 0);
    int64_t lines = t->fresh[shard] ? t->shards[shard].given : 0;
    int rc = make_room(t, shard, gradients);

    if (!rc)
        rc = cavs__reserve(e, &e->tensors[tensor], chunk, lines + 1);
    if (rc)
        return rc;
    rc = write_index(t, slot, shard, gradients,
                     cavs__tensor_acquire(&e->tensors[tensor], chunk, STARPU_W));
    cavs__tensor_release(&e->tensors[tensor], chunk);
    cavs__send_home(e, shard, &e->tensors[tensor], chunk);
    t->shards[shard].evaluated = t->shards[shard].rows;
    t->shards[shard].kept = t->shards[shard].to_keep;
    return rc;
}

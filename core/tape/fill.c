/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c - memory for the rows of a shard, and what its tasks read: the index sections of its
 * increments, and the rows that the user gave. */
#include <string.h>

#include "codelets/part.h"
#include "core/base/error.h"
#include "core/base/splitmix.h"
#include "core/tape/tape.h"

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

/* The index of a shard being written. */
struct filling {
    struct cavs_tape *t;
    const struct cavs__increment *d;
    int32_t *index;
    float *given;         /* rows of the user's; NULL: they have been read */
    int32_t given_so_far; /* lines */
    uint64_t batch;       /* of dropout's keys; 0: nothing is dropped */
};

/* NULL: it was taken back. */
static struct cavs__node *row_of(const struct filling *w, const struct cavs__vt *vt, int r)
{
    int symbol = w->d->node[vt->row0 + r];

    return symbol < 0 ? NULL : cavs__node_at(&w->t->recording, symbol);
}

static int32_t *section_of(const struct filling *w, const struct cavs__vt *vt, int section)
{
    return w->index + w->d->offsets[section] + vt->frow0;
}

static int32_t line_read(const struct cavs__recording *r, const struct cavs__read *read)
{
    return cavs__line_of(r, &r->entries[read->of]) + read->from / CAVS__LINE;
}

/* Ids as they are; rows by their lines.  What was taken back reads zeros. */
static void fill_operand(const struct filling *w, const struct cavs__vt *vt, int k,
                         const struct cavs__operand_sort *o)
{
    const struct cavs__recording *recording = &w->t->recording;
    int32_t *out = section_of(w, vt, o->section);

    for (int r = 0; r < vt->n; r++) {
        const struct cavs__entry *e = cavs__entry_of_row(recording, w->d, vt->row0 + r);
        const struct cavs__read *read = e ? &recording->reads[e->operands + k] : NULL;

        if (!read)
            out[r] = -1;
        else if (o->kind == CAVS__OPERAND_ID)
            out[r] = read->of;
        else
            out[r] = line_read(recording, read);
    }
}

/* V_t come in the order of the signature's rows. */
static void fill_first(const struct filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    int32_t *first = section_of(w, vt, s->first);

    memcpy(first, w->d->entry0 + vt->row0, (size_t)vt->n * sizeof *first);
    first[vt->n] = w->d->entries[vt->function]; /* or the next V_t begins there */
}

/* Of each entry the row of its function that has it. */
static void fill_owner(const struct filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    int32_t *out = w->index + w->d->offsets[s->owner];

    for (int r = 0; r < vt->n; r++) {
        for (int32_t i = 0; i < w->d->length[vt->row0 + r]; i++)
            out[w->d->entry0[vt->row0 + r] + i] = vt->frow0 + r;
    }
}

/* Operand k is entries of the lists. */
static void fill_entries(const struct filling *w, const struct cavs__vt *vt, int k,
                         const struct cavs__signature *s)
{
    const struct cavs__recording *recording = &w->t->recording;
    const struct cavs__operand_sort *o = &s->operands[k];

    for (int r = 0; r < vt->n; r++) {
        const struct cavs__entry *e = cavs__entry_of_row(recording, w->d, vt->row0 + r);
        int32_t *out = w->index + w->d->offsets[o->section] + w->d->entry0[vt->row0 + r], n;
        const struct cavs__read *read =
            e ? &recording->reads[e->operands + cavs__reads_of_operand(s, e, k, &n)] : NULL;

        for (int32_t i = 0; i < w->d->length[vt->row0 + r]; i++)
            out[i] = !read                         ? -1
                     : o->kind == CAVS__OPERAND_ID ? read[i].of
                                                   : line_read(recording, &read[i]);
    }
}

static void fill_operands(const struct filling *w, const struct cavs__vt *vt,
                          const struct cavs__signature *s)
{
    for (int k = 0; k < s->n; k++) {
        if (s->operands[k].section < 0)
            continue;
        if (k < s->n - s->nlisted)
            fill_operand(w, vt, k, &s->operands[k]);
        else
            fill_entries(w, vt, k, s);
    }
}

static void fill_given(struct filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    int32_t *out = section_of(w, vt, s->given), lines = cavs__lines_of(s->like.width);

    for (int r = 0; r < vt->n && w->given; r++) {
        out[r] = w->given_so_far;
        memcpy(w->given + (ptrdiff_t)w->given_so_far * CAVS__LINE, row_of(w, vt, r)->row,
               (size_t)s->like.width * sizeof *w->given);
        w->given_so_far += lines;
    }
}

/* By the sample, and the symbol in it: see core/prepare/noise.c. */
static uint64_t key_of(const struct filling *w, const struct cavs__node *node)
{
    uint64_t number = (uint64_t)cavs__entry_of(&w->t->recording, &node->x)->sample;
    uint64_t sample = cavs__splitmix(w->batch + number);

    return cavs__splitmix(sample + (uint64_t)node->place) | 1;
}

static void fill_noise(const struct filling *w, const struct cavs__vt *vt,
                       const struct cavs__signature *s)
{
    for (int r = 0; r < vt->n; r++) {
        const struct cavs__node *node = row_of(w, vt, r);
        uint64_t key = node && w->batch ? key_of(w, node) : 0;

        section_of(w, vt, s->noise[0])[r] = (int32_t)(uint32_t)key;
        section_of(w, vt, s->noise[1])[r] = (int32_t)(uint32_t)(key >> 32);
    }
}

static void fill_vt(struct filling *w, const struct cavs__vt *vt)
{
    const struct cavs__signature *s = cavs__signature_of(w->t, vt);

    fill_operands(w, vt, s);
    if (s->first >= 0)
        fill_first(w, vt, s);
    if (s->owner >= 0)
        fill_owner(w, vt, s);
    if (s->given >= 0)
        fill_given(w, vt, s);
    if (s->noise[0] >= 0)
        fill_noise(w, vt, s);
}

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
}

static int write_index(struct cavs_tape *t, int slot, int shard, bool gradients, float *given)
{
    struct cavs__tape_shard *s = &t->shards[shard];
    struct filling w = {.t = t, .batch = batch_key(t)};
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
            fill_vt(&w, &d->vt[i]);
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
    t->shards[shard].evaluated = t->shards[shard].rows;
    t->shards[shard].kept = t->shards[shard].to_keep;
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reached.c - which V_t gradients reach, from the last one back, and the pieces that the gradient
 * of each row is the sum of: one for each time that a row reads it that has a gradient itself, in
 * the order in which it is read.
 *
 * Where gradients reach some rows of a V_t, the others, on which no loss depends or which were
 * taken back, have no part in dF: theirs would be zeros, or no numbers where zero is divided by
 * zero, and looked-up rows would be updated or not by what happens to be computed with them.
 */
#include "core/base/error.h"
#include "core/tape/tape.h"

/* Operand k of the rows of a V_t; each row gives a piece of gradient to what it reads there. */
struct operand {
    struct cavs__recording *r;
    const struct cavs__signature *s;
    int k, width;
    int32_t *pieces; /* three numbers are written for each; NULL: they are only counted */
};

static inline void give_piece(const struct operand *x, struct cavs__vertex *to, int32_t from,
                              int32_t line)
{
    int32_t number = to->readers++, *piece;

    if (!x->pieces)
        return;
    piece = x->pieces + 3 * (ptrdiff_t)number;
    piece[0] = line;
    piece[1] = from;
    piece[2] = x->width;
}

/* Gives the pieces of a row for its n reads of the operand: one after the other from `line` on, or
 * the same piece to all of them, where the operator has one gradient for all entries. */
static inline void give(const struct operand *x, const struct cavs__vertex *v, int32_t line)
{
    int32_t n, first = cavs__reads_of_operand(x->s, v, x->k, &n);
    const struct cavs__read *read = &x->r->reads[v->operands + first];
    int32_t step = x->s->operands[x->k].each ? cavs__lines_of(x->width) : 0;

    for (; n > 0; n--, read++, line += step) {
        const struct cavs__row_place *of = &x->r->places[read->of];

        give_piece(x, &x->r->vertices[of->vertex],
                   of->column + read->from / CAVS__LINE * CAVS__LINE, line);
    }
}

static void give_pieces(struct cavs_tape *t, const struct cavs__increment *d,
                        const struct cavs__vt *vt, int32_t *pieces)
{
    const struct cavs__signature *s = cavs__signature_of(t, vt);
    struct operand x = {.r = &t->recording, .s = s, .pieces = pieces};

    for (x.k = 0; x.k < s->n; x.k++) {
        const struct cavs__operand_sort *o = &s->operands[x.k];
        int32_t line = d->lines[vt->function][CAVS__LINES_OPERANDS + x.k], pitch;
        const bool listed = x.k >= s->n - s->nlisted;

        x.width = o->from + o->width;
        pitch = cavs__lines_of(x.width);
        for (int r = 0; r < vt->n && o->passes; r++) {
            const struct cavs__vertex *v = cavs__vertex_of_row(x.r, d, vt->row0 + r);

            if (!listed)
                cavs__fetch_operand(x.r, d, vt->row0 + r, vt->row0 + vt->n, x.k);
            if (v && v->reached)
                give(&x, v, line + pitch * (o->each ? d->entry0[vt->row0 + r] : vt->frow0 + r));
        }
    }
}

/* ---- which ---- */

/* Marks the rows of V_t i that gradients reach.  Gradients begin at losses; any other row gets its
 * own from those that read it. */
static void reach(struct cavs_tape *t, struct cavs__increment *d, int i)
{
    const struct cavs__vt *vt = &d->vt[i];
    const struct cavs__signature *s = cavs__signature_of(t, vt);

    d->reached[i] = 0;
    for (int r = 0; r < vt->n && s->needs_grad; r++) {
        struct cavs__vertex *v = cavs__vertex_of_row(&t->recording, d, vt->row0 + r);

        if (!v)
            continue;
        v->reached = s->like.is_loss || v->readers > 0;
        d->reached[i] += v->reached;
    }
    if (d->reached[i])
        give_pieces(t, d, vt, NULL);
}

static int find_reached(struct cavs_tape *t, int shard)
{
    struct cavs__arena *arena = cavs__arena_of_shard(t, shard);

    for (struct cavs__increment *d = t->shards[shard].last; d; d = d->before) {
        d->reached = cavs__arena_alloc(arena, (size_t)d->nvt * sizeof *d->reached);
        d->pieces = cavs__arena_alloc(arena, ((size_t)d->n + 1) * sizeof *d->pieces);
        if (!d->reached || !d->pieces)
            return cavs__fail_nomem("gradients of a tape", ((size_t)d->n + 1) * sizeof *d->pieces);
        for (int i = d->nvt - 1; i >= 0; i--)
            reach(t, d, i);
    }
    return CAVS_OK;
}

/* ---- from where ---- */

/* Numbers the pieces row by row: those of a row are the ones from v->readers on. */
static int number_pieces(struct cavs_tape *t, struct cavs__tape_shard *s)
{
    int64_t sum = 0;

    for (struct cavs__increment *d = s->first; d; d = d->after) {
        for (int i = 0; i < d->n; i++) {
            struct cavs__vertex *v = cavs__vertex_of_row(&t->recording, d, i);
            int32_t n = v ? v->readers : 0;

            d->pieces[i] = (int32_t)sum;
            if (v)
                v->readers = (int32_t)sum;
            sum += n;
        }
        d->pieces[d->n] = (int32_t)sum;
        if (sum > INT32_MAX / 3)
            return cavs__fail(CAVS_ENOMEM, "tape: more gradients are added up than fit");
    }
    s->npieces = (int32_t)sum;
    return CAVS_OK;
}

int cavs__find_reached(struct cavs_tape *t, int shard)
{
    int rc = find_reached(t, shard);

    return rc ? rc : number_pieces(t, &t->shards[shard]);
}

void cavs__write_pieces(struct cavs_tape *t, int shard, int32_t *pieces)
{
    for (struct cavs__increment *d = t->shards[shard].first; d; d = d->after) {
        for (int i = 0; i < d->nvt; i++) {
            if (d->reached[i])
                give_pieces(t, d, &d->vt[i], pieces);
        }
    }
}

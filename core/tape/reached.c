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

/* What is given to a vertex by a row that reads it. */
struct cavs__target {
    int32_t vertex; /* -1: nothing, since no gradient reaches the row */
    int32_t from;   /* the column of the vertex's row where it begins */
};

/* ---- to whom ---- */

/* How many reads the rows of a V_t have for operand k, which may be a list. */
static int32_t reads_of(const struct cavs__signature *s, const struct cavs__increment *d,
                        const struct cavs__vt *vt, int k)
{
    return k < s->n - s->nlisted ? vt->n : cavs__entries_of_vt(d, vt);
}

/* Room for a target for each read by which the rows of V_t i pass gradients on.  NULL: there is no
 * memory. */
static struct cavs__target *new_targets(struct cavs_tape *t, int shard, struct cavs__increment *d,
                                        int i)
{
    const struct cavs__signature *s = cavs__signature_of(t, &d->vt[i]);
    size_t n = 1;

    for (int k = 0; k < s->n; k++)
        n += s->operands[k].passes ? (size_t)reads_of(s, d, &d->vt[i], k) : 0;
    return d->targets[i] =
               cavs__arena_alloc(cavs__arena_of_shard(t, shard), n * sizeof **d->targets);
}

/* Notes the targets of one row for operand k, its n reads from *read on, and counts their pieces.
 * Returns what follows them. */
static inline struct cavs__target *aim(struct cavs__recording *r, const struct cavs__read *read,
                                       int32_t n, struct cavs__target *to)
{
    for (; n > 0; n--, read++, to++) {
        const struct cavs__row_place *of = &r->places[read->of];

        r->vertices[of->vertex].readers++;
        *to = (struct cavs__target){of->vertex, of->column + read->from / CAVS__LINE * CAVS__LINE};
    }
    return to;
}

static struct cavs__target *aim_nowhere(int32_t n, struct cavs__target *to)
{
    for (; n > 0; n--, to++)
        to->vertex = -1;
    return to;
}

static bool is_reached(const struct cavs__recording *r, const struct cavs__increment *d, int row)
{
    const struct cavs__vertex *v = cavs__vertex_of_row(r, d, row);

    return v && v->reached;
}

/* Notes the targets of all rows of a V_t.  all: gradients reach all rows of the V_t. */
static void find_targets(struct cavs_tape *t, const struct cavs__increment *d,
                         const struct cavs__vt *vt, bool all, struct cavs__target *to)
{
    const struct cavs__signature *s = cavs__signature_of(t, vt);
    struct cavs__recording *recording = &t->recording;

    for (int k = 0; k < s->n; k++) {
        const bool listed = k >= s->n - s->nlisted;

        for (int r = 0; r < vt->n && s->operands[k].passes; r++) {
            const int row = vt->row0 + r;
            const int32_t n = listed ? d->length[row] : 1;
            const int32_t first = d->operands[row] + cavs__first_read(s, k, n);

            if (!listed)
                cavs__fetch_operand(recording, d, row, vt->row0 + vt->n, k);
            if (all || is_reached(recording, d, row))
                to = aim(recording, &recording->reads[first], n, to);
            else
                to = aim_nowhere(n, to);
        }
    }
}

/* ---- which ---- */

/* Marks the rows of V_t i that gradients reach.  Gradients begin at losses; any other row gets its
 * own from those that read it.  false: out of memory. */
static bool reach(struct cavs_tape *t, int shard, struct cavs__increment *d, int i)
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
    if (!d->reached[i])
        return true;
    if (!new_targets(t, shard, d, i))
        return false;
    find_targets(t, d, vt, d->reached[i] == vt->n, d->targets[i]);
    return true;
}

static int find_reached(struct cavs_tape *t, int shard)
{
    struct cavs__arena *arena = cavs__arena_of_shard(t, shard);

    for (struct cavs__increment *d = t->shards[shard].last; d; d = d->before) {
        bool room;

        d->reached = cavs__arena_alloc(arena, (size_t)d->nvt * sizeof *d->reached);
        d->targets = cavs__arena_alloc(arena, (size_t)d->nvt * sizeof *d->targets);
        d->pieces = cavs__arena_alloc(arena, ((size_t)d->n + 1) * sizeof *d->pieces);
        room = d->reached && d->targets && d->pieces;
        for (int i = d->nvt - 1; i >= 0 && room; i--)
            room = reach(t, shard, d, i);
        if (!room)
            return cavs__fail_nomem("gradients of a tape", ((size_t)d->n + 1) * sizeof *d->pieces);
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

/* The piece that lies from `line` on in the gradients of an operand. */
static inline void give_piece(struct cavs__vertex *to, int32_t from, int32_t line, int width,
                              int32_t *pieces)
{
    int32_t *piece = pieces + 3 * (ptrdiff_t)to->readers++;

    piece[0] = line;
    piece[1] = from;
    piece[2] = width;
}

/* Gives what is for n reads of one row: its gradients lie one after the other from `line` on,
 * `step` apart, or are one and the same for all entries, where the operator has one gradient for
 * them. */
static inline const struct cavs__target *give(struct cavs__vertex *vertices, int32_t n,
                                              const struct cavs__target *to, int32_t line,
                                              int32_t step, int width, int32_t *pieces)
{
    for (; n > 0; n--, to++, line += step) {
        if (to->vertex >= 0)
            give_piece(&vertices[to->vertex], to->from, line, width, pieces);
    }
    return to;
}

static void write_pieces(struct cavs_tape *t, const struct cavs__increment *d,
                         const struct cavs__vt *vt, const struct cavs__target *to, int32_t *pieces)
{
    const struct cavs__signature *s = cavs__signature_of(t, vt);
    struct cavs__vertex *vertices = t->recording.vertices;

    for (int k = 0; k < s->n; k++) {
        const struct cavs__operand_sort *o = &s->operands[k];
        const int32_t *length = k < s->n - s->nlisted ? NULL : d->length + vt->row0;
        int32_t line = d->lines[vt->function][CAVS__LINES_OPERANDS + k];
        int width = o->from + o->width, pitch = cavs__lines_of(width);

        for (int r = 0; r < vt->n && o->passes; r++) {
            int32_t row = o->each ? d->entry0[vt->row0 + r] : vt->frow0 + r;

            to = give(vertices, length ? length[r] : 1, to, line + pitch * row, o->each ? pitch : 0,
                      width, pieces);
        }
    }
}

void cavs__write_pieces(struct cavs_tape *t, int shard, int32_t *pieces)
{
    for (struct cavs__increment *d = t->shards[shard].first; d; d = d->after) {
        for (int i = 0; i < d->nvt; i++) {
            if (d->reached[i])
                write_pieces(t, d, &d->vt[i], d->targets[i], pieces);
        }
    }
}

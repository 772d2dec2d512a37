/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - where every value of a function lives, and in what order a part computes them.
 *
 * Nothing is copied that can be computed in place: what is scattered, pushed or handed to a slot is
 * written by its own operator straight into the state, channel or slot rows; operands of a
 * concatenation are computed side by side; slices are views; gathers, lookups and fetches are
 * indexed reads.  What only its own part reads lives in a tile's scratch, or nowhere if one fused
 * group makes and uses it; what other parts read is kept, packed, in one tensor per part.
 */
#include "core/compile/place.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/declare/operator.h"
#include "memory/tensor.h"

/* Only says which rows there are of its operand. */
static bool is_crossing(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_SPREAD || (x->op == CAVS__OP_COLLECT && !p->shares);
}

struct cavs_symbol *cavs__base(const struct cavs__placer *p, struct cavs_symbol *x, int *col)
{
    *col = 0;
    while (x->op == CAVS__OP_SLICE || is_crossing(p, x)) {
        *col += x->op == CAVS__OP_SLICE ? x->k : 0;
        x = x->inputs[0];
    }
    return x;
}

struct cavs_symbol *cavs__root(const struct cavs__placer *p, struct cavs_symbol *x)
{
    while (x->op == CAVS__OP_SLICE || x->op == CAVS__OP_REPEAT || is_crossing(p, x))
        x = x->inputs[0];
    return x;
}

int cavs__item_domain(const struct cavs__item *item)
{
    return item->copy ? item->dest.list : item->x->domain;
}

bool cavs__is_reference(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_SOURCE);
}

bool cavs__is_constant(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_CONSTANT);
}

bool cavs__is_elementwise(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_ELEMENTWISE);
}

bool cavs__is_destination(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_DESTINATION);
}

bool cavs__is_computed(const struct cavs_symbol *x)
{
    return !cavs__is_reference(x) && !cavs__is_constant(x) && !cavs__has_role(x, CAVS__ROLE_VIEW);
}

/* The value that a destination writes: its last operand. */
static struct cavs_symbol *written_value(const struct cavs_symbol *sink)
{
    return sink->inputs[sink->ninputs - 1];
}

/* A concatenation of what other parts hold: made again by each part that reads it, rather than
 * kept. */
static bool is_remade(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    if (x->op != CAVS__OP_CONCAT)
        return false;
    for (int i = 0; i < x->ninputs; i++) {
        struct cavs_symbol *b = cavs__root(p, x->inputs[i]);

        if (cavs__is_computed(b) && p->value[b->number].part == p->value[x->number].part &&
            !is_remade(p, b))
            return false;
    }
    return true;
}

/* ---- which part computes what ---- */

static bool is_product_grad(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_SUM) && cavs__operator_of(x)->flops;
}

/* Sums over rows.  They are parts of their own, so that all other parts compute row by row and
 * their rows can be cut among tasks. */
static bool is_reduction(const struct cavs_symbol *x)
{
    return cavs__has_role(x, CAVS__ROLE_SUM);
}

static bool same_part(const struct cavs__placer *p, const struct cavs_symbol *x,
                      const struct cavs_symbol *y)
{
    return (x->op == CAVS__OP_METRIC) == (y->op == CAVS__OP_METRIC) &&
           p->shared[x->number] == p->shared[y->number];
}

/* A part for every product's gradient; biases ride with the function's first one that has the same
 * rows, and its metrics are summed together. */
static int reduction_part(struct cavs__placer *p, struct cavs_symbol *x)
{
    for (int i = CAVS__PARTS_CLASSED; i < p->nparts && !is_product_grad(x); i++) {
        if (same_part(p, p->sum_sink[i - CAVS__PARTS_CLASSED], x))
            return i;
    }
    p->sum_sink[p->nparts - CAVS__PARTS_CLASSED] = x;
    return p->nparts++;
}

/* With what makes its value, which is then made in place. */
static int spread_grad_part(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    const struct cavs_symbol *b = cavs__root(p, x->inputs[0]);

    return b->backward && cavs__is_computed(b) ? p->value[b->number].part : 3 + CAVS__LAZY;
}

static int part_of(struct cavs__placer *p, struct cavs_symbol *x)
{
    const struct cavs__plan_options *o = &p->plan->options;
    bool chained = p->sp->stage->state_width > 0;
    enum cavs__class k = x->klass;

    if (x->backward && !o->training)
        return CAVS__NO_PART;
    if (!p->shares && (x->op == CAVS__OP_SPREAD_GRAD || x->op == CAVS__OP_COLLECT))
        return CAVS__NO_PART;
    if (x->op == CAVS__OP_SPREAD_GRAD)
        return spread_grad_part(p, x);
    if (p->shared[x->number])
        return is_reduction(x) ? reduction_part(p, x)
               : x->backward   ? CAVS__PART_SHARED_BACK
                               : CAVS__PART_SHARED;
    if (p->value[x->number].after_spread)
        k = CAVS__CHAIN;
    if (chained && ((k == CAVS__EAGER && o->no_eager) || (k == CAVS__LAZY && o->no_lazy)))
        k = CAVS__CHAIN;
    if (is_reduction(x) && !(chained && o->no_lazy))
        return reduction_part(p, x);
    return (x->backward ? 3 : 0) + (int)k;
}

static void assign_parts(struct cavs__placer *p)
{
    /* products first: biases ride with them */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->f->nsymbols; i++) {
            struct cavs_symbol *x = p->f->symbols[i];

            if (is_product_grad(x) == (pass == 0))
                p->value[i].part = x->live && cavs__is_computed(x) ? part_of(p, x) : CAVS__NO_PART;
        }
    }
}

/* The symbols of each part, in their order. */
static void list_parts(struct cavs__placer *p)
{
    int *first = p->first_own;

    for (int i = 0; i < p->f->nsymbols; i++) {
        if (p->value[i].part != CAVS__NO_PART)
            first[p->value[i].part]++;
    }
    for (int i = 0; i < p->nparts; i++)
        first[i + 1] += first[i];
    for (int i = p->f->nsymbols - 1; i >= 0; i--) {
        if (p->value[i].part != CAVS__NO_PART)
            p->own[--first[p->value[i].part]] = i;
    }
}

/* x is read by part `part`: if it comes from elsewhere it must be kept, or be made again from what
 * is kept. */
static void note_read(struct cavs__placer *p, struct cavs_symbol *x, int part)
{
    struct cavs_symbol *b = cavs__root(p, x);

    if (!cavs__is_computed(b))
        return;
    if (is_remade(p, b)) {
        for (int i = 0; i < b->ninputs; i++)
            note_read(p, b->inputs[i], part);
    } else if (p->value[b->number].part != part) {
        p->value[b->number].saved = true;
    }
}

static void find_saved(struct cavs__placer *p)
{
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (p->value[i].part == CAVS__NO_PART || is_remade(p, x))
            continue;
        for (int k = 0; k < x->ninputs; k++)
            note_read(p, x->inputs[k], p->value[i].part);
    }
}

/* ---- making one part ---- */

int cavs__add_item(struct cavs__placer *p, struct cavs__item item)
{
    return CAVS__APPEND(p->items, p->nitems, item)
               ? CAVS_OK
               : cavs__fail_nomem("plan: items of a part",
                                  cavs__array_bytes(p->nitems, sizeof item));
}

static void set_place(struct cavs__placer *p, struct cavs_symbol *x, struct cavs__operand at)
{
    p->local[x->number].placed = true;
    p->local[x->number].at = at;
    if (at.buffer >= 0) {
        p->value[x->number].placed = true;
        p->value[x->number].at = at;
    }
}

static bool is_saved_here(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    return p->value[x->number].saved && p->value[x->number].part == p->part;
}

/* Arranges that x is in `dest`: computed there if it has no place yet, else copied.  into: the
 * concatenation or sink. */
static int put(struct cavs__placer *p, struct cavs_symbol *x, struct cavs__operand dest,
               struct cavs_symbol *into)
{
    struct cavs__local *l = &p->local[x->number];
    int col;

    dest.cols = x->width;
    /* what other parts read must not lie in scratch only */
    if (!l->here || l->placed || (is_saved_here(p, x) && dest.buffer == CAVS__SCRATCH)) {
        /* a source copied for one reader may serve the others, where it has a row of its own */
        struct cavs_symbol *b = cavs__base(p, x, &col);

        if (dest.buffer == CAVS__SCRATCH && dest.list == x->domain &&
            (!cavs__is_computed(b) || cavs__is_spread_here(p, b))) {
            l->placed = true;
            l->at = dest;
        }
        return cavs__add_item(
            p, (struct cavs__item){.x = x, .copy = true, .dest = dest, .into = into});
    }
    set_place(p, x, dest);
    for (int i = 0, at = 0; x->op == CAVS__OP_CONCAT && i < x->ninputs;
         at += x->inputs[i++]->width) {
        int rc = put(p, x->inputs[i], cavs__columns(dest, at, x->inputs[i]->width), x);

        if (rc)
            return rc;
    }
    return CAVS_OK;
}

static void set_here(struct cavs__placer *p, int symbol)
{
    p->local[symbol].here = true;
    p->here[p->nhere++] = symbol;
}

/* Is x, or a slice of it, read by something that this part computes (or makes again)? */
static void mark_read(struct cavs__placer *p, struct cavs_symbol *x)
{
    struct cavs_symbol *b = cavs__root(p, x);

    if (b->op != CAVS__OP_CONCAT || p->local[b->number].here)
        return;
    if (p->value[b->number].part == p->part || is_remade(p, b)) {
        set_here(p, b->number);
        for (int i = 0; i < b->ninputs; i++)
            mark_read(p, b->inputs[i]);
    }
}

static void mark_all_read(struct cavs__placer *p, const struct cavs_symbol *x)
{
    for (int k = 0; k < x->ninputs; k++)
        mark_read(p, x->inputs[k]);
}

/* Forgets the part before: what it had here, and what it copied. */
static void forget_here(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++)
        p->local[p->here[h]] = (struct cavs__local){.item = -1};
    for (int i = 0; i < p->nitems; i++)
        p->local[p->items[i].x->number] = (struct cavs__local){.item = -1};
    p->nhere = p->nitems = 0;
}

static int by_number(const void *a, const void *b)
{
    const int *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* What the part computes: its own symbols, and concatenations it reads that are made again. */
static void find_here(struct cavs__placer *p)
{
    const int *own = p->own + p->first_own[p->part];
    int n = p->first_own[p->part + 1] - p->first_own[p->part];

    forget_here(p);
    for (int i = 0; i < n; i++) {
        const struct cavs_symbol *x = p->f->symbols[own[i]];

        if (x->op == CAVS__OP_CONCAT)
            continue;
        set_here(p, own[i]);
        mark_all_read(p, x);
    }
    for (int i = 0; i < n; i++) {
        const struct cavs_symbol *x = p->f->symbols[own[i]];

        if (is_saved_here(p, x) && !p->local[own[i]].here) {
            set_here(p, own[i]); /* a concatenation that only other parts read */
            mark_all_read(p, x);
        }
    }
    qsort(p->here, (size_t)p->nhere, sizeof *p->here, by_number);
}

static bool channel_is_view(const struct cavs__placer *p, const struct cavs_symbol *push)
{
    return push->op == CAVS__OP_PUSH && p->sp->push[push->channel->number] == p->sp->state;
}

/* The value whose k-th piece of state width is what slot k gets, for all slots; NULL if there is
 * none.  Slot rows of a vertex lie one behind the other: such a value can be computed right there.
 */
static struct cavs_symbol *all_slots_value(const struct cavs__placer *p)
{
    int w = p->sp->stage->state_width, found = 0;
    struct cavs_symbol *value = NULL;

    if (cavs__tensor_ld(w) != w)
        return NULL;
    for (int h = 0; h < p->nhere; h++) {
        struct cavs_symbol *x = p->f->symbols[p->here[h]], *b;
        int col;

        if (x->op != CAVS__OP_SLOT_GRAD)
            continue;
        b = cavs__base(p, written_value(x), &col);
        if (col != x->k * w || written_value(x)->width != w || (value && b != value))
            return NULL;
        value = b;
        found++;
    }
    return found > 1 && found == p->f->slots && value->width == found * w ? value : NULL;
}

static bool place_slots(struct cavs__placer *p)
{
    struct cavs_symbol *x = all_slots_value(p);
    struct cavs__operand o;

    if (!x || !p->local[x->number].here || p->local[x->number].placed)
        return false;
    o = cavs__tensor_operand(p->sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, x->width);
    o.slots = p->f->slots;
    set_place(p, x, o);
    return true;
}

static int place_destinations(struct cavs__placer *p)
{
    bool slots_placed = place_slots(p);

    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];
        int rc;

        if (!cavs__is_destination(x) || channel_is_view(p, x))
            continue;
        if (x->op == CAVS__OP_SLOT_GRAD && slots_placed)
            continue;
        rc = put(p, written_value(x), cavs__operator_of(x)->where(p, x), x);
        if (rc)
            return rc;
    }
    return CAVS_OK;
}

static struct cavs__operand new_place(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return is_saved_here(p, x) ? cavs__kept_operand(p, x->domain, x->width)
                               : cavs__scratch_operand(p, x->domain, x->width);
}

/* Outer concatenations first, so that inner ones are computed inside them; then results of single
 * steps. */
static int place_results(struct cavs__placer *p)
{
    for (int h = p->nhere - 1; h >= 0; h--) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];
        int rc = x->op == CAVS__OP_CONCAT && !p->local[i].placed ? put(p, x, new_place(p, x), x)
                                                                 : CAVS_OK;

        if (rc)
            return rc;
    }
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        if (!p->local[i].placed && !cavs__is_sink(x) && !cavs__is_elementwise(x))
            set_place(p, x, new_place(p, x));
    }
    return CAVS_OK;
}

/* Kernels read memory: constants that a single step reads are written to scratch first. */
static int place_constants(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        if (cavs__is_elementwise(x) || x->op == CAVS__OP_CONCAT || cavs__is_destination(x))
            continue;
        for (int k = 0; k < x->ninputs; k++) {
            struct cavs_symbol *in = x->inputs[k];
            int col, rc = CAVS_OK;

            if (cavs__is_constant(cavs__base(p, in, &col)) && !p->local[in->number].placed)
                rc = put(p, in, cavs__scratch_operand(p, 0, in->width), x);
            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

/* An indexed row of a vertex that its entries read: copied first, for the entries name vertices. */
static int place_repeated(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        for (int k = 0; k < x->ninputs; k++) {
            int col, rc = CAVS_OK;
            struct cavs_symbol *in = cavs__base(p, x->inputs[k], &col), *of = in->inputs[0], *b;

            if (in->op != CAVS__OP_REPEAT || p->local[of->number].placed)
                continue;
            b = cavs__base(p, of, &col);
            if ((cavs__is_reference(b) && b->op != CAVS__OP_PULL) || cavs__is_spread_here(p, b))
                rc = put(p, of, cavs__scratch_operand(p, 0, of->width), x);
            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

static void place_elementwise(struct cavs__placer *p)
{
    for (int h = 0; h < p->nhere; h++) {
        int i = p->here[h];
        struct cavs_symbol *x = p->f->symbols[i];

        if (p->local[i].placed || !cavs__is_elementwise(x))
            continue;
        if (p->value[i].saved || cavs__read_outside(p, x))
            set_place(p, x, new_place(p, x));
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bytes of the most weights that a row is multiplied by, as products read them. */
static int64_t largest_weights(const struct cavs__placer *p)
{
    const struct cavs__part *part = p->out;
    int64_t most = 0, size = p->plan->options.bf16 ? sizeof(uint16_t) : sizeof(float);

    for (int i = 0; i < part->nsteps; i++) {
        const struct cavs__step *s = &part->steps[i];
        int64_t bytes = s->flops > 0 ? (int64_t)s->v[0].cols * s->v[s->nviews - 1].cols * size : 0;

        most = bytes > most ? bytes : most;
    }
    return most;
}

static int64_t l2_bytes(const struct cavs__plan_options *o)
{
    return o->l2_bytes > 0 ? o->l2_bytes : 1 << 20;
}

int64_t cavs__far_blocks(const struct cavs__plan_options *o, const struct cavs__part *part)
{
    int64_t most = l2_bytes(o);

    for (int i = 0; i < part->nsteps; i++) {
        const struct cavs__step *s = &part->steps[i];
        const struct cavs_param *w = s->flops > 0 ? s->origin[0]->param : NULL;
        int64_t bytes = w ? (int64_t)w->rows * w->cols * 4 : 0;

        if (w && bytes > (int64_t)s->v[0].cols * s->v[s->nviews - 1].cols * 4 && bytes > most)
            most = bytes;
    }
    return most > l2_bytes(o) ? most : 0;
}

enum { SHORT_TILE = 64, TALL_TILE = 256, TALLEST_TILE = 1024 };

/* far: the part's weights are; blocks: those that rows select among are. */
static int most_rows(const struct cavs__placer *p, bool far, bool blocks)
{
    bool sums = p->part >= CAVS__PARTS_CLASSED;

    if (blocks || (sums && p->plan->options.bf16))
        return TALLEST_TILE;
    return far || sums ? TALL_TILE : SHORT_TILE;
}

/* A tile's values should stay in L2.  Weights are read once a tile: from L3, if they do not stay in
 * L2; the tile may then be taller (512 x 10000: 64 rows 87 GFLOP/s, 256 rows 102).  Weights that
 * take much of L3 come from memory: then tiles are so tall that this is no more than what their own
 * values cost that have to leave L2, too (h 2048: 16 rows 110 GFLOP/s, 256 rows 165; where weights
 * stay in L3 that is slower by 2 %).  Where rows select a block each, a block is read once for all
 * rows of a tile that want it: then tiles are taller still.  With twice as many entries of each
 * list.
 *
 * Products of bfloat16 are so fast that weights, and parameter gradients even more, cost as much to
 * read from L3 as others from memory (1024 x 1536: 16 rows 370 GFLOP/s, 256 rows 1300).  Their
 * tiles are multiples of the 32 rows that a gradient is summed up by, whatever L2 has. */
static int tile_rows(const struct cavs__placer *p)
{
    bool bf16 = p->plan->options.bf16;
    int64_t l2 = l2_bytes(&p->plan->options);
    int64_t l3 = p->plan->options.l3_bytes > 0 ? p->plan->options.l3_bytes : 16 << 20;
    int64_t weights = largest_weights(p), row = p->out->scratch, rows;
    int64_t blocks = cavs__far_blocks(&p->plan->options, p->out);
    int64_t far = bf16 ? l2 / 2 : l3 / 4;
    int most = most_rows(p, weights > (bf16 ? far : l2), blocks > 0), least = bf16 ? 32 : 16;

    for (int i = 0; i < p->f->nlists; i++)
        row += 2 * p->out->lists[i].scratch;
    row *= sizeof(float);
    rows = row > 0 ? l2 / 2 / row : most;
    if (weights > far && row > 0 && weights / row > rows)
        rows = weights / row;
    if (row > 0 && blocks / row > rows)
        rows = blocks / row;
    rows = smaller(rows / least * least, most);
    return rows < least ? least : (int)rows;
}

static void cut_tiles(struct cavs__placer *p)
{
    p->out->tile = tile_rows(p);
    for (int i = 0; i < p->f->nlists; i++)
        p->out->lists[i].tile = 2 * p->out->tile;
}

/* Which lists the steps of the part read, and where their pointers are. */
static void find_lists(struct cavs__placer *p)
{
    bool used[1 + CAVS__MAX_LISTS] = {false};

    for (int s = 0; s < p->out->nsteps; s++) {
        used[p->out->steps[s].list] = true;
        for (int i = 0; i < p->out->steps[s].nviews; i++)
            used[p->out->steps[s].v[i].list] = true;
    }
    for (int d = 1; d <= p->f->nlists; d++) {
        struct cavs__part_list *l = &p->out->lists[d - 1];

        l->used = used[d];
        if (l->used)
            l->ptr_section = cavs__section(
                p, (struct cavs__section){.kind = CAVS__S_LIST_PTR, .function = p->f, .list = d});
    }
}

/* What the part computes and copies, and when. */
static int find_items(struct cavs__placer *p)
{
    int rc;

    memset(p->scratch, 0, sizeof p->scratch);
    find_here(p);
    rc = place_destinations(p);
    if (!rc)
        rc = place_results(p);
    if (!rc)
        rc = place_constants(p);
    if (!rc)
        rc = place_repeated(p);
    if (!rc)
        rc = cavs__time_items(p);
    return rc ? rc : p->error;
}

/* Which of them wait for others, and which run as one. */
static int group_items(struct cavs__placer *p)
{
    int rc = cavs__find_readers(p);

    if (!rc)
        rc = cavs__delay_items(p);
    return rc ? rc : cavs__fuse(p);
}

static int make_steps(struct cavs__placer *p)
{
    int rc = cavs__emit(p);

    if (rc)
        return rc;
    find_lists(p);
    cavs__find_together(p->out, p->sp->stage->state_width);
    rc = cavs__pack_scratch(p->out);
    cut_tiles(p);
    return rc ? rc : p->error;
}

/* p->out: the part, or NULL where there is nothing to do. */
static int make_part(struct cavs__placer *p)
{
    int rc = find_items(p);

    p->out = NULL;
    if (rc || p->nitems == 0)
        return rc;
    rc = group_items(p);
    if (rc)
        return rc;
    place_elementwise(p);
    p->out = calloc(1, sizeof *p->out);
    if (!p->out)
        return cavs__fail_nomem("plan: part", sizeof *p->out);
    rc = make_steps(p);
    if (rc) {
        cavs__part_destroy(p->out);
        p->out = NULL;
    }
    return rc;
}

/* ---- handing parts to task kinds ---- */

static int deliver(struct cavs__placer *p)
{
    bool sums = p->part >= CAVS__PARTS_CLASSED;
    const struct cavs_symbol *sink = sums ? p->sum_sink[p->part - CAVS__PARTS_CLASSED] : NULL;
    bool shared = p->part == CAVS__PART_SHARED || p->part == CAVS__PART_SHARED_BACK;
    bool back = p->part == CAVS__PART_SHARED_BACK || (p->part >= 3 && p->part < CAVS__PART_SHARED);
    struct cavs__part_place at = {.function = p->f, .shared = cavs__in_shared_part(p)};

    at.phase = sums && sink->param ? CAVS__GRADIENT : back ? CAVS__BACKWARD : CAVS__FORWARD;
    at.klass = sums || (shared && back) ? CAVS__LAZY
               : shared                 ? CAVS__EAGER
                                        : (enum cavs__class)(p->part % 3);
    at.what = shared ? "shared" : !sums ? NULL : sink->param ? sink->param->name : "metrics";
    return cavs__plan_add_part(p->plan, &at, p->out);
}

static int make_parts(struct cavs__placer *p)
{
    for (int i = -1; i < p->nparts; i++) {
        int rc;

        if (i == CAVS__PART_SHARED)
            continue;
        p->part = i < 0 ? CAVS__PART_SHARED : i; /* first: all others read it */
        rc = make_part(p);
        if (!rc && p->out)
            rc = deliver(p);
        if (rc)
            return rc;
    }
    return CAVS_OK;
}

int cavs__place_function(struct cavs__plan *plan, struct cavs_function *f)
{
    size_t n = (size_t)f->nsymbols + 1;
    struct cavs__placer p = {
        .plan = plan, .sp = &plan->stages[f->stage->number], .f = f, .nparts = CAVS__PARTS_CLASSED};
    int rc = CAVS_OK;

    for (int i = 0; i < CAVS__PARTS_CLASSED; i++) {
        for (int d = 0; d <= CAVS__MAX_LISTS; d++)
            p.bundle[i][d] = -1;
    }
    p.value = calloc(n, sizeof *p.value);
    p.local = calloc(n, sizeof *p.local);
    p.sum_sink = calloc(n, sizeof *p.sum_sink);
    p.shared = calloc(n, sizeof *p.shared);
    p.here = calloc(n, sizeof *p.here);
    p.own = calloc(n, sizeof *p.own);
    p.first_own = calloc(n + CAVS__PARTS_CLASSED, sizeof *p.first_own);
    for (size_t i = 0; p.local && i < n; i++)
        p.local[i].item = -1;
    if (!p.here || !p.own || !p.first_own || !p.value || !p.local || !p.sum_sink || !p.shared)
        rc = cavs__fail_nomem("plan: places of values",
                              n * (sizeof *p.value + sizeof *p.local + sizeof *p.sum_sink) +
                                  (n + CAVS__PARTS_CLASSED) * sizeof *p.first_own);
    if (!rc)
        rc = cavs__find_sharing(&p);
    if (!rc) {
        assign_parts(&p);
        list_parts(&p);
        find_saved(&p);
        rc = make_parts(&p);
    }
    free(p.value);
    free(p.local);
    free(p.sum_sink);
    free(p.shared);
    free(p.here);
    free(p.own);
    free(p.first_own);
    free(p.items);
    cavs__free_readers(&p);
    return rc;
}

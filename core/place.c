/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - where every value of a function lives, and in what order a part computes them.
 *
 * Nothing is copied that can be computed in place: what is scattered, pushed or handed to a slot is written by its own
 * operator straight into the state, channel or slot rows; operands of a concatenation are computed side by side; slices
 * are views; gathers, lookups and fetches are indexed reads.  What only its own part reads lives in a tile's scratch, or
 * nowhere if one fused group makes and uses it; what other parts read is kept, packed, in one tensor per part.
 */
#include "core/place.h"

#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/error.h"
#include "memory/tensor.h"

struct cavs_symbol *cavs__base(struct cavs_symbol *x, int *col)
{
    *col = 0;
    while (x->op == CAVS__OP_SLICE) {
        *col += x->k;
        x = x->inputs[0];
    }
    return x;
}

bool cavs__is_reference(const struct cavs_symbol *x)
{
    switch (x->op) {
    case CAVS__OP_PULL:
    case CAVS__OP_IDS:
    case CAVS__OP_FETCH:
    case CAVS__OP_GATHER:
    case CAVS__OP_LOOKUP:
        return true;
    default:
        return false;
    }
}

bool cavs__is_constant(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_CONST || x->op == CAVS__OP_USE;
}

bool cavs__is_elementwise(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_ELEMENTWISE;
}

/* Sinks that only say where their operand is to be written. */
static bool is_destination(const struct cavs_symbol *x)
{
    return x->op == CAVS__OP_SCATTER || x->op == CAVS__OP_PUSH || x->op == CAVS__OP_SLOT_GRAD ||
           x->op == CAVS__OP_FETCH_GRAD || x->op == CAVS__OP_GRAD_LOOKUP;
}

/* Has a value or an effect of its own that some part must compute. */
static bool is_computed(const struct cavs_symbol *x)
{
    return !cavs__is_reference(x) && !cavs__is_constant(x) && x->op != CAVS__OP_SLICE;
}

/* The value that a destination writes: its last operand. */
static struct cavs_symbol *written_value(const struct cavs_symbol *sink)
{
    return sink->inputs[sink->ninputs - 1];
}

static bool is_remade(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    if (x->op != CAVS__OP_CONCAT)
        return false;
    for (int i = 0; i < x->ninputs; i++) {
        int col;
        struct cavs_symbol *b = cavs__base(x->inputs[i], &col);

        if (is_computed(b) && p->value[b->number].part == p->value[x->number].part && !is_remade(p, b))
            return false;
    }
    return true;
}

/* ---- which part computes what ---- */

static int part_of(struct cavs__placer *p, struct cavs_symbol *x)
{
    const struct cavs__plan_options *o = &p->plan->options;
    bool chained = p->sp->stage->state_width > 0;
    enum cavs__class k = x->klass;

    if (x->backward && !o->training)
        return CAVS__NO_PART;
    if (chained && ((k == CAVS__EAGER && o->no_eager) || (k == CAVS__LAZY && o->no_lazy)))
        k = CAVS__CHAIN;
    if ((x->op == CAVS__OP_GRAD_MATMUL || x->op == CAVS__OP_GRAD_USE) && !(chained && o->no_lazy)) {
        /* biases ride with the function's first product */
        if (x->op == CAVS__OP_GRAD_USE && p->nparts > CAVS__PARTS_CLASSED)
            return CAVS__PARTS_CLASSED;
        p->grad_sink[p->nparts - CAVS__PARTS_CLASSED] = x;
        return p->nparts++;
    }
    return (x->backward ? 3 : 0) + (int)k;
}

static void assign_parts(struct cavs__placer *p)
{
    /* products first: biases ride with them */
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < p->f->nsymbols; i++) {
            struct cavs_symbol *x = p->f->symbols[i];

            if ((x->op == CAVS__OP_GRAD_MATMUL) == (pass == 0))
                p->value[i].part = x->live && is_computed(x) ? part_of(p, x) : CAVS__NO_PART;
        }
    }
}

/* x is read by part `part`: if it comes from elsewhere it must be kept, or be made again from what is kept. */
static void note_read(struct cavs__placer *p, struct cavs_symbol *x, int part)
{
    int col;
    struct cavs_symbol *b = cavs__base(x, &col);

    if (!is_computed(b))
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

/* ---- places ---- */

static struct cavs__operand tensor_operand(int tensor, enum cavs__space space, enum cavs__mode mode, int col, int cols)
{
    return (struct cavs__operand){
        .buffer = (int16_t)tensor, .space = (uint8_t)space, .mode = (uint8_t)mode, .col = col, .cols = cols};
}

struct cavs__operand cavs__scratch_operand(struct cavs__placer *p, int cols)
{
    ptrdiff_t ld = cols <= 1 ? 1 : (cols + 15) / 16 * 16;
    struct cavs__operand o = {.buffer = CAVS__SCRATCH,
                              .space = CAVS__FIXED,
                              .mode = CAVS__DIRECT,
                              .cols = cols,
                              .region = p->scratch,
                              .ld = ld};

    p->scratch += (int)ld;
    return o;
}

/* A field of the tensor that keeps this part's values, on a cache line of its own. */
static struct cavs__operand kept_operand(struct cavs__placer *p, int cols)
{
    static const char *const names[CAVS__PARTS_CLASSED] = {"eager", "chain", "lazy", "grad.eager", "grad.chain", "grad.lazy"};
    struct cavs__tensor_desc *d;
    int col;

    if (p->bundle[p->part] < 0)
        p->bundle[p->part] = cavs__plan_tensor(p->plan,
                                               (struct cavs__tensor_desc){.kind = CAVS__T_BUNDLE,
                                                                          .space = CAVS__FROWS,
                                                                          .stage = p->sp->stage,
                                                                          .function = p->f},
                                               "%s.%s.%s", p->sp->stage->name, p->f->name, names[p->part]);
    if (p->bundle[p->part] < 0)
        return (struct cavs__operand){.buffer = CAVS__NO_BUFFER};
    d = &p->plan->tensors[p->bundle[p->part]];
    col = cols > 1 ? (d->cols + 15) / 16 * 16 : d->cols;
    d->cols = col + cols;
    return tensor_operand(p->bundle[p->part], CAVS__FROWS, CAVS__DIRECT, col, cols);
}

static struct cavs__operand columns(struct cavs__operand o, int from, int cols)
{
    o.col += from;
    o.cols = cols;
    return o;
}

static int section(struct cavs__placer *p, struct cavs__section s)
{
    return cavs__plan_section(p->sp, s);
}

static struct cavs__operand indexed(struct cavs__placer *p, int tensor, int col, int cols, struct cavs__section s)
{
    struct cavs__operand o = tensor_operand(tensor, CAVS__FIXED, CAVS__INDEXED, col, cols);

    o.section = section(p, s);
    return o;
}

static struct cavs__operand reference(struct cavs__placer *p, struct cavs_symbol *b)
{
    struct cavs__section s = {.function = p->f};
    struct cavs__operand o;

    switch (b->op) {
    case CAVS__OP_USE:
        return tensor_operand(p->plan->param[b->param->number], CAVS__FIXED, CAVS__SAME, 0, b->width);
    case CAVS__OP_PULL:
        return tensor_operand(p->sp->input[b->input->number], CAVS__ROWS, CAVS__DIRECT, 0, b->width);
    case CAVS__OP_GATHER:
        s.kind = CAVS__S_CHILD;
        s.number = b->k;
        return indexed(p, p->sp->state, 0, b->width, s);
    case CAVS__OP_LOOKUP:
        s.kind = CAVS__S_IDS;
        s.number = b->inputs[0]->input->number;
        return indexed(p, p->plan->param[b->param->number], 0, b->width, s);
    case CAVS__OP_FETCH: {
        const struct cavs__stage_plan *from = &p->plan->stages[b->channel->stage->number];

        s.kind = CAVS__S_FETCH;
        s.fetch = b;
        return indexed(p, from->push[b->channel->number], from->push_col[b->channel->number], b->width, s);
    }
    case CAVS__OP_IDS:
        s.kind = CAVS__S_IDS;
        s.number = b->input->number;
        o = (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__IDS};
        o.section = section(p, s);
        return o;
    default:
        return (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT};
    }
}

struct cavs__operand cavs__operand_of(struct cavs__placer *p, struct cavs_symbol *x, bool contiguous)
{
    int col;
    struct cavs_symbol *b;

    if (contiguous && p->local[x->number].placed)
        return p->local[x->number].at;
    b = cavs__base(x, &col);
    if (p->local[b->number].placed && (contiguous || p->local[b->number].here))
        return columns(p->local[b->number].at, col, x->width);
    if (is_computed(b))
        return columns(p->value[b->number].at, col, x->width);
    return columns(reference(p, b), col, x->width);
}

static struct cavs__operand destination(struct cavs__placer *p, struct cavs_symbol *sink)
{
    struct cavs__stage_plan *sp = p->sp;
    struct cavs__operand o;

    switch (sink->op) {
    case CAVS__OP_SCATTER:
        return tensor_operand(sp->state, CAVS__ROWS, CAVS__DIRECT, 0, sink->width);
    case CAVS__OP_PUSH:
        return tensor_operand(sp->push[sink->channel->number], CAVS__ROWS, CAVS__DIRECT,
                              sp->push_col[sink->channel->number], sink->width);
    case CAVS__OP_SLOT_GRAD:
        o = tensor_operand(sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, sink->width);
        o.slots = p->f->slots;
        o.slot = sink->k;
        return o;
    case CAVS__OP_FETCH_GRAD:
        return tensor_operand(cavs__plan_symbol_tensor(p->plan, CAVS__T_FETCH_GRAD, sink->fetch), CAVS__FROWS,
                              CAVS__DIRECT, 0, sink->width);
    default: /* GRAD_LOOKUP */
        return tensor_operand(cavs__plan_symbol_tensor(p->plan, CAVS__T_LOOKUP_GRAD, sink), CAVS__FROWS, CAVS__DIRECT,
                              0, sink->width);
    }
}

/* ---- making one part ---- */

static bool add_item(struct cavs__placer *p, struct cavs__item item)
{
    if (p->nitems == p->cap_items) {
        int cap = p->cap_items ? 2 * p->cap_items : 32;
        struct cavs__item *items = realloc(p->items, (size_t)cap * sizeof *items);

        if (!items)
            return false;
        p->items = items;
        p->cap_items = cap;
    }
    p->items[p->nitems++] = item;
    return true;
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

/* Arranges that x is in `dest`: computed there if it has no place yet, else copied.  into: the concatenation or sink. */
static bool put(struct cavs__placer *p, struct cavs_symbol *x, struct cavs__operand dest, struct cavs_symbol *into)
{
    struct cavs__local *l = &p->local[x->number];
    int col;

    dest.cols = x->width;
    /* what other parts read must not lie in scratch only */
    if (!l->here || l->placed || (is_saved_here(p, x) && dest.buffer == CAVS__SCRATCH)) {
        /* a source copied for one reader may serve the others */
        if (dest.buffer == CAVS__SCRATCH && !is_computed(cavs__base(x, &col))) {
            l->placed = true;
            l->at = dest;
        }
        return add_item(p, (struct cavs__item){.x = x, .copy = true, .dest = dest, .into = into});
    }
    set_place(p, x, dest);
    for (int i = 0, at = 0; x->op == CAVS__OP_CONCAT && i < x->ninputs; at += x->inputs[i++]->width) {
        if (!put(p, x->inputs[i], columns(dest, at, x->inputs[i]->width), x))
            return false;
    }
    return true;
}

/* Is x, or a slice of it, read by something that this part computes (or makes again)? */
static void mark_read(struct cavs__placer *p, struct cavs_symbol *x)
{
    int col;
    struct cavs_symbol *b = cavs__base(x, &col);

    if (b->op != CAVS__OP_CONCAT || p->local[b->number].here)
        return;
    if (p->value[b->number].part == p->part || is_remade(p, b)) {
        p->local[b->number].here = true;
        for (int i = 0; i < b->ninputs; i++)
            mark_read(p, b->inputs[i]);
    }
}

/* What the part computes: its own symbols, and concatenations it reads that are made again. */
static void find_here(struct cavs__placer *p)
{
    memset(p->local, 0, (size_t)p->f->nsymbols * sizeof *p->local);
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        p->local[i].item = -1;
        if (p->value[i].part != p->part || x->op == CAVS__OP_CONCAT)
            continue;
        p->local[i].here = true;
        for (int k = 0; k < x->ninputs; k++)
            mark_read(p, x->inputs[k]);
    }
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (is_saved_here(p, x) && !p->local[i].here) {
            p->local[i].here = true; /* a concatenation that only other parts read */
            for (int k = 0; k < x->ninputs; k++)
                mark_read(p, x->inputs[k]);
        }
    }
}

static bool channel_is_view(const struct cavs__placer *p, const struct cavs_symbol *push)
{
    return push->op == CAVS__OP_PUSH && p->sp->push[push->channel->number] == p->sp->state;
}

/* The value whose k-th piece of state width is what slot k gets, for all slots; NULL if there is none.  Slot rows of a
 * vertex lie one behind the other: such a value can be computed right there. */
static struct cavs_symbol *all_slots_value(const struct cavs__placer *p)
{
    int w = p->sp->stage->state_width, found = 0;
    struct cavs_symbol *value = NULL;

    if (cavs__tensor_ld(w) != w)
        return NULL;
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i], *b;
        int col;

        if (x->op != CAVS__OP_SLOT_GRAD || !p->local[i].here)
            continue;
        b = cavs__base(written_value(x), &col);
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
    o = tensor_operand(p->sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, x->width);
    o.slots = p->f->slots;
    set_place(p, x, o);
    return true;
}

static bool place_destinations(struct cavs__placer *p)
{
    bool slots_placed = place_slots(p);

    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (!p->local[i].here || !is_destination(x) || channel_is_view(p, x))
            continue;
        if (x->op == CAVS__OP_SLOT_GRAD && slots_placed)
            continue;
        if (!put(p, written_value(x), destination(p, x), x))
            return false;
    }
    return true;
}

static struct cavs__operand new_place(struct cavs__placer *p, const struct cavs_symbol *x)
{
    return is_saved_here(p, x) ? kept_operand(p, x->width) : cavs__scratch_operand(p, x->width);
}

/* Outer concatenations first, so that inner ones are computed inside them; then results of single steps. */
static bool place_results(struct cavs__placer *p)
{
    for (int i = p->f->nsymbols - 1; i >= 0; i--) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (x->op == CAVS__OP_CONCAT && p->local[i].here && !p->local[i].placed && !put(p, x, new_place(p, x), x))
            return false;
    }
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (p->local[i].here && !p->local[i].placed && !cavs__op_is_sink(x->op) && !cavs__is_elementwise(x))
            set_place(p, x, new_place(p, x));
    }
    return true;
}

/* Kernels read memory: constants that a single step reads are written to scratch first. */
static bool place_constants(struct cavs__placer *p)
{
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (!p->local[i].here || cavs__is_elementwise(x) || x->op == CAVS__OP_CONCAT || is_destination(x))
            continue;
        for (int k = 0; k < x->ninputs; k++) {
            int col;
            struct cavs_symbol *in = x->inputs[k];

            if (cavs__is_constant(cavs__base(in, &col)) && !p->local[in->number].placed &&
                !put(p, in, cavs__scratch_operand(p, in->width), x))
                return false;
        }
    }
    return true;
}

/* ---- times: when an item can run ----
 * Time 2L: single steps, in the order of symbols; time 2L+1: element-wise groups and copies.  An element-wise operator
 * may run at the time of an operand of the same width: they are then fused. */

static int time_after(const struct cavs__placer *p, struct cavs_symbol *x, bool elementwise, int width)
{
    int col, t;
    struct cavs_symbol *b = cavs__base(x, &col);
    const struct cavs__local *l = &p->local[b->number];
    /* a single step reads the copy of a source, if there is one: see cavs__operand_of() */
    const struct cavs__local *copy = p->local[x->number].placed ? &p->local[x->number] : l;

    if (!l->here && (elementwise || !copy->placed))
        return elementwise;
    t = l->here ? l->time : copy->time;
    if (!elementwise)
        return t + (t & 1);
    if (!(t & 1))
        return t + 1;
    return b == x && cavs__is_elementwise(b) && b->width == width ? t : t + 2;
}

static int item_time(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    bool elementwise = cavs__is_elementwise(x);
    int t = elementwise;

    for (int i = 0; i < x->ninputs; i++) {
        int after = time_after(p, x->inputs[i], elementwise, x->width);

        if (after > t)
            t = after;
    }
    return t;
}

/* A concatenation is there when the last of its operands is. */
static int concat_time(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    int t = 0;

    for (int i = 0; i < x->ninputs; i++) {
        if (p->local[x->inputs[i]->number].here && p->local[x->inputs[i]->number].time > t)
            t = p->local[x->inputs[i]->number].time;
    }
    for (int i = 0; i < p->nitems; i++) {
        if (p->items[i].copy && p->items[i].into == x && p->items[i].time > t)
            t = p->items[i].time;
    }
    return t;
}

static void time_copies_of(struct cavs__placer *p, struct cavs_symbol *x)
{
    for (int i = 0; i < p->nitems; i++) {
        struct cavs__item *c = &p->items[i];

        if (!c->copy || c->x != x)
            continue;
        c->time = time_after(p, x, true, x->width);
        if (!p->local[x->number].here && p->local[x->number].placed)
            p->local[x->number].time = c->time;
    }
}

static bool time_items(struct cavs__placer *p)
{
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];
        struct cavs__local *l = &p->local[i];

        if (l->here && x->op == CAVS__OP_CONCAT) {
            l->time = concat_time(p, x);
        } else if (l->here && !is_destination(x)) {
            l->time = item_time(p, x);
            l->item = p->nitems;
            if (!add_item(p, (struct cavs__item){.x = x, .time = l->time}))
                return false;
        }
        time_copies_of(p, x);
    }
    return true;
}

/* Far below CAVS__EW_MAX_VALUES, with up to four operands and a result an item; larger programs take long to compile. */
enum { MOST_FUSED = 64 };

/* ---- fusion: union-find over element-wise items of one time and width ---- */

static int find_group(struct cavs__placer *p, int i)
{
    while (p->items[i].group != i)
        i = p->items[i].group = p->items[p->items[i].group].group;
    return i;
}

static void join(struct cavs__placer *p, int i, int j)
{
    i = find_group(p, i);
    j = find_group(p, j);
    p->items[i > j ? i : j].group = i < j ? i : j;
}

static bool reads(const struct cavs__item *item, const struct cavs_symbol *x)
{
    if (item->copy)
        return item->x == x;
    for (int i = 0; i < item->x->ninputs; i++) {
        if (item->x->inputs[i] == x)
            return true;
    }
    return false;
}

static bool fusible(const struct cavs__item *a, const struct cavs__item *b)
{
    return (a->time & 1) && a->time == b->time && a->x->width == b->x->width;
}

/* Connected: one makes what the other reads, or both read the same value. */
static bool connected(const struct cavs__item *a, const struct cavs__item *b)
{
    if (!a->copy && reads(b, a->x))
        return true;
    if (!b->copy && reads(a, b->x))
        return true;
    if (a->copy)
        return reads(b, a->x);
    for (int i = 0; i < a->x->ninputs; i++) {
        if (!cavs__is_constant(a->x->inputs[i]) && reads(b, a->x->inputs[i]))
            return true;
    }
    return false;
}

/* In the order in which a group computes its members: by symbol, copies last. */
static bool comes_before(const struct cavs__item *a, const struct cavs__item *b)
{
    if (a->copy != b->copy)
        return b->copy;
    return a->x->number < b->x->number;
}

/* Cuts groups that would become too large for one program.  Each piece only reads what pieces before it made. */
static bool split_groups(struct cavs__placer *p)
{
    int *set = malloc(2 * ((size_t)p->nitems + 1) * sizeof *set), *piece = set + p->nitems;

    if (!set)
        return false;
    for (int i = 0; i < p->nitems; i++)
        set[i] = find_group(p, i);
    for (int i = 0; i < p->nitems; i++) {
        int before = 0;

        for (int j = 0; j < p->nitems; j++)
            before += set[j] == set[i] && (comes_before(&p->items[j], &p->items[i]) ||
                                           (!comes_before(&p->items[i], &p->items[j]) && j < i));
        piece[i] = before / MOST_FUSED;
    }
    for (int i = 0; i < p->nitems; i++) {
        int j = 0;

        while (set[j] != set[i] || piece[j] != piece[i])
            j++;
        p->items[i].group = j;
    }
    free(set);
    return true;
}

static bool fuse(struct cavs__placer *p)
{
    for (int i = 0; i < p->nitems; i++)
        p->items[i].group = i;
    for (int i = 0; i < p->nitems && !p->plan->options.no_fusion; i++) {
        for (int j = 0; j < i; j++) {
            if (fusible(&p->items[i], &p->items[j]) && connected(&p->items[i], &p->items[j]))
                join(p, i, j);
        }
    }
    return p->nitems <= MOST_FUSED || split_groups(p);
}

/* An element-wise value needs memory if anything outside its group reads it. */
static bool read_outside(struct cavs__placer *p, const struct cavs_symbol *x)
{
    int item = p->local[x->number].item;

    for (int i = 0; i < p->nitems; i++) {
        const struct cavs__item *it = &p->items[i];

        for (int k = 0; k < (it->copy ? 1 : it->x->ninputs); k++) {
            struct cavs_symbol *in = it->copy ? it->x : it->x->inputs[k];
            int col;

            if (cavs__base(in, &col) != x)
                continue;
            if (in != x || !(it->time & 1) || find_group(p, i) != find_group(p, item))
                return true;
        }
    }
    return false;
}

static void place_elementwise(struct cavs__placer *p)
{
    for (int i = 0; i < p->f->nsymbols; i++) {
        struct cavs_symbol *x = p->f->symbols[i];

        if (!p->local[i].here || p->local[i].placed || !cavs__is_elementwise(x))
            continue;
        if (p->value[i].saved || read_outside(p, x))
            set_place(p, x, new_place(p, x));
    }
}

static int tile_rows(const struct cavs__placer *p)
{
    int bytes = p->plan->options.l2_bytes > 0 ? p->plan->options.l2_bytes : 1 << 20;
    int most = p->part >= CAVS__PARTS_CLASSED ? 256 : 64;
    int rows = p->out->scratch > 0 ? bytes / 2 / (p->out->scratch * (int)sizeof(float)) : most;

    rows = rows / 16 * 16;
    return rows < 16 ? 16 : rows > most ? most : rows;
}

static int make_part(struct cavs__placer *p)
{
    int rc;

    p->nitems = 0;
    p->scratch = 0;
    find_here(p);
    if (!place_destinations(p) || !place_results(p) || !place_constants(p) || !time_items(p))
        return cavs__fail_nomem("plan", (size_t)p->nitems * sizeof *p->items);
    if (p->nitems == 0)
        return CAVS_OK;
    if (!fuse(p))
        return cavs__fail_nomem("plan", (size_t)p->nitems * sizeof *p->items);
    place_elementwise(p);
    p->out = calloc(1, sizeof *p->out);
    if (!p->out)
        return cavs__fail_nomem("plan", sizeof *p->out);
    rc = cavs__emit(p);
    if (!rc)
        rc = cavs__pack_scratch(p->out);
    p->out->tile = tile_rows(p);
    return rc;
}

/* ---- handing parts to task kinds ---- */

static int deliver(struct cavs__placer *p)
{
    bool gradient = p->part >= CAVS__PARTS_CLASSED;
    enum cavs__class k = gradient ? CAVS__LAZY : (enum cavs__class)(p->part % 3);
    enum cavs__phase phase = gradient ? CAVS__GRADIENT : p->part >= 3 ? CAVS__BACKWARD : CAVS__FORWARD;
    const struct cavs_symbol *sink = gradient ? p->grad_sink[p->part - CAVS__PARTS_CLASSED] : NULL;

    return cavs__plan_add_part(p->plan, p->f, phase, k, sink ? sink->param->name : NULL, p->out);
}

static int make_parts(struct cavs__placer *p)
{
    for (p->part = 0; p->part < p->nparts; p->part++) {
        int rc;

        p->out = NULL;
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

    for (int i = 0; i < CAVS__PARTS_CLASSED; i++)
        p.bundle[i] = -1;
    p.value = calloc(n, sizeof *p.value);
    p.local = calloc(n, sizeof *p.local);
    p.grad_sink = calloc(n, sizeof *p.grad_sink);
    if (!p.value || !p.local || !p.grad_sink) {
        rc = cavs__fail_nomem("plan", n * sizeof *p.value);
    } else {
        assign_parts(&p);
        find_saved(&p);
        rc = make_parts(&p);
    }
    free(p.value);
    free(p.local);
    free(p.grad_sink);
    free(p.items);
    return rc;
}

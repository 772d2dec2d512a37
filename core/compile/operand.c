/* SPDX-License-Identifier: Apache-2.0 */
/* operand.c - where a part finds and leaves values: tensors, index sections, scratch. */
#include "core/compile/place.h"

#include <limits.h>

#include "core/base/error.h"

int cavs__checked(struct cavs__placer *p, int tensor)
{
    if (tensor < 0 && !p->error)
        p->error = tensor;
    return tensor < 0 ? 0 : tensor;
}

int cavs__section(struct cavs__placer *p, struct cavs__section s)
{
    return cavs__checked(p, cavs__plan_section(p->sp, s));
}

/* Room for so many more columns behind `used` ones. */
static bool has_room(struct cavs__placer *p, int64_t used, int64_t columns)
{
    if (used + columns <= INT_MAX)
        return true;
    if (!p->error)
        p->error =
            cavs__fail(CAVS_ESHAPE, "function %s.%s: its values have more than %d columns together",
                       p->sp->stage->name, p->f->name, INT_MAX);
    return false;
}

struct cavs__operand cavs__tensor_operand(int tensor, enum cavs__space space, enum cavs__mode mode,
                                          int col, int cols)
{
    return (struct cavs__operand){.buffer = (int16_t)tensor,
                                  .space = (uint8_t)space,
                                  .mode = (uint8_t)mode,
                                  .col = col,
                                  .cols = cols};
}

struct cavs__operand cavs__scratch_operand(struct cavs__placer *p, int domain, int cols)
{
    ptrdiff_t ld = cols <= 1 ? 1 : ((ptrdiff_t)cols + 15) / 16 * 16;
    struct cavs__operand o = {.buffer = CAVS__SCRATCH,
                              .space = CAVS__FIXED,
                              .mode = CAVS__DIRECT,
                              .cols = cols,
                              .region = p->scratch[domain],
                              .list = (uint8_t)domain,
                              .ld = ld};

    if (has_room(p, p->scratch[domain], ld))
        p->scratch[domain] += (int)ld;
    return o;
}

/* A field of the tensor that keeps this part's values, on a cache line of its own. */
struct cavs__operand cavs__kept_operand(struct cavs__placer *p, int domain, int cols)
{
    static const char *const names[CAVS__PARTS_CLASSED] = {
        "eager", "chain", "lazy", "grad.eager", "grad.chain", "grad.lazy", "shared", "grad.shared"};
    int *bundle = &p->bundle[p->part][domain];
    int64_t col;
    struct cavs__tensor_desc *d;
    struct cavs__operand o;

    if (*bundle < 0)
        *bundle = cavs__plan_tensor(
            p->plan,
            (struct cavs__tensor_desc){.kind = CAVS__T_BUNDLE,
                                       .space = domain                    ? CAVS__BENTRIES
                                                : cavs__in_shared_part(p) ? CAVS__DISTINCT
                                                                          : CAVS__BROWS,
                                       .list = domain ? p->f->lists[domain - 1] : NULL,
                                       .stage = p->sp->stage,
                                       .function = p->f},
            domain ? "%s.%s.%s.list%d" : "%s.%s.%s", p->sp->stage->name, p->f->name, names[p->part],
            domain);
    d = &p->plan->tensors[cavs__checked(p, *bundle)];
    col = cols > 1 ? ((int64_t)d->cols + 15) / 16 * 16 : d->cols;
    if (p->error || !has_room(p, col, cols))
        return (struct cavs__operand){.buffer = CAVS__NO_BUFFER};
    d->cols = (int)col + cols;
    o = cavs__tensor_operand(*bundle, d->space, CAVS__DIRECT, (int)col, cols);
    o.list = (uint8_t)domain;
    return o;
}

struct cavs__operand cavs__columns(struct cavs__operand o, int from, int cols)
{
    o.col += from;
    o.cols = cols;
    return o;
}

static struct cavs__operand indexed(struct cavs__placer *p, int tensor, int col, int cols,
                                    struct cavs__section s)
{
    struct cavs__operand o = cavs__tensor_operand(tensor, CAVS__FIXED, CAVS__INDEXED, col, cols);

    o.section = cavs__section(p, s);
    o.list = (uint8_t)s.list;
    return o;
}

struct cavs__operand cavs__operand_in(struct cavs__placer *p, struct cavs__operand o, int domain)
{
    if (domain == 0 || o.list == domain || o.mode != CAVS__DIRECT)
        return o;
    o.mode = CAVS__REPEATED;
    o.list = (uint8_t)domain;
    o.section = cavs__section(
        p, (struct cavs__section){.kind = CAVS__S_LIST_OWNER, .function = p->f, .list = domain});
    return o;
}

struct cavs__operand cavs__listed(struct cavs__placer *p, struct cavs__operand o, int domain)
{
    o = cavs__operand_in(p, o, domain);
    o.list = (uint8_t)domain;
    o.listed = true;
    return o;
}

static struct cavs__operand ids(struct cavs__placer *p, struct cavs__section s)
{
    struct cavs__operand o = {
        .buffer = CAVS__NO_BUFFER, .mode = CAVS__IDS, .list = (uint8_t)s.list};

    o.section = cavs__section(p, s);
    return o;
}

static struct cavs__operand reference(struct cavs__placer *p, struct cavs_symbol *b)
{
    struct cavs__section s = {.function = p->f, .list = b->domain};
    struct cavs__operand o;

    switch (b->op) {
    case CAVS__OP_USE:
        return cavs__tensor_operand(p->plan->param[b->param->number], CAVS__FIXED, CAVS__SAME, 0,
                                    b->width);
    case CAVS__OP_PULL:
        if (cavs__in_shared_part(p)) {
            s.kind = CAVS__S_DISTINCT_ROW;
            return indexed(p, p->sp->input[b->input->number], 0, b->width, s);
        }
        o = cavs__tensor_operand(p->sp->input[b->input->number],
                                 b->domain ? CAVS__EDGES : CAVS__ROWS, CAVS__DIRECT, 0, b->width);
        o.list = (uint8_t)b->domain;
        return o;
    case CAVS__OP_EACH_CHILD:
        s.kind = CAVS__S_LIST_CHILD;
        return indexed(p, p->sp->state, 0, b->width, s);
    case CAVS__OP_GATHER:
        s.kind = CAVS__S_CHILD;
        s.number = b->k;
        return indexed(p, p->sp->state, 0, b->width, s);
    case CAVS__OP_LOOKUP:
        s.kind = cavs__in_shared_part(p) ? CAVS__S_DISTINCT_IDS : CAVS__S_IDS;
        s.number = b->inputs[0]->input->number;
        return indexed(p, p->plan->param[b->param->number], 0, b->width, s);
    case CAVS__OP_FETCH: {
        const struct cavs__stage_plan *from = &p->plan->stages[b->channel->stage->number];

        s.kind = CAVS__S_FETCH;
        s.fetch = b;
        return indexed(p, from->push[b->channel->number], from->push_col[b->channel->number],
                       b->width, s);
    }
    case CAVS__OP_NTH:
        s.kind = CAVS__S_LIST_NTH;
        s.number = b->k;
        return ids(p, s);
    case CAVS__OP_IDS:
        s.kind = cavs__in_shared_part(p) ? CAVS__S_DISTINCT_IDS : CAVS__S_IDS;
        s.number = b->input->number;
        return ids(p, s);
    default: return (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT};
    }
}

/* What another part keeps; vertices read their row of what is shared. */
static struct cavs__operand kept_elsewhere(struct cavs__placer *p, const struct cavs_symbol *b)
{
    struct cavs__operand o = p->value[b->number].at;

    return cavs__is_spread_here(p, b)
               ? indexed(p, o.buffer, o.col, o.cols,
                         (struct cavs__section){.kind = CAVS__S_SHARER, .function = p->f})
               : o;
}

struct cavs__operand cavs__operand_of(struct cavs__placer *p, struct cavs_symbol *x,
                                      bool contiguous)
{
    int col;
    struct cavs_symbol *b;

    if (contiguous && p->local[x->number].placed)
        return p->local[x->number].at;
    b = cavs__base(p, x, &col);
    if (b->op == CAVS__OP_REPEAT) {
        if (contiguous && p->local[b->number].placed)
            return cavs__columns(p->local[b->number].at, col, x->width);
        return cavs__columns(
            cavs__operand_in(p, cavs__operand_of(p, b->inputs[0], true), b->domain), col, x->width);
    }
    if (p->local[b->number].placed && (contiguous || p->local[b->number].here))
        return cavs__columns(p->local[b->number].at, col, x->width);
    if (cavs__is_computed(b))
        return cavs__columns(kept_elsewhere(p, b), col, x->width);
    return cavs__columns(reference(p, b), col, x->width);
}

struct cavs__operand cavs__destination(struct cavs__placer *p, struct cavs_symbol *sink)
{
    struct cavs__stage_plan *sp = p->sp;
    struct cavs__operand o;

    switch (sink->op) {
    case CAVS__OP_SCATTER:
        return cavs__tensor_operand(sp->state, CAVS__ROWS, CAVS__DIRECT, 0, sink->width);
    case CAVS__OP_PUSH:
        return cavs__tensor_operand(sp->push[sink->channel->number], CAVS__ROWS, CAVS__DIRECT,
                                    sp->push_col[sink->channel->number], sink->width);
    case CAVS__OP_SLOT_GRAD:
        o = cavs__tensor_operand(sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, sink->width);
        o.slots = p->f->slots;
        o.slot = sink->k;
        return o;
    case CAVS__OP_EACH_GRAD:
        o = cavs__tensor_operand(sp->edge, CAVS__EDGES, CAVS__DIRECT, 0, sink->width);
        break;
    case CAVS__OP_FETCH_GRAD:
        o = cavs__tensor_operand(
            cavs__checked(
                p, cavs__plan_symbol_tensor(p->plan, CAVS__T_FETCH_GRAD, sink->fetch, false)),
            sink->domain ? CAVS__ENTRIES : CAVS__FROWS, CAVS__DIRECT, 0, sink->width);
        break;
    case CAVS__OP_SPREAD_GRAD:
        o = cavs__tensor_operand(
            cavs__checked(p, cavs__plan_symbol_tensor(p->plan, CAVS__T_SPREAD_GRAD, sink, false)),
            CAVS__FROWS, CAVS__DIRECT, 0, sink->width);
        break;
    default: /* GRAD_LOOKUP */
        o = cavs__tensor_operand(
            cavs__checked(p, cavs__plan_symbol_tensor(p->plan, CAVS__T_LOOKUP_GRAD, sink,
                                                      cavs__in_shared_part(p))),
            cavs__in_shared_part(p) ? CAVS__DISTINCT
            : sink->domain          ? CAVS__ENTRIES
                                    : CAVS__FROWS,
            CAVS__DIRECT, 0, sink->width);
        break;
    }
    o.list = (uint8_t)sink->domain;
    return o;
}

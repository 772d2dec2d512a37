/* SPDX-License-Identifier: Apache-2.0 */
/* operand.c - where a part finds and leaves values: tensors, index sections, scratch. */
#include "core/compile/place.h"

#include <limits.h>

#include "core/base/error.h"
#include "core/declare/operator.h"

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

/* Makes room for that many columns behind the `used` ones. */
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

/* Rows 2 KB apart, or a multiple of it, fall into one or two sets of the first-level cache, and
 * products would copy them first: such rows are a line wider. */
static int64_t out_of_step(int64_t cols)
{
    return cols % 512 ? cols : cols + CAVS__LINE;
}

struct cavs__operand cavs__scratch_operand(struct cavs__placer *p, int domain, int cols)
{
    ptrdiff_t ld = cols <= 1 ? 1 : out_of_step(((int64_t)cols + 15) / 16 * 16);
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

int cavs__add_recorded_field(int *kept, int cols)
{
    int col = cavs__lines_of(*kept) * CAVS__LINE;

    *kept = col + cols;
    return col;
}

/* Notes that the part being made keeps these columns, behind all others. */
static void note_kept(struct cavs__placer *p, const struct cavs__operand *o)
{
    struct cavs__kept *k = &p->kept[p->part];

    if (k->end == 0)
        k->from = o->col;
    k->end = o->col + o->cols;
}

/* On a tape, the field lies beside the gradients of operands. How far apart its rows are is known
 * when all fields are: see cavs__plan_add_function(). */
static struct cavs__operand recorded_operand(struct cavs__placer *p, int domain, int cols)
{
    struct cavs__operand o = cavs__tensor_operand(p->sp->edge, CAVS__LINES, CAVS__DIRECT, 0, cols);
    int *kept = domain > 0 ? &p->f->kept_entries : &p->f->kept;

    o.slot = domain > 0 ? CAVS__LINES_KEPT_ENTRIES : CAVS__LINES_KEPT;
    o.list = (uint8_t)domain;
    if (!has_room(p, *kept + CAVS__LINE, cols))
        return o;
    o.col = cavs__add_recorded_field(kept, cols);
    if (domain == 0)
        note_kept(p, &o);
    return o;
}

int cavs__add_field(struct cavs__tensor_desc *d, int cols)
{
    int col = cols > 1 ? (d->cols + CAVS__LINE - 1) / CAVS__LINE * CAVS__LINE : d->cols;

    d->cols = (int)(cols > 1 ? out_of_step(col + cols) : col + cols);
    return col;
}

/* A field of the tensor that keeps this part's values. */
struct cavs__operand cavs__kept_operand(struct cavs__placer *p, int domain, int cols)
{
    static const char *const names[CAVS__PARTS_CLASSED] = {
        "eager", "chain", "lazy", "grad.eager", "grad.chain", "grad.lazy", "shared", "grad.shared"};
    int *bundle = &p->bundle[p->part][domain];
    struct cavs__tensor_desc *d;
    struct cavs__operand o;
    int col;

    if (p->f->stage->recorded)
        return recorded_operand(p, domain, cols);
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
    if (p->error || !has_room(p, d->cols + CAVS__LINE, cols))
        return (struct cavs__operand){.buffer = CAVS__NO_BUFFER};
    col = cavs__add_field(d, cols);
    o = cavs__tensor_operand(*bundle, d->space, CAVS__DIRECT, col, cols);
    o.list = (uint8_t)domain;
    return o;
}

struct cavs__operand cavs__columns(struct cavs__operand o, int from, int cols)
{
    o.col += from;
    o.cols = cols;
    return o;
}

struct cavs__operand cavs__indexed_operand(struct cavs__placer *p, int tensor, int col, int cols,
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

struct cavs__operand cavs__ids_operand(struct cavs__placer *p, struct cavs__section s)
{
    struct cavs__operand o = {
        .buffer = CAVS__NO_BUFFER, .mode = CAVS__IDS, .list = (uint8_t)s.list};

    o.section = cavs__section(p, s);
    return o;
}

/* What another part keeps; vertices read their row of what is shared. */
static struct cavs__operand kept_elsewhere(struct cavs__placer *p, const struct cavs_symbol *b)
{
    struct cavs__operand o = p->value[b->number].at;

    return cavs__is_spread_here(p, b)
               ? cavs__indexed_operand(
                     p, o.buffer, o.col, o.cols,
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
    return cavs__columns(cavs__operator_of(b)->where(p, b), col, x->width);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.c - which steps of a part may run at once: products that stand one after the other, none
 * of which touches what another one writes. Devices take them in one launch, and workers who help
 * with a task (codelets/products/claims.h) take part in all of them at once.
 *
 * That launch may have two groups in it, too: one before the products that only copies rows, since
 * products can read these where they are, and one after them that only adds results of two products
 * each, which are one sum then and need not lie anywhere.  No product writes what was copied: every
 * value has a place of its own, as in_place.c moves none where there are devices.
 *
 * It is found before scratch is packed, which then keeps their blocks apart.
 */
#include "codelets/groups/elementwise.h"
#include "codelets/kernels/kernel_table.h"
#include "core/compile/place.h"

/* In scratch every block has a place of its own as yet; a repeated operand is a block of
 * vertices. */
static bool same_block(const struct cavs__operand *a, const struct cavs__operand *b)
{
    int list_a = a->mode == CAVS__REPEATED ? 0 : a->list;
    int list_b = b->mode == CAVS__REPEATED ? 0 : b->list;

    if (a->buffer != b->buffer || a->buffer == CAVS__NO_BUFFER)
        return false;
    return a->buffer != CAVS__SCRATCH || (a->region == b->region && list_a == list_b);
}

/* Rows of different child slots do not overlap, unless a value fills the rows of several slots. */
static bool different_slots(const struct cavs__operand *a, const struct cavs__operand *b, int width)
{
    return a->space == CAVS__EDGES && b->space == CAVS__EDGES && a->list == 0 && b->list == 0 &&
           a->slot != b->slot && a->cols <= width && b->cols <= width;
}

/* Rows that are read by index are never those that the same task writes, because the tiles of a
 * task run in any order. */
static bool touches(const struct cavs__operand *written, const struct cavs__operand *o, int width)
{
    return o->mode != CAVS__INDEXED && same_block(written, o) &&
           !different_slots(written, o, width) && written->col < o->col + o->cols &&
           o->col < written->col + written->cols;
}

static bool independent(const struct cavs__step *a, const struct cavs__step *b, int width)
{
    for (int i = 0; i < 3; i++) {
        if (touches(&a->v[2], &b->v[i], width) || touches(&b->v[2], &a->v[i], width))
            return false;
    }
    return true;
}

/* May step `next` run at once with all those from `first` on? */
static bool may_follow(const struct cavs__part *p, int first, int next,
                       const struct cavs__launch_limits *o)
{
    const struct cavs__step *s = &p->steps[next];

    if (s->call.kernel != &cavs__kernel_gemm ||
        (s->list != p->steps[first].list && !o->lists_with_rows))
        return false;
    for (int i = first; i < next; i++) {
        if (!independent(&p->steps[i], s, o->width))
            return false;
    }
    return true;
}

/* ---- groups around products ---- */

enum { MOST_COPIES = 2 };

/* The products [first, first + n) take rows of vertices. */
static bool are_of_vertices(const struct cavs__part *p, int first, int n)
{
    for (int i = first; i < first + n; i++) {
        if (p->steps[i].list != 0)
            return false;
    }
    return true;
}

/* The group, if its rows are vertices and its operands are all as wide as its values; else NULL. */
static const struct cavs__ew_spec *spec_of(const struct cavs__step *s)
{
    const struct cavs__ew_spec *spec =
        s->call.program && s->list == 0 ? cavs__ew_program_spec(s->call.program) : NULL;

    for (int i = 0; spec && i < spec->ninputs; i++) {
        if (spec->scalar && spec->scalar[i])
            return NULL;
    }
    return spec;
}

static bool only_copies(const struct cavs__ew_spec *spec)
{
    bool copies = spec && spec->ninputs == spec->noutputs && spec->ninputs <= MOST_COPIES;

    for (int i = 0; copies && i < spec->noutputs; i++)
        copies = spec->outputs[i] == ~i;
    return copies;
}

static bool only_adds_two(const struct cavs__ew_spec *spec)
{
    bool adds = spec && spec->noutputs <= CAVS__MOST_TOGETHER / 2;

    for (int i = 0; adds && i < spec->noutputs; i++) {
        const struct cavs__ew_node *n = &spec->nodes[spec->outputs[i] < 0 ? 0 : spec->outputs[i]];

        adds = spec->outputs[i] >= 0 && n->op == CAVS__EW_add && n->which == 0 && n->in[0] < 0 &&
               n->in[1] < 0;
    }
    return adds;
}

/* Is it a result of one of the products that only this group reads? */
static bool is_its_own_term(const struct cavs__part *p, int first, int group,
                            const struct cavs__operand *o, int width)
{
    bool found = false;

    for (int i = first; i < group; i++) {
        const struct cavs__operand *y = &p->steps[i].v[2];

        if (!touches(y, o, width))
            continue;
        found = true;
        for (int s = group + 1; s < p->nsteps; s++)
            for (int k = 0; k < p->steps[s].nviews; k++)
                if (same_block(y, &p->steps[s].v[k]))
                    return false;
    }
    return found && o->buffer == CAVS__SCRATCH && o->mode == CAVS__DIRECT;
}

/* May the step after the products [first, group) be part of their launch? */
static bool may_add_up(const struct cavs__part *p, int first, int group, int width)
{
    const struct cavs__step *s = &p->steps[group];
    const struct cavs__ew_spec *spec = spec_of(s);

    if (!only_adds_two(spec))
        return false;
    for (int i = 0; i < spec->ninputs; i++)
        if (!is_its_own_term(p, first, group, &s->v[i], width))
            return false;
    for (int i = first; i < group; i++)
        for (int k = 0; k < 3; k++)
            for (int j = spec->ninputs; j < s->nviews; j++)
                if (p->steps[i].list != 0 || touches(&s->v[j], &p->steps[i].v[k], width))
                    return false;
    return true;
}

void cavs__find_together(struct cavs__part *p, const struct cavs__launch_limits *o)
{
    for (int first = 0, end; first < p->nsteps; first = end) {
        end = first + 1;
        while (p->steps[first].call.kernel == &cavs__kernel_gemm && end < p->nsteps &&
               end - first < CAVS__MOST_TOGETHER && may_follow(p, first, end, o))
            end++;
        if (end < p->nsteps && p->steps[first].call.kernel == &cavs__kernel_gemm &&
            may_add_up(p, first, end, o->width))
            end++;
        for (int i = first; i < end; i++)
            p->steps[i].together = end - i;
    }
    for (int i = 0; i + 1 < p->nsteps; i++) {
        struct cavs__step *s = &p->steps[i];
        int n = s[1].together;

        if (s[1].call.kernel == &cavs__kernel_gemm && s[n].call.kernel == &cavs__kernel_gemm &&
            only_copies(spec_of(s)) && are_of_vertices(p, i + 1, n))
            s->together = 1 + n;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* emit.c - from placed and timed items to the steps of a part: one kernel call each here, fused
 * element-wise groups in emit_group.c. */
#include <stdlib.h>
#include <string.h>

#include "codelets/kernels/kernel_table.h"
#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/emit.h"

static enum cavs__cost cost_of(const struct cavs__kernel *kernel)
{
    if (strncmp(kernel->name, "gemm", 4) == 0)
        return CAVS__COST_PRODUCT;
    return kernel == &cavs__kernel_sum_rows || kernel == &cavs__kernel_sum_pieces ||
                   kernel == &cavs__kernel_list_sum
               ? CAVS__COST_MEMORY
               : CAVS__COST_OTHER;
}

int cavs__kernel_step(struct cavs__placer *p, const struct cavs__kernel *kernel, int nviews,
                      int noutputs, struct cavs__step **made)
{
    struct cavs__part *out = p->out;
    struct cavs__step s = {.nviews = nviews, .noutputs = noutputs, .cost = cost_of(kernel)};
    size_t bytes = ((size_t)nviews + 1) * sizeof *s.v;

    s.call.kernel = kernel;
    s.v = calloc(1, bytes);
    if (!s.v || !CAVS__APPEND(out->steps, out->nsteps, s)) {
        free(s.v);
        return cavs__fail_nomem("steps of a part",
                                bytes + cavs__array_bytes(out->nsteps, sizeof s));
    }
    *made = &out->steps[out->nsteps - 1];
    return CAVS_OK;
}

int cavs__describe_step(struct cavs__step *s, const char *label, int n,
                        const struct cavs_symbol *const *origin)
{
    s->label = strdup(label);
    s->origin = calloc((size_t)n + 1, sizeof *s->origin);
    if (!s->label || !s->origin)
        return cavs__fail_nomem("steps of a part",
                                strlen(label) + 1 + ((size_t)n + 1) * sizeof *origin);
    if (n > 0)
        memcpy(s->origin, origin, (size_t)n * sizeof *origin);
    return CAVS_OK;
}

/* ---- single steps ---- */

int cavs__new_step(struct cavs__placer *p, const struct cavs_symbol *x, int nviews,
                   struct cavs__step **made)
{
    const struct cavs__operator *o = cavs__operator_of(x);
    int rc = cavs__kernel_step(p, o->kernel, nviews, 1, made);

    if (!rc && o->flops)
        (*made)->flops = o->flops(x);
    return rc;
}

struct cavs__operand cavs__fixed_operand(int tensor, int col, int cols)
{
    return cavs__tensor_operand(tensor, CAVS__FIXED, CAVS__DIRECT, col, cols);
}

struct cavs__operand cavs__read_operand(struct cavs__placer *p, const struct cavs_symbol *x, int i)
{
    return cavs__operand_in(p, cavs__operand_of(p, x->inputs[i], true), x->domain);
}

struct cavs__operand cavs__result_operand(const struct cavs__placer *p, const struct cavs_symbol *x)
{
    return p->local[x->number].at;
}

/* As many views as operands, read in this order, and room for the result. */
static int step_of_operands(struct cavs__placer *p, const struct cavs_symbol *x,
                            struct cavs__step **made)
{
    int rc = cavs__new_step(p, x, x->ninputs + 1, made);

    for (int i = 0; i < x->ninputs && !rc; i++)
        (*made)->v[i] = cavs__read_operand(p, x, i);
    return rc;
}

int cavs__emit_plain(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = step_of_operands(p, x, &s);

    if (!rc)
        s->v[x->ninputs] = cavs__result_operand(p, x);
    return rc;
}

int cavs__emit_param_grad(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = step_of_operands(p, x, &s);

    if (rc)
        return rc;
    s->v[x->ninputs] = cavs__fixed_operand(cavs__checked(p, cavs__plan_gradient(p->plan, x->param)),
                                           0, x->param->cols);
    s->call.rows = x->param->rows;
    s->call.bf16 = p->plan->options.bf16;
    s->call.device_bf16 = p->plan->options.device_bf16;
    return CAVS_OK;
}

int cavs__emit_sum_rows(struct cavs__placer *p, const struct cavs_symbol *x, int tensor,
                        struct cavs__section ptr, struct cavs__section index)
{
    struct cavs__step *s;
    int rc = cavs__new_step(p, x, 2, &s);

    if (rc)
        return rc;
    s->v[0] = cavs__fixed_operand(tensor, 0, x->width);
    s->v[0].mode = CAVS__SUMMED;
    s->v[0].ptr_section = cavs__section(p, ptr);
    s->v[0].section = cavs__section(p, index);
    if (!p->error)
        p->sp->sections[s->v[0].ptr_section].partner = s->v[0].section;
    s->v[1] = cavs__result_operand(p, x);
    return CAVS_OK;
}

static int emit_single(struct cavs__placer *p, const struct cavs_symbol *x)
{
    const struct cavs__operator *o = cavs__operator_of(x);
    int rc = o->emit(p, x);

    if (rc)
        return rc;
    p->out->steps[p->out->nsteps - 1].list = o->role == CAVS__ROLE_SINGLE_LIST ? 0 : x->domain;
    return cavs__describe_step(&p->out->steps[p->out->nsteps - 1], cavs__symbol_label(x), 1, &x);
}

/* ---- all ---- */

/* Within a time: operands before what reads them, copies last. */
static int by_time_and_symbol(const void *a, const void *b)
{
    const struct cavs__item *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->copy != y->copy)
        return x->copy ? 1 : -1;
    return (x->x->number > y->x->number) - (x->x->number < y->x->number);
}

/* Renames every group to the new position of its first member, and links its members. */
static int link_groups(struct cavs__placer *p)
{
    int *last = malloc(((size_t)p->nitems + 1) * sizeof *last);

    if (!last)
        return cavs__fail_nomem("steps of a part", ((size_t)p->nitems + 1) * sizeof *last);
    for (int i = 0; i < p->nitems; i++)
        last[i] = -1;
    for (int i = 0; i < p->nitems; i++) {
        struct cavs__item *item = &p->items[i];
        int before = last[item->set];

        item->group = before < 0 ? i : p->items[before].group;
        item->next = -1;
        if (before >= 0)
            p->items[before].next = i;
        last[item->set] = i;
    }
    free(last);
    return CAVS_OK;
}

static int sort_items(struct cavs__placer *p)
{
    for (int i = 0; i < p->nitems; i++) {
        while (p->items[i].group != p->items[p->items[i].group].group)
            p->items[i].group = p->items[p->items[i].group].group;
    }
    for (int i = 0; i < p->nitems; i++)
        p->items[i].set = p->items[i].group;
    qsort(p->items, (size_t)p->nitems, sizeof *p->items, by_time_and_symbol);
    return link_groups(p);
}

int cavs__emit(struct cavs__placer *p)
{
    int rc = sort_items(p);

    for (int i = 0; i < p->nitems && !rc; i++) {
        if (!(p->items[i].time & 1))
            rc = emit_single(p, p->items[i].x);
        else if (p->items[i].group == i && !p->items[i].emitted)
            rc = cavs__emit_group(p, i);
    }
    return rc ? rc : p->error;
}

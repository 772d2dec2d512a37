/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_gradients.c - gradients that are made while their parameter is updated.
 *
 * Where a batch is small, one tree, nearly all of its time goes into moving parameters: a gradient
 * is as large as the parameter, and would be written and read once more.  So the task that makes it
 * is kept, and the update makes some rows of it and uses them at once, before they leave the cache
 * (codelets/update_task.c).  The sums are the same, number by number.
 */
#include <string.h>

#include "codelets/products/gemm.h"
#include "core/base/error.h"
#include "core/run/optimizer.h"
#include "core/run/pieces.h"

/* Gradients of fewer numbers stay in a cache by themselves.  Of more rows, making them takes so
 * long that moving them does not show, and all that a window of it copies first would. */
enum { LEAST_NUMBERS = 64 * 1024, MOST_ROWS = 64 };

/* The one step of a part that is a product of float32 numbers into a gradient, -1: there is none,
 * or several. */
static int product_of(const struct cavs__part *p)
{
    int found = -1;

    for (int i = 0; i < p->nsteps; i++) {
        const struct cavs__call *call = &p->steps[i].call;

        if (call->kernel->number != CAVS__KERNEL_gemm_tn)
            continue;
        if (found >= 0 || call->bf16)
            return -1;
        found = i;
    }
    return found;
}

/* Tasks of that kind alone add to it, write nothing but gradients, and read no parameter that
 * another such update may have written. */
static bool adds_alone(const struct cavs__plan *plan, const struct cavs__task_kind *kind,
                       int tensor)
{
    for (int i = 0; i < plan->model->nstages; i++) {
        for (int j = 0; j < plan->stages[i].nkinds; j++) {
            const struct cavs__task_kind *k = plan->stages[i].kinds[j];

            for (int b = 0; b < k->nbuffers; b++) {
                if (k != kind && k->written[b] && k->tensor[b] == tensor)
                    return false;
            }
        }
    }
    for (int b = 0; b < kind->nbuffers; b++) {
        const struct cavs__tensor_desc *d = &plan->tensors[kind->tensor[b]];

        if ((d->kind == CAVS__T_PARAM && !cavs__has_row_gradient(plan, d->param)) ||
            d->kind == CAVS__T_COPY || (kind->written[b] && d->kind != CAVS__T_GRAD))
            return false;
    }
    return true;
}

/* Then its rows are added to its gradient, too (looked_up.c). */
static bool is_looked_up(const struct cavs_model *m, const struct cavs_param *stored)
{
    for (int i = 0; i < m->nparams; i++) {
        const struct cavs_param *p = m->params[i];

        if (p->lookup_use && (p == stored || p->merged == stored))
            return true;
    }
    return false;
}

/* An update follows, that wants nothing of the gradient but its numbers; all of it is made by one
 * task, on rows that are one tile. */
static bool is_for_one_update(const struct cavs__piece *w)
{
    const struct cavs__engine *e = w->of->e;
    const struct cavs_session_options *o = e->options;

    return w->of->b->request.run == CAVS__RUN_TRAIN && w->of->b->nshards == 1 && o->clip <= 0 &&
           !o->check_finite && !e->devices && !e->rt->ranks && e->rt->one_memory && w->n == 1 &&
           w->t->nblocks == 1 && cavs__gemm()->gemm_tn_rows;
}

/* What has lists is cut into tiles by them, too. */
static bool is_one_tile(const struct cavs__part *p, int rows)
{
    bool lists = false;

    for (int i = 0; i < CAVS__PART_LISTS; i++)
        lists |= p->lists[i].used;
    return !lists && rows <= p->tile && rows <= MOST_ROWS;
}

/* The parameter whose gradient can be made so, NULL: none. */
static const struct cavs_param *param_of(const struct cavs__piece *w, struct cavs__made *made)
{
    const struct cavs__plan *plan = w->of->e->plan;
    const struct cavs__part *p;
    const struct cavs__tensor_desc *d;

    if (!is_for_one_update(w))
        return NULL;
    p = w->k->parts[w->segments[0].function];
    made->step = product_of(p);
    if (made->step < 0 || !is_one_tile(p, w->segments[0].rows))
        return NULL;
    made->buffer = p->steps[made->step].v[2].buffer;
    if (made->buffer < 0 || p->steps[made->step].v[2].cols < 1)
        return NULL;
    d = &plan->tensors[w->k->tensor[made->buffer]];
    if (d->kind != CAVS__T_GRAD || !cavs__is_trained(d->param) ||
        (int64_t)d->param->rows * d->param->cols < LEAST_NUMBERS ||
        p->steps[made->step].v[0].cols != d->param->rows ||
        p->steps[made->step].v[2].cols != d->param->cols || is_looked_up(plan->model, d->param) ||
        !adds_alone(plan, w->k, w->k->tensor[made->buffer]))
        return NULL;
    return d->param;
}

int cavs__make_at_update(const struct cavs__piece *w, bool *will_be)
{
    struct cavs__made made = {0};
    const struct cavs_param *p = param_of(w, &made);
    struct cavs__gradient *g;

    *will_be = p != NULL;
    if (!p)
        return CAVS_OK;
    g = cavs__arena_alloc(w->of->arena, sizeof *g);
    if (!g)
        return cavs__fail_nomem("task", sizeof *g);
    g->kind = w->k;
    g->made = made;
    g->made.args = cavs__piece_args(w, 0, g->handles);
    if (!g->made.args)
        return CAVS_ENOMEM;
    w->of->e->made[p->number] = g;
    return CAVS_OK;
}

void cavs__forget_gradients(struct cavs__engine *e)
{
    memset(e->grad_used, 0, (size_t)e->plan->model->nstored * sizeof *e->grad_used);
    memset(e->made, 0, (size_t)e->plan->model->nstored * sizeof *e->made);
}

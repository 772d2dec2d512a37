/* SPDX-License-Identifier: Apache-2.0 */
/*
 * made_gradients.c - gradients that are made while their parameter is updated.
 *
 * Where a batch is small, one tree, nearly all of its time goes into moving parameters: a gradient
 * is as large as the parameter, and would be written and read once more.  The same is true in any
 * batch of a parameter of many blocks, of which each row selects one: each shard would write a
 * gradient of all blocks, from few rows a block.  So the tasks that make it are kept, and the
 * update makes some rows of it and uses them at once, before they leave the cache
 * (codelets/update_task.c).  The sums are the same, number by number.
 */
#include <string.h>

#include "codelets/products/gemm.h"
#include "core/base/error.h"
#include "core/run/optimizer.h"
#include "core/run/pieces.h"

/* Gradients of fewer numbers stay in a cache anyway.  With more rows, making a gradient takes so
 * long that moving it does not show, while what is copied first for each window of it does. */
enum { LEAST_NUMBERS = 64 * 1024, MOST_ROWS = 64 };

/* Of parameters of blocks: from so many numbers on, the pieces of the update give all workers
 * something to do; and as each looks through the rows of all shards, there may be so many of
 * these. */
enum { LEAST_OF_BLOCKS = 4 << 20, MOST_SHARDS = 8 };

static bool is_of_blocks(const struct cavs__step *s)
{
    return s->call.kernel->number == CAVS__KERNEL_gemm_tn_select;
}

/* The step of a part that is a product of float32 numbers into a gradient; -1: there is none, or
 * there are several. */
static int product_of(const struct cavs__part *p)
{
    int found = -1;

    for (int i = 0; i < p->nsteps; i++) {
        const struct cavs__call *call = &p->steps[i].call;

        if (call->kernel->number != CAVS__KERNEL_gemm_tn && !is_of_blocks(&p->steps[i]))
            continue;
        if (found >= 0 || call->bf16)
            return -1;
        found = i;
    }
    return found;
}

/* Do tasks of this kind alone add to the gradient, write nothing but gradients, and read no
 * parameter that another such update may have written? */
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

/* Is the parameter looked up, too?  Then rows are added to its gradient as well (looked_up.c). */
static bool is_looked_up(const struct cavs_model *m, const struct cavs_param *stored)
{
    for (int i = 0; i < m->nparams; i++) {
        const struct cavs_param *p = m->params[i];

        if (p->lookup_use && cavs__stored(p) == stored)
            return true;
    }
    return false;
}

/* Does an update follow that wants nothing of the gradient but its numbers? */
static bool is_for_one_update(const struct cavs__piece *w)
{
    const struct cavs__engine *e = w->of->e;
    const struct cavs_session_options *o = e->options;

    return w->of->b->request.run == CAVS__RUN_TRAIN && o->clip <= 0 && !o->check_finite &&
           !e->devices && !e->rt->ranks && e->rt->one_memory && cavs__gemm()->gemm_tn_rows;
}

/* Are all rows one tile?  A part that has lists is cut into tiles by these, too. */
static bool is_one_tile(const struct cavs__part *p, int rows)
{
    bool lists = false;

    for (int i = 0; i < CAVS__PART_LISTS; i++)
        lists |= p->lists[i].used;
    return !lists && rows <= p->tile && rows <= MOST_ROWS;
}

/* Does one task make all of the gradient, from rows that are one tile? */
static bool is_of_one_task(const struct cavs__piece *w)
{
    return w->of->b->nshards == 1 && w->n == 1 && w->t->nblocks == 1 &&
           is_one_tile(w->k->parts[w->segments[0].function], w->segments[0].rows);
}

/* Does the part do nothing but sums?  All tiles are gone through again for each block, so nothing
 * may have to be computed before. */
static bool is_sums_alone(const struct cavs__part *p)
{
    for (int i = 0; i < p->nsteps; i++) {
        if (!p->steps[i].call.kernel->reduces)
            return false;
    }
    return true;
}

/* Does each shard make a partial gradient of its own, by one task?  It must be so for all shards or
 * for none: the order of sums is that of partial gradients. */
static bool is_of_own_tasks(const struct cavs__piece *w)
{
    const struct cavs__batch *b = w->of->b;

    for (int i = 0; i < b->nshards; i++) {
        if (b->shards[i].stages[w->k->stage->number].nblocks != 1)
            return false;
    }
    return b->nshards <= MOST_SHARDS && w->of->partials == 1 && !w->of->e->homes &&
           is_sums_alone(w->k->parts[w->segments[0].function]);
}

/* Does the product make blocks that lie one below another?  An update makes rows of one block at a
 * time. */
static bool fits(const struct cavs__step *s, const struct cavs_param *p)
{
    const int k = s->v[0].cols;
    const int64_t numbers = (int64_t)p->rows * p->cols;

    if (s->v[s->nviews - 1].cols != p->cols || p->cols < 1)
        return false;
    return is_of_blocks(s) ? numbers >= LEAST_OF_BLOCKS && k % CAVS__UPDATE_ROWS == 0
                           : numbers >= LEAST_NUMBERS && k == p->rows;
}

/* The parameter whose gradient can be made by its update; NULL: there is none. */
static const struct cavs_param *param_of(const struct cavs__piece *w, struct cavs__made *made)
{
    const struct cavs__plan *plan = w->of->e->plan;
    const struct cavs__tensor_desc *d;
    const struct cavs__part *p;
    const struct cavs__step *s;

    if (!is_for_one_update(w))
        return NULL;
    p = w->k->parts[w->segments[0].function];
    made->step = product_of(p);
    if (made->step < 0)
        return NULL;
    s = &p->steps[made->step];
    made->buffer = s->v[s->nviews - 1].buffer;
    if (made->buffer < 0 || !(is_of_blocks(s) ? is_of_own_tasks(w) : is_of_one_task(w)))
        return NULL;
    d = &plan->tensors[w->k->tensor[made->buffer]];
    if (d->kind != CAVS__T_GRAD || !cavs__is_trained(plan, d->param) || !fits(s, d->param) ||
        is_looked_up(plan->model, d->param) || !adds_alone(plan, w->k, w->k->tensor[made->buffer]))
        return NULL;
    return d->param;
}

int cavs__make_at_update(const struct cavs__piece *w, bool *will_be)
{
    struct cavs__made made = {0};
    const struct cavs_param *p = param_of(w, &made);
    struct cavs__gradient *g, *last;

    *will_be = p != NULL;
    if (!p)
        return CAVS_OK;
    g = cavs__arena_alloc(w->of->arena, sizeof *g);
    if (!g)
        return cavs__fail_nomem("task", sizeof *g);
    g->kind = w->k;
    g->next = NULL;
    g->made = made;
    g->made.partial = cavs__partial_of(w->of->e, w->shard, 0, w->of->partials);
    g->made.args = cavs__piece_args(w, 0, g->handles);
    if (!g->made.args)
        return CAVS_ENOMEM;
    last = w->of->e->made[p->number];
    while (last && last->next)
        last = last->next;
    if (last) {
        last->next = g;
        last->made.next = &g->made;
    } else {
        w->of->e->made[p->number] = g;
    }
    return CAVS_OK;
}

void cavs__forget_gradients(struct cavs__engine *e)
{
    memset(e->grad_used, 0, (size_t)e->plan->model->nstored * sizeof *e->grad_used);
    memset(e->made, 0, (size_t)e->plan->model->nstored * sizeof *e->made);
}

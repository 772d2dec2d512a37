/* SPDX-License-Identifier: Apache-2.0 */
/*
 * looked_up.c - the gradient of a parameter that is both looked up and multiplied (tied weights).
 *
 * Such a parameter has a dense gradient.  What its lookups have comes in rows, as of any table, and
 * is added to the partial gradient of the shard that looked them up: so sums have the order that
 * those of other dense gradients have, whatever ranks and workers there are.  From then on, the
 * parameter is like any that is multiplied alone.
 */
#include "codelets/rows_task.h"
#include "core/base/error.h"
#include "core/run/optimizer.h"

/* The rows of one parameter on their way to its dense gradient. */
struct adding {
    struct cavs__optimizer *o;
    struct cavs__engine *e;
    int slot, nshards;                   /* of the batch */
    const struct cavs_param *p, *stored; /* the columns of what is stored */
    const struct cavs__touched *t;
};

/* The partial gradient that lookups of a shard are added to: the first of its own. */
static int partial_of(const struct adding *w, int lookup)
{
    return cavs__partial_of(w->e, w->t->lookups[lookup].shard, 0, w->e->nshards / w->nshards);
}

static struct cavs__rows_args *new_args(const struct adding *w, int partial)
{
    struct cavs__arena *arena = &w->e->slots[w->slot].arena;
    const struct cavs__touched *t = w->t;
    size_t n = (size_t)t->nlookups;
    struct cavs__rows_args *a = cavs__arena_alloc(arena, sizeof *a);
    const float **gradients = cavs__arena_alloc(arena, n * sizeof *gradients);
    int *buffer = cavs__arena_alloc(arena, n * sizeof *buffer), buffers = 0;

    if (!a || !gradients || !buffer)
        return NULL;
    for (int i = 0; i < t->nlookups; i++)
        buffer[i] = partial_of(w, i) == partial ? buffers++ : -1;
    *a = (struct cavs__rows_args){.rows = w->stored->rows,
                                  .cols = w->p->cols,
                                  .from = w->p->merged_col,
                                  .first = !w->e->grad_used[w->stored->number][partial],
                                  .ld = w->e->tensors[w->e->plan->grad[w->stored->number]].ld,
                                  .ldg = t->ld,
                                  .n = t->n,
                                  .ptr = (int)(t->ptr - t->ids),
                                  .source = (int)(t->source - t->ids),
                                  .row = (int)(t->row - t->ids),
                                  .ngrads = buffers,
                                  .gradients = gradients,
                                  .buffer = buffer,
                                  .nsources = t->nlookups,
                                  .nanoseconds = cavs__update_nanoseconds(w->e)};
    return a;
}

static int add_to_partial(const struct adding *w, int partial)
{
    struct cavs__engine *e = w->e;
    struct cavs__rows_args *a = new_args(w, partial);
    struct starpu_task *task;

    if (!a)
        return cavs__fail_nomem("task", sizeof *a);
    if (a->ngrads == 0)
        return CAVS_OK;
    task = cavs__task_create(e, w->slot, -1, &w->o->rows_codelet, a);
    cavs__task_buffer(task, e->tensors[e->plan->grad[w->stored->number]].chunks[partial].handle,
                      STARPU_RW);
    cavs__task_buffer(task,
                      w->o->touched_lists[w->p->number].chunks[cavs__read_place(e, w->slot)].handle,
                      STARPU_R);
    for (int i = 0; i < w->t->nlookups; i++) {
        const struct cavs__lookup *l = &w->t->lookups[i];

        if (a->buffer[i] >= 0)
            cavs__task_buffer(task, e->tensors[l->tensor].chunks[l->shard].handle, STARPU_R);
    }
    task->priority = 1; /* the update waits for it */
    e->grad_used[w->stored->number][partial] = true;
    return cavs__task_submit(e, w->slot, task,
                             (double)w->t->occurrences * a->cols * e->rt->cost.rates.value);
}

int cavs__submit_looked_up(struct cavs__optimizer *o, struct cavs__engine *e,
                           const struct cavs__batch *b, int nshards, int slot)
{
    const struct cavs_model *m = e->plan->model;
    struct adding w = {.o = o, .e = e, .slot = slot, .nshards = nshards};
    int rc = CAVS_OK;

    for (int i = 0; i < m->nparams && !rc; i++) {
        w.p = m->params[i];
        w.stored = cavs__stored(w.p);
        w.t = b->touched[i];
        if (w.p->frozen || !cavs__is_tied(e->plan, w.p) || !w.t || w.t->occurrences == 0)
            continue;
        for (int k = 0; k < CAVS__MAX_PARTIALS && !rc; k++)
            rc = add_to_partial(&w, k);
    }
    return rc;
}

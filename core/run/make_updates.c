/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_updates.c - a task that updates a parameter, or rows of it: what it reads and writes.
 *
 * Partial gradients of the shards are added in the order of shards, and occurrences of an id in the
 * order of rows, so the result does not depend on which worker ran what.
 */
#include "codelets/device_set.h"
#include "codelets/update_task.h"
#include "core/base/error.h"
#include "core/run/updating.h"

const struct cavs__touched *cavs__sparse_rows(const struct cavs__updating *u,
                                              const struct cavs_param *p)
{
    if (!cavs__has_row_gradient(u->e->plan, p))
        return NULL;
    return u->o->exchange ? cavs__exchanged_rows(u->o->exchange, p, u->slot)
                          : u->b->touched[p->number];
}

/* Adds the handles of the gradient of all ranks, which has no gaps between its rows. */
static void add_exchanged(const struct cavs__updating *u, struct starpu_task *task,
                          const struct cavs_param *p, struct cavs__update_args *a)
{
    const struct cavs__block *blocks[2 * CAVS__PARTIALS];
    starpu_data_handle_t handles[CAVS__PARTIALS];
    a->ldg = p->cols;
    a->ngrads = a->sparse ? cavs__exchanged_blocks(u->o->exchange, p, u->slot, blocks)
                          : cavs__exchanged(u->o->exchange, u->share, handles, a->partial, &a->at,
                                            &a->grads_from);
    for (int i = 0; i < a->ngrads; i++)
        cavs__task_buffer(task, a->sparse ? blocks[i]->handle : handles[i], STARPU_R);
}

/* Does the task of a norm keep the sum of several gradients, so that the update reads one?  Not
 * where other ranks or devices read or write the gradient, nor where its rows stay: where one
 * belongs to all ids of a list, or a user may ask for it, as of each row that a tape has looked
 * up. */
static bool keeps_sums(const struct cavs__updating *u, const struct cavs__touched *t)
{
    return u->o->clip > 0 && !u->o->exchange && !u->e->devices && !(t && t->stays);
}

/* Adds the handles of the parameter's gradients to the task.  mode: that of gradients whose sums
 * are kept. */
static void add_gradients(const struct cavs__updating *u, struct starpu_task *task,
                          const struct cavs_param *p, struct cavs__update_args *a,
                          enum starpu_data_access_mode mode)
{
    struct cavs__engine *e = u->e;
    const struct cavs__touched *t = cavs__sparse_rows(u, p);
    int grad = e->plan->grad[p->number];

    a->summed = keeps_sums(u, t);
    if (t) {
        a->sparse = true;
        a->n = t->n;
        a->ptr = (int)(t->ptr - t->ids);
        a->source = (int)(t->source - t->ids);
        a->row = (int)(t->row - t->ids);
        a->ldg = t->ld;
        if (u->o->exchange)
            add_exchanged(u, task, p, a);
        for (int i = 0; i < t->nlookups; i++)
            cavs__task_buffer(task,
                              e->tensors[t->lookups[i].tensor].chunks[t->lookups[i].shard].handle,
                              a->summed ? mode : STARPU_R);
        a->ngrads += t->nlookups;
        return;
    }
    if (u->o->exchange && grad >= 0) {
        add_exchanged(u, task, p, a);
        return;
    }
    a->ldg = grad >= 0 ? e->tensors[grad].ld : 0;
    for (int i = 0; grad >= 0 && i < CAVS__MAX_PARTIALS; i++) {
        if (!e->grad_used[p->number][i] || (a->ngrads > 0 && a->summed && mode == STARPU_R))
            continue;
        cavs__task_buffer(task, e->tensors[grad].chunks[i].handle,
                          a->ngrads == 0 && a->summed ? mode : STARPU_R);
        a->partial[a->ngrads++] = (uint8_t)i;
    }
}

/* Adds what makes the gradients in place of their handles. */
static void add_made(const struct cavs__updating *u, struct starpu_task *task,
                     const struct cavs__gradient *g, struct cavs__update_args *a,
                     enum starpu_data_access_mode mode)
{
    a->made = &g->made;
    a->ldg = u->e->tensors[g->kind->tensor[g->made.buffer]].ld;
    cavs__task_buffer(task, u->e->scratch, STARPU_SCRATCH);
    for (; g; g = g->next) {
        for (int i = 0; i < g->kind->nbuffers; i++)
            cavs__task_buffer(task, g->handles[i], g->kind->written[i] ? mode : STARPU_R);
    }
}

/* Adds the gradients that pieces of an update write. */
static void add_made_gradients(struct starpu_task *task, const struct cavs__gradient *g)
{
    for (; g; g = g->next) {
        for (int i = 0; i < g->kind->nbuffers; i++) {
            if (g->kind->written[i])
                cavs__task_buffer(task, g->handles[i], STARPU_RW);
        }
    }
}

static struct cavs__update_args *new_args(const struct cavs__updating *u,
                                          const struct cavs_param *p)
{
    struct cavs__arena *arena = &u->e->slots[u->slot].arena;
    struct cavs__update_args *a = cavs__arena_alloc(arena, sizeof *a);

    if (!a)
        return NULL;
    *a = (struct cavs__update_args){.rule = u->o->rule,
                                    .clip = u->o->clip,
                                    .rows = p->rows,
                                    .cols = p->cols,
                                    .number = p->number,
                                    .nstates = cavs__rules[u->o->rule.rule].states,
                                    .states_from = u->o->stored[p->number]->states_from,
                                    .nanoseconds = cavs__update_nanoseconds(u->e),
                                    .ld = u->e->tensors[u->e->plan->param[p->number]].ld};
    return a;
}

/* Makes a task with its arguments, without buffers.  NULL: reported. */
static struct starpu_task *new_task(const struct cavs__updating *u, const struct cavs_param *p,
                                    struct starpu_codelet *codelet)
{
    struct cavs__update_args *a = new_args(u, p);

    if (!a) {
        cavs__fail_nomem("task", sizeof *a);
        return NULL;
    }
    return cavs__task_create(u->e, u->slot, -1, codelet, a);
}

/* Adds what the tasks of norms and of updates both have last. */
static void add_lists_and_scratch(const struct cavs__updating *u, struct starpu_task *task,
                                  const struct cavs_param *p)
{
    if (cavs__sparse_rows(u, p))
        cavs__task_buffer(
            task, u->o->touched_lists[p->number].chunks[cavs__read_place(u->e, u->slot)].handle,
            STARPU_R);
    if (u->e->devices)
        cavs__task_buffer(task, u->e->scratch, STARPU_SCRATCH);
}

/* Keeps a task on CPUs if it updates some rows alone, since devices take all rows; and, for dense
 * parameters, where CPU workers have shards: they add to many partial gradients, each as large as
 * the parameter, all of which a device would fetch, and it would give values and copies back. */
static void place(const struct cavs__updating *u, const struct cavs_param *p, struct starpu_task *t)
{
    bool cut = u->share && !cavs__is_whole(u->share);

    if (cut || (!cavs__sparse_rows(u, p) && cavs__cpus_have_shards(u->e)))
        cavs__keep_off(t, cavs__devices->kinds());
}

static int add_task(struct cavs__updating *u, struct starpu_task *t)
{
    u->tasks[u->n++] = t;
    return cavs__task_complete(t);
}

/* Adds a task that has all its gradients, for the addresses of which there is room then. */
static int add_computing(struct cavs__updating *u, struct starpu_task *t)
{
    struct cavs__update_args *a = t->cl_arg;
    size_t n = (size_t)(a->ngrads > CAVS__PARTIALS ? a->ngrads : CAVS__PARTIALS);
    int rc = add_task(u, t);

    a->gradients = cavs__arena_alloc(&u->e->slots[u->slot].arena, n * sizeof *a->gradients);
    return rc || a->gradients ? rc : cavs__fail_nomem("task", n * sizeof *a->gradients);
}

bool cavs__updates_side_by_side(const struct cavs__engine *e)
{
    return e->rt->workers > 1 && e->rt->one_memory && e->join.grain <= 0;
}

int cavs__make_norm_task(struct cavs__updating *u, const struct cavs_param *p)
{
    struct starpu_task *t = new_task(u, p, &u->o->norm_codelet);
    struct cavs__update_args *a;

    if (!t)
        return CAVS_ENOMEM;
    a = t->cl_arg;
    place(u, p, t);
    cavs__task_buffer(t, u->o->norms.chunks[0].handle,
                      cavs__updates_side_by_side(u->e) ? STARPU_R : STARPU_RW);
    add_gradients(u, t, p, a, STARPU_RW);
    add_lists_and_scratch(u, t, p);
    return add_computing(u, t);
}

/* Does a copy go past the caches?  It does if it is large and nobody reads it soon.  After a batch
 * so small that gradients are made on the way the next one reads it at once, so copies had better
 * stay.  But where workers help, each updates some rows of w, and reads some panels: those of the
 * transposed copy are the rows that it has updated; those of the other are columns, of which others
 * write half the lines, and these take longer from one core's cache to another's than from
 * memory. */
static bool is_far(const struct cavs__updating *u, const struct cavs_param *p, int layout)
{
    const bool read_soon = u->e->made[p->number] != NULL,
               by_others = u->e->join.helping && layout == CAVS__LAYOUT_PANELS;

    return cavs__copy_is_far(p->rows, p->cols) && (!read_soon || by_others);
}

/* Adds the copies that there are of a parameter, and lists them in the arguments of the task, of
 * which a fence has none. */
static void add_copies(const struct cavs__updating *u, struct starpu_task *task,
                       const struct cavs_param *p, enum starpu_data_access_mode mode)
{
    const struct cavs__tensor *copies = u->o->stored[p->number]->copies;
    struct cavs__update_args *a = task->cl_arg;

    for (int l = 0; l < CAVS__LAYOUTS; l++) {
        if (!cavs__is_there(&copies[l]))
            continue;
        cavs__task_buffer(task, copies[l].chunks[0].handle, mode);
        if (a)
            a->copies[a->ncopies++] = (struct cavs__copy){
                .layout = (enum cavs__layout)l, .ld = copies[l].ld, .far = is_far(u, p, l)};
    }
}

/* Adds what an update writes: the parameter, its states, its copies. */
static void add_written(const struct cavs__updating *u, struct starpu_task *task,
                        const struct cavs_param *p, enum starpu_data_access_mode mode)
{
    cavs__task_buffer(task, u->e->tensors[u->e->plan->param[p->number]].chunks[0].handle, mode);
    for (int i = 0; i < cavs__rules[u->o->rule.rule].states; i++)
        cavs__task_buffer(task, u->o->stored[p->number]->state[i].chunks[0].handle, mode);
    add_copies(u, task, p, mode);
}

/* Makes the task take rows first .. first+rows-1 alone; of a sparse gradient, of the touched
 * rows. */
static void take_rows(struct cavs__update_args *a, int first, int rows)
{
    if (!a->sparse) {
        a->first = first;
        a->rows = rows;
        return;
    }
    a->ids += first;
    a->ptr += first;
    a->n = rows;
}

/* Has the update of a share wait for its turn. */
static void add_turn(const struct cavs__updating *u, struct starpu_task *t)
{
    starpu_data_handle_t after = u->share ? cavs__updates_after(u->o->exchange, u->slot) : NULL;

    if (after)
        cavs__task_buffer(t, after, STARPU_R);
}

int cavs__make_update_piece(struct cavs__updating *u, const struct cavs_param *p, int first,
                            int rows, enum starpu_data_access_mode mode)
{
    const struct cavs__gradient *made = u->e->made[p->number];
    struct starpu_task *t = new_task(u, p, &u->o->update_codelet);
    struct cavs__update_args *a;

    if (!t)
        return CAVS_ENOMEM;
    a = t->cl_arg;
    add_written(u, t, p, mode);
    if (made)
        add_made(u, t, made, a, mode);
    else
        add_gradients(u, t, p, a, STARPU_R);
    take_rows(a, first, rows);
    place(u, p, t);
    if (a->clip > 0) {
        a->nnorms = u->e->plan->model->nstored;
        cavs__task_buffer(t, u->o->norms.chunks[0].handle, STARPU_R);
    }
    if (!made)
        add_lists_and_scratch(u, t, p);
    add_turn(u, t);
    t->priority = 2; /* the next batch waits for all of them */
    return add_computing(u, t);
}

int cavs__make_update_fence(struct cavs__updating *u, const struct cavs_param *p)
{
    struct starpu_task *t = cavs__fence_create(u->e, u->slot);

    if (p)
        add_written(u, t, p, STARPU_RW);
    if (p && u->e->made[p->number])
        add_made_gradients(t, u->e->made[p->number]);
    if (!p)
        cavs__task_buffer(t, u->o->norms.chunks[0].handle, STARPU_RW);
    t->priority = 2;
    return add_task(u, t);
}

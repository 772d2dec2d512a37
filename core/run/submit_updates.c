/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit_updates.c - from the gradients of a batch to updates: one task per parameter, or pieces of
 * it, dense or by touched rows.
 *
 * Partial gradients of the shards are added in the order of shards, and occurrences of an id in the
 * order of rows, so the result does not depend on which worker ran what.
 */
#include <math.h>

#include "codelets/device_set.h"
#include "codelets/update_task.h"
#include "core/base/error.h"
#include "core/compile/work.h"
#include "core/run/optimizer.h"

/* Pieces of an update, which is bound by memory: that read and write so many numbers at least,
 * about a millisecond; with more than so many workers less, since all wait for the last piece. */
enum { MOST_PIECES = 16, PIECE_NUMBERS = 10 << 19, MANY_WORKERS = 8 };

/* The update of one batch. */
struct updating {
    struct cavs__optimizer *o;
    struct cavs__engine *e;
    const struct cavs__batch *b;
    int slot;
    const struct cavs__share *share; /* of the parameter that tasks are made for; NULL: all of it */
    int n; /* tasks, all made before the first is submitted: it happens to all parameters or none */
    int nnorms; /* of them, the first */
    struct starpu_task **tasks;
};

/* Which rows are updated of a parameter whose gradient is one of looked-up rows alone; NULL: its
 * gradient is dense, and all of its rows are. */
static const struct cavs__touched *touched(const struct updating *u, const struct cavs_param *p)
{
    if (!cavs__has_row_gradient(u->e->plan, p))
        return NULL;
    return u->o->exchange ? cavs__exchanged_rows(u->o->exchange, p, u->slot)
                          : u->b->touched[p->number];
}

/* The gradient of all ranks, without gaps between its rows. */
static void add_exchanged(const struct updating *u, struct starpu_task *task,
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

/* Adds the handles of the parameter's gradients to the task. */
static void add_gradients(const struct updating *u, struct starpu_task *task,
                          const struct cavs_param *p, struct cavs__update_args *a)
{
    struct cavs__engine *e = u->e;
    const struct cavs__touched *t = touched(u, p);
    int grad = e->plan->grad[p->number];

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
                              STARPU_R);
        a->ngrads += t->nlookups;
        return;
    }
    if (u->o->exchange && grad >= 0) {
        add_exchanged(u, task, p, a);
        return;
    }
    a->ldg = grad >= 0 ? e->tensors[grad].ld : 0;
    for (int i = 0; grad >= 0 && i < CAVS__MAX_PARTIALS; i++) {
        if (!e->grad_used[p->number][i])
            continue;
        cavs__task_buffer(task, e->tensors[grad].chunks[i].handle, STARPU_R);
        a->partial[a->ngrads++] = (uint8_t)i;
    }
}

/* What makes the gradient, in the place of gradients. */
static void add_made(const struct updating *u, struct starpu_task *task,
                     const struct cavs__gradient *g, struct cavs__update_args *a,
                     enum starpu_data_access_mode mode)
{
    a->made = &g->made;
    a->ldg = u->e->tensors[g->kind->tensor[g->made.buffer]].ld;
    for (int i = 0; i < g->kind->nbuffers; i++)
        cavs__task_buffer(task, g->handles[i], g->kind->written[i] ? mode : STARPU_R);
    cavs__task_buffer(task, u->e->scratch, STARPU_SCRATCH);
}

/* What pieces of it write. */
static void add_made_gradients(struct starpu_task *task, const struct cavs__gradient *g)
{
    for (int i = 0; i < g->kind->nbuffers; i++) {
        if (g->kind->written[i])
            cavs__task_buffer(task, g->handles[i], STARPU_RW);
    }
}

static int most_buffers(const struct updating *u, const struct cavs_param *p)
{
    const struct cavs__touched *t = touched(u, p);
    int n = 8 + CAVS__LAYOUTS + 2 * CAVS__MAX_PARTIALS + CAVS__MAX_BUFFERS;

    /* Not `n + (t ? nlookups : 0)`: gcc 14.2 makes that a product, and reads nlookups through the
     * NULL of a parameter that is not looked up. */
    if (t)
        n += t->nlookups;
    return n;
}

static struct cavs__update_args *new_args(const struct updating *u, const struct cavs_param *p)
{
    struct cavs__arena *arena = &u->e->slots[u->slot].arena;
    struct cavs__update_args *a = cavs__arena_alloc(arena, sizeof *a);
    const float **gradients =
        cavs__arena_alloc(arena, (size_t)most_buffers(u, p) * sizeof *gradients);

    if (!a || !gradients)
        return NULL;
    *a = (struct cavs__update_args){.rule = u->o->rule,
                                    .clip = u->o->clip,
                                    .rows = p->rows,
                                    .cols = p->cols,
                                    .number = p->number,
                                    .nstates = cavs__rules[u->o->rule.rule].states,
                                    .states_from = u->o->stored[p->number]->states_from,
                                    .gradients = gradients,
                                    .nanoseconds = cavs__update_nanoseconds(u->e),
                                    .ld = u->e->tensors[u->e->plan->param[p->number]].ld};
    return a;
}

/* With its arguments, without buffers.  NULL: reported. */
static struct starpu_task *new_task(const struct updating *u, const struct cavs_param *p,
                                    struct starpu_codelet *codelet)
{
    struct cavs__update_args *a = new_args(u, p);

    if (!a) {
        cavs__fail_nomem("task", sizeof *a);
        return NULL;
    }
    return cavs__task_create(u->e, u->slot, -1, codelet, a, most_buffers(u, p));
}

/* What both tasks have last. */
static void add_lists_and_scratch(const struct updating *u, struct starpu_task *task,
                                  const struct cavs_param *p)
{
    if (touched(u, p))
        cavs__task_buffer(
            task, u->o->touched_lists[p->number].chunks[cavs__read_place(u->e, u->slot)].handle,
            STARPU_R);
    if (u->e->devices)
        cavs__task_buffer(task, u->e->scratch, STARPU_SCRATCH);
}

/* To CPUs: some rows alone, since devices take all rows; and dense parameters where CPU workers
 * have shards. They add to many partial gradients, each as large as the parameter, and a device
 * would fetch all of them, and give values and copies back. */
static void place(const struct updating *u, const struct cavs_param *p, struct starpu_task *t)
{
    bool cut = u->share && !cavs__is_whole(u->share);

    if (cut || (!touched(u, p) && cavs__cpus_have_shards(u->e)))
        cavs__keep_off(t, cavs__devices->kinds());
}

/* Tasks may write different numbers of one block at the same time, between two fences. */
static bool side_by_side(const struct cavs__engine *e)
{
    return e->rt->workers > 1 && e->rt->one_memory && e->join.grain <= 0;
}

static int make_norm(struct updating *u, const struct cavs_param *p)
{
    struct starpu_task *t = new_task(u, p, &u->o->norm_codelet);
    struct cavs__update_args *a;

    if (!t)
        return CAVS_ENOMEM;
    a = t->cl_arg;
    place(u, p, t);
    cavs__task_buffer(t, u->o->norms.chunks[0].handle, side_by_side(u->e) ? STARPU_R : STARPU_RW);
    add_gradients(u, t, p, a);
    add_lists_and_scratch(u, t, p);
    u->tasks[u->n++] = t;
    return CAVS_OK;
}

static void add_copies(const struct updating *u, struct starpu_task *task,
                       const struct cavs_param *p, enum starpu_data_access_mode mode)
{
    const struct cavs__tensor *copies = u->o->stored[p->number]->copies;

    for (int l = 0; l < CAVS__LAYOUTS; l++) {
        if (cavs__is_there(&copies[l]))
            cavs__task_buffer(task, copies[l].chunks[0].handle, mode);
    }
}

/* What an update writes: the parameter, its states, its copies. */
static void add_written(const struct updating *u, struct starpu_task *task,
                        const struct cavs_param *p, enum starpu_data_access_mode mode)
{
    cavs__task_buffer(task, u->e->tensors[u->e->plan->param[p->number]].chunks[0].handle, mode);
    for (int i = 0; i < cavs__rules[u->o->rule.rule].states; i++)
        cavs__task_buffer(task, u->o->stored[p->number]->state[i].chunks[0].handle, mode);
    add_copies(u, task, p, mode);
}

static void list_copies(const struct updating *u, const struct cavs_param *p,
                        struct cavs__update_args *a)
{
    const struct cavs__tensor *copies = u->o->stored[p->number]->copies;

    for (int l = 0; l < CAVS__LAYOUTS; l++) {
        if (cavs__is_there(&copies[l]))
            a->copies[a->ncopies++] =
                (struct cavs__copy){.layout = (enum cavs__layout)l, .ld = copies[l].ld};
    }
}

/* Rows first .. first+rows-1 alone; of a sparse gradient, of those that are touched. */
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

/* mode: of what other pieces write, too, or nobody else. */
static int make_piece(struct updating *u, const struct cavs_param *p, int first, int rows,
                      enum starpu_data_access_mode mode)
{
    const struct cavs__gradient *made = u->e->made[p->number];
    struct starpu_task *t = new_task(u, p, &u->o->update_codelet);
    struct cavs__update_args *a;

    if (!t)
        return CAVS_ENOMEM;
    a = t->cl_arg;
    list_copies(u, p, a);
    add_written(u, t, p, mode);
    if (made)
        add_made(u, t, made, a, mode);
    else
        add_gradients(u, t, p, a);
    take_rows(a, first, rows);
    place(u, p, t);
    if (a->clip > 0) {
        a->nnorms = u->e->plan->model->nstored;
        cavs__task_buffer(t, u->o->norms.chunks[0].handle, STARPU_R);
    }
    if (!made)
        add_lists_and_scratch(u, t, p);
    t->priority = 2; /* the next batch waits for all of them */
    u->tasks[u->n++] = t;
    return CAVS_OK;
}

/* p: of what pieces of its update write; NULL: of the norms. */
static int make_fence(struct updating *u, const struct cavs_param *p)
{
    struct starpu_task *t = cavs__fence_create(u->e, u->slot, p ? most_buffers(u, p) : 1);

    if (!t)
        return CAVS_ENOMEM;
    if (p)
        add_written(u, t, p, STARPU_RW);
    if (p && u->e->made[p->number])
        add_made_gradients(t, u->e->made[p->number]);
    if (!p)
        cavs__task_buffer(t, u->o->norms.chunks[0].handle, STARPU_RW);
    t->priority = 2;
    u->tasks[u->n++] = t;
    return CAVS_OK;
}

/* Rows that an update changes. */
static int updated_rows(const struct updating *u, const struct cavs_param *p)
{
    const struct cavs__touched *t = touched(u, p);

    return t ? t->n : u->share ? u->share->rows : p->rows;
}

/* Numbers that are read and written for each of a parameter: of itself, its states and copies,
 * about, and of the gradients that are added up; two are nothing special. */
static int numbers_for_one(const struct updating *u, const struct cavs_param *p)
{
    int gradients = 0;

    for (int i = 0; i < CAVS__MAX_PARTIALS && !touched(u, p); i++)
        gradients += u->e->grad_used[p->number][i];
    return 8 + (gradients > 2 ? gradients : 2);
}

/* Into how many tasks a parameter is cut.  One worker cannot take all that memory gives; and
 * updates of small parameters are done beside one another. */
static int pieces_of(const struct updating *u, const struct cavs_param *p)
{
    const struct cavs__engine *e = u->e;
    int rows = updated_rows(u, p), workers = e->rt->workers,
        most = touched(u, p) ? MOST_PIECES : rows / CAVS__UPDATE_ROWS;
    int64_t piece = workers > MANY_WORKERS ? PIECE_NUMBERS * MANY_WORKERS / workers : PIECE_NUMBERS,
            n = (int64_t)rows * p->cols * numbers_for_one(u, p) / piece;

    if (!side_by_side(e))
        return 1;
    most = most < MOST_PIECES ? most : MOST_PIECES;
    n = n < most ? n : most;
    return n < 1 ? 1 : (int)n;
}

/* The first row of piece i of n. */
static int first_row(const struct updating *u, const struct cavs_param *p, int rows, int i, int n)
{
    int whole = touched(u, p) ? 1 : CAVS__UPDATE_ROWS;

    return i == n ? rows : (int)((int64_t)(rows / whole) * i / n * whole);
}

static int make_share(struct updating *u, const struct cavs_param *p)
{
    int n = pieces_of(u, p), rows = updated_rows(u, p), from = u->share ? u->share->first : 0, rc;

    if (n == 1)
        return make_piece(u, p, from, rows, STARPU_RW);
    rc = make_fence(u, p);
    for (int i = 0; i < n && !rc; i++) {
        int first = first_row(u, p, rows, i, n);

        rc = make_piece(u, p, from + first, first_row(u, p, rows, i + 1, n) - first, STARPU_R);
    }
    return rc ? rc : make_fence(u, p);
}

/* The i-th share of it that this rank has; where it is not shared out, NULL. */
static bool take_share(struct updating *u, const struct cavs_param *p, int i)
{
    u->share = u->o->exchange ? cavs__own_share(u->o->exchange, p, i) : NULL;
    return u->share || i == 0;
}

static int make_update(struct updating *u, const struct cavs_param *p)
{
    int rc = CAVS_OK;

    for (int i = 0; !rc && take_share(u, p, i); i++)
        rc = make_share(u, p);
    return rc;
}

/* By this rank. */
static bool is_updated(const struct updating *u, const struct cavs_param *p)
{
    return cavs__is_trained(p) && (!u->o->exchange || cavs__owns(u->o->exchange, p));
}

/* Each as soon as its gradient is there, whatever the others wait for: in one order, the last
 * ones would be made one after the other while all but one of the workers have nothing to do. */
static int make_norms(struct updating *u)
{
    const struct cavs_model *m = u->e->plan->model;
    bool fenced = side_by_side(u->e);
    int rc = fenced ? make_fence(u, NULL) : CAVS_OK;

    for (int i = 0; i < m->nstored && !rc; i++) {
        if (is_updated(u, m->params[i]) && take_share(u, m->params[i], 0))
            rc = make_norm(u, m->params[i]);
    }
    return rc || !fenced ? rc : make_fence(u, NULL);
}

static int make_all(struct updating *u)
{
    const struct cavs_model *m = u->e->plan->model;
    size_t shares = u->o->exchange ? (size_t)u->o->exchange->nshares : 0,
           bytes = (3 + MOST_PIECES) * ((size_t)m->nstored + shares + 1) * sizeof *u->tasks;
    int rc = CAVS_OK;

    u->tasks = cavs__arena_alloc(&u->e->slots[u->slot].arena, bytes);
    if (!u->tasks)
        return cavs__fail_nomem("update", bytes);
    if (u->o->clip > 0)
        rc = make_norms(u);
    u->nnorms = u->n;
    for (int made = 1; made >= 0; made--) { /* who makes a gradient may make another one, too */
        for (int i = 0; i < m->nstored && !rc; i++) {
            if (is_updated(u, m->params[i]) && made == (u->e->made[m->params[i]->number] != NULL))
                rc = make_update(u, m->params[i]);
        }
    }
    return rc;
}

/* The number of updates that the next one's rule goes by. */
static void set_step(struct cavs__optimizer *o, long step)
{
    o->store->step = step;
    o->rule.correction1 = (float)(1 - pow(o->rule.beta1, (double)step));
    o->rule.correction2 = (float)(1 - pow(o->rule.beta2, (double)step));
}

/* What an update should take: it is done number by number.  A fence takes nothing. */
static double seconds_of(const struct cavs__engine *e, const struct starpu_task *t)
{
    const struct cavs__update_args *a = t->cl_arg;

    if (!a)
        return 0;
    return (double)(a->sparse ? a->n : a->rows) * a->cols * e->rt->cost.rates.value +
           (a->made ? a->made->args->seconds : 0);
}

/* Those of other ranks, where there are some. */
static int share_norms(struct updating *u)
{
    int rc = CAVS_OK;

    if (u->o->clip <= 0 || !u->o->exchange)
        return rc;
    rc = cavs__join_flush(u->e, u->slot);
    return rc ? rc : cavs__submit_norms(u->o->exchange, u->slot, u->o->norms.chunks[0].handle);
}

/* Unless rc says that not all could be made.  Where some have been started and others cannot be,
 * what the session has is lost. */
static int submit_all(struct updating *u, int rc)
{
    struct cavs__engine *e = u->e;
    int started = 0;
    int64_t before = e->tasks;

    for (int i = 0; i < u->n; i++) {
        if (!rc && i == u->nnorms)
            rc = share_norms(u);
        if (rc) {
            cavs__task_drop(u->tasks[i]);
            continue;
        }
        before = e->tasks;
        rc = cavs__task_submit(e, u->slot, u->tasks[i], seconds_of(e, u->tasks[i]));
        started = !rc && e->join.n <= i ? i + 1 - e->join.n : started; /* others are kept */
    }
    if (!rc && u->n == u->nnorms) /* this rank has nothing to update */
        rc = share_norms(u);
    if (!rc) {
        before = e->tasks;
        rc = cavs__join_flush(e, u->slot);
    }
    if (!rc && u->o->exchange)
        rc = cavs__submit_values(u->o->exchange, u->slot);
    u->o->store->lost |= rc && (started > 0 || e->tasks != before);
    return rc;
}

int cavs__submit_updates(struct cavs__optimizer *o, struct cavs__engine *e,
                         const struct cavs__batch *b, int slot)
{
    struct updating u = {.o = o, .e = e, .b = b, .slot = slot};
    int rc;

    set_step(o, o->store->step + 1);
    rc = make_all(&u);
    rc = submit_all(&u, rc);
    if (rc)
        set_step(o, o->store->step - 1);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit_updates.c - from the gradients of a batch to updates: one task per parameter, or pieces of
 * it, dense or by touched rows.
 */
#include <math.h>

#include "codelets/update_task.h"
#include "core/base/error.h"
#include "core/run/updating.h"

/* Pieces of an update, which is bound by memory: that read and write so many numbers at least,
 * about a millisecond; with more than so many workers less, since all wait for the last piece. */
enum { MOST_PIECES = 16, PIECE_NUMBERS = 10 << 19, MANY_WORKERS = 8 };

/* How many rows an update changes. */
static int updated_rows(const struct cavs__updating *u, const struct cavs_param *p)
{
    const struct cavs__touched *t = cavs__sparse_rows(u, p);

    return t ? t->n : u->share ? u->share->rows : p->rows;
}

/* How many numbers are read and written for each number of a parameter, about: itself, its states
 * and copies, and the gradients that are added up; two of these are nothing special. */
static int numbers_for_one(const struct cavs__updating *u, const struct cavs_param *p)
{
    int gradients = 0;

    for (int i = 0; i < CAVS__MAX_PARTIALS && !cavs__sparse_rows(u, p); i++)
        gradients += u->e->grad_used[p->number][i];
    return 8 + (gradients > 2 ? gradients : 2);
}

/* Would pieces of touched rows write to the same words?  Two rows share the words of a bfloat16
 * copy, and each may be among the rows of any piece. */
static bool has_common_words(const struct cavs__updating *u, const struct cavs_param *p)
{
    return cavs__sparse_rows(u, p) &&
           cavs__is_there(&u->o->stored[p->number]->copies[CAVS__LAYOUT_BF16]);
}

/* Into how many tasks the update of a parameter is cut.  One worker cannot take all that memory
 * gives; but updates of small parameters run beside one another anyway. */
static int pieces_of(const struct cavs__updating *u, const struct cavs_param *p)
{
    const struct cavs__engine *e = u->e;
    int rows = updated_rows(u, p), workers = e->rt->workers,
        most = cavs__sparse_rows(u, p) ? MOST_PIECES : rows / CAVS__UPDATE_ROWS;
    int64_t piece = workers > MANY_WORKERS ? PIECE_NUMBERS * MANY_WORKERS / workers : PIECE_NUMBERS,
            n = (int64_t)rows * p->cols * numbers_for_one(u, p) / piece;

    if (!cavs__updates_side_by_side(e) || has_common_words(u, p))
        return 1;
    most = most < MOST_PIECES ? most : MOST_PIECES;
    n = n < most ? n : most;
    return n < 1 ? 1 : (int)n;
}

/* What an update reads and writes at least: the values, and as many numbers in each state. */
static double bytes_of(const struct cavs__updating *u, const struct cavs_param *p, int rows)
{
    return 2.0 * (1 + cavs__rules[u->o->rule.rule].states) * rows * p->cols * sizeof(float);
}

/* The first row of piece i of n. */
static int first_row(const struct cavs__updating *u, const struct cavs_param *p, int rows, int i,
                     int n)
{
    int whole = cavs__sparse_rows(u, p) ? 1 : CAVS__UPDATE_ROWS;

    return i == n ? rows : (int)((int64_t)(rows / whole) * i / n * whole);
}

static int make_share(struct cavs__updating *u, const struct cavs_param *p)
{
    int n = pieces_of(u, p), rows = updated_rows(u, p), from = u->share ? u->share->first : 0, rc;

    u->bytes += bytes_of(u, p, rows);
    if (n == 1)
        return cavs__make_update_piece(u, p, from, rows, STARPU_RW);
    rc = cavs__make_update_fence(u, p);
    for (int i = 0; i < n && !rc; i++) {
        int first = first_row(u, p, rows, i, n);

        rc = cavs__make_update_piece(u, p, from + first, first_row(u, p, rows, i + 1, n) - first,
                                     STARPU_R);
    }
    return rc ? rc : cavs__make_update_fence(u, p);
}

/* Takes the i-th share of the parameter that this rank owns; NULL stands for all of a parameter
 * that is not shared out.  false: there are not so many. */
static bool take_share(struct cavs__updating *u, const struct cavs_param *p, int i)
{
    u->share = u->o->exchange ? cavs__own_share(u->o->exchange, p, i) : NULL;
    return u->share || i == 0;
}

static int make_update(struct cavs__updating *u, const struct cavs_param *p)
{
    int rc = CAVS_OK;

    for (int i = 0; !rc && take_share(u, p, i); i++)
        rc = make_share(u, p);
    return rc;
}

/* Does this rank update the parameter? */
static bool is_updated(const struct cavs__updating *u, const struct cavs_param *p)
{
    return cavs__is_trained(u->e->plan, p) && (!u->o->exchange || cavs__owns(u->o->exchange, p));
}

/* Makes a task for each norm, which runs as soon as its gradient is there, whatever the others wait
 * for: in one order, the last ones would be made one after the other while all but one of the
 * workers have nothing to do. */
static int make_norms(struct cavs__updating *u)
{
    const struct cavs_model *m = u->e->plan->model;
    bool fenced = cavs__updates_side_by_side(u->e);
    int rc = fenced ? cavs__make_update_fence(u, NULL) : CAVS_OK;

    for (int i = 0; i < m->nstored && !rc; i++) {
        if (is_updated(u, m->params[i]) && take_share(u, m->params[i], 0))
            rc = cavs__make_norm_task(u, m->params[i]);
    }
    return rc || !fenced ? rc : cavs__make_update_fence(u, NULL);
}

static int make_all(struct cavs__updating *u)
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
    /* first those that make gradients: such an update may make another one's, too */
    for (int made = 1; made >= 0; made--) {
        for (int i = 0; i < m->nstored && !rc; i++) {
            if (is_updated(u, m->params[i]) && made == (u->e->made[m->params[i]->number] != NULL))
                rc = make_update(u, m->params[i]);
        }
    }
    return rc;
}

/* Sets the number of updates by which the rule of the next one goes. */
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
    double seconds;

    if (!a)
        return 0;
    seconds = (double)(a->sparse ? a->n : a->rows) * a->cols * e->rt->cost.rates.value;
    for (const struct cavs__made *g = a->made; g; g = g->next)
        seconds += g->args->seconds;
    return seconds;
}

/* Exchanges norms with other ranks, if there are any. */
static int share_norms(struct cavs__updating *u)
{
    int rc = CAVS_OK;

    if (u->o->clip <= 0 || !u->o->exchange)
        return rc;
    rc = cavs__join_flush(u->e, u->slot);
    return rc ? rc : cavs__submit_norms(u->o->exchange, u->slot, u->o->norms.chunks[0].handle);
}

/* Submits all tasks, unless rc says that not all could be made.  Where some have been started and
 * others cannot be, what the session has is lost. */
static int submit_all(struct cavs__updating *u, int rc)
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
        started = !rc && e->join.n <= i ? i + 1 - e->join.n : started; /* the others are kept */
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
    struct cavs__updating u = {.o = o, .e = e, .b = b, .slot = slot};
    int rc;

    set_step(o, o->store->step + 1);
    rc = make_all(&u);
    rc = submit_all(&u, rc);
    if (rc)
        set_step(o, o->store->step - 1);
    else
        o->bytes += u.bytes;
    return rc;
}

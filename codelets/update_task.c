/* SPDX-License-Identifier: Apache-2.0 */
/* update_task.c - see update_task.h. */
#include "codelets/update_task.h"

#include <math.h>

#include "core/base/stopwatch.h"
#include "codelets/task.h"
#include "codelets/products/claims.h"
#include "codelets/task_model.h"
#include "memory/handover.h"

static float *buffer(void *descr[], int i)
{
    return (float *)STARPU_MATRIX_GET_PTR(descr[i]);
}

/* Row 0 need not lie in the buffer, so its address is computed as an integer. */
static float *row_zero(const float *row, int number, ptrdiff_t ld)
{
    return (float *)((uintptr_t)row - (uintptr_t)(number * ld) * sizeof *row);
}

/* State i of the rule; NULL: the rule has no such state. */
static float *state(void *descr[], const struct cavs__update_args *a, int i)
{
    return i < a->nstates ? row_zero(buffer(descr, 1 + i), a->states_from, a->ld) : NULL;
}

static int gradients(void *descr[], const struct cavs__update_args *a, int first)
{
    for (int i = 0; !a->sparse && i < CAVS__PARTIALS; i++)
        a->gradients[i] = NULL;
    for (int i = 0; i < a->ngrads; i++)
        a->gradients[a->sparse ? i : a->partial[i]] =
            row_zero(buffer(descr, first + i) + a->at, a->grads_from, a->ldg);
    return first + a->ngrads;
}

static float clipped_scale(const struct cavs__update_args *a, const double *norms)
{
    double sum = 0, norm;

    for (int i = 0; i < a->nnorms; i++)
        sum += norms[i];
    norm = sqrt(sum) * a->rule.scale;
    return norm > a->clip ? (float)(a->rule.scale * (double)a->clip / norm) : a->rule.scale;
}

/* Rows whose gradient is made just before they are updated: the gradients of so few stay in L2,
 * where more would go to memory and come back. */
enum { MADE_ROWS = CAVS__UPDATE_ROWS };

/* An update whose rows several workers may claim. */
struct shared_update {
    void **descr;
    const struct cavs__update_args *a;
    const struct cavs__update *rule;
    float *w, *s0, *s1;
    const struct cavs__copy *copies;
};

/* Rows r .. r+m-1 of one gradient, in the place of the task's rows from `at` on; none: what else
 * its part does, before that or beside it.  Buffers of `made` from descr[b] on.  NULL: no row of
 * the batch has anything to do with them. */
static const float *make_rows(void *descr[], const struct cavs__update_args *a,
                              const struct cavs__made *made, int b, int r, int m, int at)
{
    void *buffers[CAVS__MAX_BUFFERS] = {NULL};
    bool added = false;
    float *g;

    for (int i = 0; i < made->args->nbuffers - 1; i++)
        buffers[i] = buffer(descr, b + i);
    g = (float *)buffers[made->buffer] + (a->first + at) * a->ldg;
    cavs__part_run_window(made->args, buffers, buffer(descr, 1 + a->nstates + a->ncopies),
                          &(struct cavs__window){.step = made->step,
                                                 .from = r,
                                                 .rows = m,
                                                 .out = g,
                                                 .ld = a->ldg,
                                                 .begins = m == 0,
                                                 .sums = m == 0 && a->first == 0,
                                                 .added = &added});
    return added ? row_zero(g, r, a->ldg) : NULL;
}

/* Makes all gradients of the rows; returns one more than the number of the last gradient. */
static int make_gradients(void *descr[], const struct cavs__update_args *a, int r, int m, int at,
                          const float **gradients)
{
    int b = 1 + a->nstates + a->ncopies + 1, n = 0;

    for (const struct cavs__made *g = a->made; g; g = g->next) {
        while (n < g->partial)
            gradients[n++] = NULL;
        gradients[n++] = make_rows(descr, a, g, b, r, m, at);
        b += g->args->nbuffers - 1;
    }
    return n;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Applies the rule to rows as soon as their gradient is made; the gradient lies in a place that the
 * claimant has to itself. */
static void update_as_made(const void *what, int claimant, int from, int to)
{
    const struct shared_update *u = what;
    const struct cavs__update_args *a = u->a;
    const float *gradients[CAVS__PARTIALS];
    const int at = a->rows / MADE_ROWS < CAVS__CLAIMANTS ? from : claimant;

    for (int i = from; i < to; i++) {
        const int r = a->first + i * MADE_ROWS, m = smaller(MADE_ROWS, a->rows - i * MADE_ROWS),
                  n = make_gradients(u->descr, a, r, m, at * MADE_ROWS, gradients);
        const uint64_t start = cavs__stopwatch_start(a->nanoseconds);

        cavs__update_dense(u->rule, r, m, a->cols, u->w, a->ld, u->s0, u->s1, n, gradients, a->ldg,
                           a->ncopies, u->copies);
        cavs__stopwatch_stop(a->nanoseconds, start);
    }
}

static void update_rows(const void *what, int claimant, int from, int to)
{
    const struct shared_update *u = what;
    const struct cavs__update_args *a = u->a;
    const int first = from * MADE_ROWS, end = smaller(a->rows, to * MADE_ROWS);

    (void)claimant;
    cavs__update_dense(u->rule, a->first + first, end - first, a->cols, u->w, a->ld, u->s0, u->s1,
                       CAVS__PARTIALS, a->gradients, a->ldg, a->ncopies, u->copies);
}

static void share_update(const struct shared_update *u)
{
    _Static_assert(sizeof *u <= CAVS__CLAIMED_BYTES, "helpers get a copy of it");
    const struct cavs__update_args *a = u->a;

    if (a->made)
        make_gradients(u->descr, a, a->first, 0, 0, a->gradients);
    cavs__claimed_evenly(a->made ? update_as_made : update_rows, u, sizeof *u,
                         (a->rows + MADE_ROWS - 1) / MADE_ROWS, (uintptr_t)u->w);
}

/* A parameter that is only looked up has copies if another session, with which it is shared,
 * multiplies by it. */
static void copy_rows(const struct cavs__update_args *a, const int32_t *ids, const float *w,
                      const struct cavs__copy *copies)
{
    for (int k = 0; k < a->ncopies; k++) {
        for (int i = 0; i < a->n; i++)
            cavs__copy_block(&copies[k], ids[i], 0, 1, a->cols, w + (ptrdiff_t)ids[i] * a->ld,
                             a->ld);
    }
    cavs__copies_end(a->ncopies, copies);
}

static void update(void *descr[], const struct cavs__update_args *a)
{
    struct cavs__update rule = a->rule;
    const float **g = a->gradients;
    int b = 1 + a->nstates;
    float *w = buffer(descr, 0), *s0 = state(descr, a, 0), *s1 = state(descr, a, 1);
    struct cavs__copy copies[CAVS__LAYOUTS];

    for (int i = 0; i < a->ncopies; i++) {
        copies[i] = a->copies[i];
        copies[i].p = buffer(descr, b++);
    }
    if (a->made) {
        share_update(&(struct shared_update){descr, a, &rule, w, s0, s1, copies});
        return;
    }
    b = gradients(descr, a, b);
    if (a->nnorms > 0)
        rule.scale = clipped_scale(a, (const double *)buffer(descr, b++));
    if (a->sparse) {
        const int32_t *lists = (const int32_t *)buffer(descr, b);

        cavs__update_sparse(&rule, a->n, lists + a->ids, lists + a->ptr, lists + a->source,
                            lists + a->row, a->cols, w, a->ld, s0, s1, g, a->ldg, a->summed);
        copy_rows(a, lists + a->ids, w, copies);
    } else {
        share_update(&(struct shared_update){descr, a, &rule, w, s0, s1, copies});
    }
}

static void add_norm(void *descr[], const struct cavs__update_args *a)
{
    const float **g = a->gradients;
    double *norms = (double *)buffer(descr, 0);
    int b = gradients(descr, a, 1);
    float *const *written = (float *const *)g; /* where the task may do that */

    if (a->sparse) {
        const int32_t *lists = (const int32_t *)buffer(descr, b);

        norms[a->number] =
            cavs__squares_sparse(a->n, lists + a->ptr, lists + a->source, lists + a->row, a->cols,
                                 g, a->ldg, a->summed ? written : NULL);
    } else {
        norms[a->number] = cavs__squares_dense(a->rows, a->cols, CAVS__PARTIALS, g, a->ldg,
                                               a->summed ? written[a->partial[0]] : NULL);
    }
}

typedef void work(void *descr[], const struct cavs__update_args *a);

static void run(work *what, void *descr[], const struct cavs__update_args *a)
{
    uint64_t *sum, start;

    cavs__handover_begin();
    sum = a->made ? NULL : a->nanoseconds; /* steps of parts have their own */
    start = cavs__stopwatch_start(sum);
    what(descr, a);
    cavs__stopwatch_stop(sum, start);
    cavs__handover_end();
}

static void run_update(void *descr[], void *arg)
{
    run(update, descr, arg);
}

static void run_norm(void *descr[], void *arg)
{
    run(add_norm, descr, arg);
}

static uint32_t footprint(struct starpu_task *task)
{
    const struct cavs__update_args *a;

    cavs__handover_asked(task);
    a = task->cl_arg;
    return (uint32_t)(a->sparse ? a->n / 64 : a->rows) * 2654435761u ^ (uint32_t)a->cols << 4 ^
           (uint32_t)a->ngrads ^ (a->made ? 1u << 30 : 0);
}

/* Updates are bound by memory. Of each number there is one in every buffer, and what is written is
 * read, too. */
static size_t size(struct starpu_task *task, unsigned implementation)
{
    const struct cavs__update_args *a;

    (void)implementation;
    cavs__handover_asked(task);
    a = task->cl_arg;
    return (size_t)(a->sparse ? a->n : a->rows) * (size_t)a->cols *
               (size_t)(2 + 2 * a->nstates + a->ncopies + (a->sparse ? 1 : a->ngrads)) / 4 +
           1;
}

/* What size() gives is a quarter of the numbers. */
static struct cavs__device_work device_work(struct starpu_task *task)
{
    return (struct cavs__device_work){.launches = 1,
                                      .bytes = (double)size(task, 0) * 4 * sizeof(float)};
}

static void init_codelet(struct starpu_codelet *cl, const char *name, starpu_cpu_func_t func)
{
    starpu_codelet_init(cl);
    cl->cpu_funcs[0] = func;
    cl->cpu_funcs_name[0] = name;
    cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
    cl->name = name;
    cl->model = cavs__task_model(name, &(struct cavs__task_measure){footprint, size, device_work});
}

void cavs__update_codelet(struct starpu_codelet *cl, bool clips)
{
    init_codelet(cl, "cavs_update", run_update);
    cavs__task_run_on_devices(cl, clips, cavs__devices->run_update);
}

void cavs__norm_codelet(struct starpu_codelet *cl)
{
    init_codelet(cl, "cavs_norm", run_norm);
    cavs__task_run_on_devices(cl, true, cavs__devices->run_norm);
}

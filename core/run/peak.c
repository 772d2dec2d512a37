/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c - what all CPU workers can do at once: the rates that a roofline is drawn from. */
#include <stdlib.h>
#include <string.h>

#include "codelets/kernels/row_sums.h"
#include "codelets/products/gemm.h"
#include "core/base/error.h"
#include "core/run/runtime.h"
#include "memory/handover.h"

enum { TRIES = 5 };

/* ---- side by side ---- */

/* What one worker does, and the memory that it has for that. */
struct turn {
    void (*work)(struct turn *turn);
    const struct cavs__gemm_provider *provider;
    const float *a, *b; /* shared by all workers */
    float *x, *y;       /* this worker's own */
    double seconds;     /* how long it took */
};

static void take_turn(void *descr[], void *arg)
{
    struct turn *turn = arg;
    double t0 = starpu_timing_now();

    (void)descr;
    cavs__handover_begin();
    turn->work(turn);
    turn->seconds = (starpu_timing_now() - t0) * 1e-6;
    cavs__handover_end();
}

static struct starpu_codelet turn_codelet = {
    .cpu_funcs = {take_turn}, .cpu_funcs_name = {"take_turn"}, .nbuffers = 0, .name = "cavs_peak"};

/* Has all workers take their turn at the same time. */
static int take_turns(int n, const int *workers, struct turn *turns)
{
    cavs__workers_wake();
    for (int i = 0; i < n; i++) {
        struct starpu_task *t = starpu_task_create();

        t->cl = &turn_codelet;
        t->cl_arg = &turns[i];
        t->execute_on_a_specific_worker = 1;
        t->workerid = (unsigned)workers[i];
        cavs__handover_submit(t);
        if (starpu_task_submit(t) != 0) {
            starpu_task_wait_for_all();
            return cavs__fail(CAVS_ERUNTIME, "StarPU refused the peak task");
        }
    }
    starpu_task_wait_for_all();
    cavs__handover_waited();
    return CAVS_OK;
}

/* The best rate of some tries; in each try the rates of all workers, each of which does so much,
 * are added up. */
static double best_rate(int n, const int *workers, struct turn *turns, double much)
{
    double best = 0;

    for (int k = 0; k < TRIES; k++) {
        int rc = take_turns(n, workers, turns);
        double rate = 0;

        if (rc)
            return rc;
        for (int i = 0; i < n; i++)
            rate += much / turns[i].seconds * 1e-9;
        best = rate > best ? rate : best;
    }
    return best;
}

/* Lists the CPU workers.  Returns how many there are, or a code. */
static int find_workers(struct cavs_runtime *rt, const char *who, int *workers)
{
    int rc = cavs__runtime_ready(rt, who), n;

    if (rc)
        return rc;
    n = (int)starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, workers, STARPU_NMAXWORKERS);
    return n > 0 ? n : cavs__fail(CAVS_ERUNTIME, "no CPU worker to measure");
}

static void free_turns(int n, struct turn *turns)
{
    for (int i = 0; i < n; i++) {
        free(turns[i].x);
        free(turns[i].y);
    }
}

/* ---- products ---- */

enum { SIZE = 2048 };

static void multiply(struct turn *t)
{
    t->provider->gemm(SIZE, SIZE, SIZE, t->a, SIZE, t->b, SIZE, t->y, SIZE, false);
}

static float *matrix(void)
{
    float *m = malloc((size_t)SIZE * SIZE * sizeof *m);

    for (int i = 0; m && i < SIZE * SIZE; i++)
        m[i] = (float)(i % 13) / 13;
    return m;
}

static double best_product(int n, const int *workers, struct turn *turns)
{
    double best = 0;

    for (int i = 0; cavs__gemm_providers[i]; i++) {
        const struct cavs__gemm_provider *p = cavs__gemm_providers[i];
        double rate;

        if (!p->available() || strcmp(p->name, "reference") == 0)
            continue;
        for (int k = 0; k < n; k++)
            turns[k].provider = p;
        rate = best_rate(n, workers, turns, 2.0 * SIZE * SIZE * SIZE);
        if (rate < 0)
            return rate;
        best = rate > best ? rate : best;
    }
    return best;
}

double cavs_runtime_sgemm_peak(struct cavs_runtime *rt)
{
    int workers[STARPU_NMAXWORKERS], n = find_workers(rt, "cavs_runtime_sgemm_peak", workers);
    struct turn turns[n > 0 ? n : 1];
    float *a, *b;
    bool there;
    double rate;

    if (n < 0)
        return n;
    a = matrix();
    b = matrix();
    there = a && b;
    for (int i = 0; i < n; i++) {
        turns[i] = (struct turn){.work = multiply, .a = a, .b = b, .y = matrix()};
        there &= turns[i].y != NULL;
    }
    rate = there ? best_product(n, workers, turns)
                 : cavs__fail_nomem("peak", (size_t)SIZE * SIZE * sizeof *a);
    free_turns(n, turns);
    free(a);
    free(b);
    return rate;
}

/* ---- memory ---- */

/* Two arrays of 32 MB: more than a worker's part of any cache. */
enum { NUMBERS = 8 << 20 };

/* Writes to the arrays: a page that nobody has written to has no memory of its own. */
static void fill(struct turn *t)
{
    for (int i = 0; i < NUMBERS; i++)
        t->x[i] = t->y[i] = 1;
}

static void add(struct turn *t)
{
    cavs__add_row(NUMBERS, t->x, t->y);
}

static double best_sum(int n, const int *workers, struct turn *turns)
{
    int rc = take_turns(n, workers, turns);

    for (int i = 0; i < n; i++)
        turns[i].work = add;
    return rc ? rc : best_rate(n, workers, turns, 3.0 * NUMBERS * sizeof(float));
}

double cavs_runtime_memory_peak(struct cavs_runtime *rt)
{
    int workers[STARPU_NMAXWORKERS], n = find_workers(rt, "cavs_runtime_memory_peak", workers);
    struct turn turns[n > 0 ? n : 1];
    bool there = true;
    double rate;

    if (n < 0)
        return n;
    for (int i = 0; i < n; i++) {
        turns[i] = (struct turn){.work = fill,
                                 .x = malloc(NUMBERS * sizeof(float)),
                                 .y = malloc(NUMBERS * sizeof(float))};
        there &= turns[i].x && turns[i].y;
    }
    rate = there ? best_sum(n, workers, turns)
                 : cavs__fail_nomem("peak", (size_t)NUMBERS * sizeof(float));
    free_turns(n, turns);
    return rate;
}

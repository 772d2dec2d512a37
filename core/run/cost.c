/* SPDX-License-Identifier: Apache-2.0 */
/* cost.c - see cost.h. */
#include "core/run/cost.h"

#include <math.h>
#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

#include "codelets/kernels/kernel.h"
#include "codelets/products/bf16.h"
#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"
#include "core/base/notice.h"
#include "core/run/engine.h"
#include "core/run/simulated.h"

enum { WIDTH = 256, TRIES = 5, TASKS = 64, HANDLES = 6 };

/* Rough figures of one core of a current server. */
const struct cavs__rates cavs__nominal_rates = {.gemm = {2.5e-11, 1.5e-11, 1.25e-11, 1.25e-11},
                                                .value = 1e-9};
#define NOMINAL_TASK 5e-6

/* Tasks of the chain have twice as many handles as the empty ones measured here, with memory behind
 * them. */
#define FULL 2

/* A task of the chain should be worth this many times what the runtime spends on it. */
#define WORTH 60

static double now(void)
{
    return starpu_timing_now() * 1e-6;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double within(double x, double least, double most)
{
    return x < least ? least : smaller(x, most);
}

/* ---- products ---- */

static double time_product(const struct cavs__call *call, int rows, float *x, float *w, float *y)
{
    ptrdiff_t pitch = call->bf16     ? cavs__bf16_panel_size(WIDTH)
                      : call->panels ? WIDTH * CAVS__PANEL
                                     : WIDTH;
    struct cavs__view v[] = {{.p = x, .ld = WIDTH, .cols = WIDTH},
                             {.p = w, .ld = pitch, .cols = WIDTH},
                             {.p = y, .ld = WIDTH, .cols = WIDTH}};
    double best = 1;

    for (int i = 0; i < TRIES; i++) {
        double start = now();

        call->kernel->cpu(call, rows, v, 0);
        best = smaller(best, now() - start);
    }
    return best / (2.0 * rows * WIDTH * WIDTH);
}

static void measure_products(const struct cavs__call *call, struct cavs__rates *r)
{
    const size_t n = (size_t)WIDTH * WIDTH;
    float *p = calloc(3 * n, sizeof *p);

    for (int i = 0; p && i < CAVS__RATE_SIZES; i++)
        r->gemm[i] = within(time_product(call, 1 << 2 * i, p, p + n, p + 2 * n), 1e-13, 1e-8);
    free(p);
}

void cavs__cost_measure_bf16(struct cavs__rates *r)
{
    measure_products(&(struct cavs__call){.kernel = cavs__kernel_find("gemm"), .bf16 = true}, r);
}

/* ---- tasks ---- */

static void do_nothing(void *descr[], void *arg)
{
    (void)descr;
    (void)arg;
}

static struct starpu_codelet codelet = {.cpu_funcs = {do_nothing},
                                        .cpu_funcs_name = {"do_nothing"},
                                        .nbuffers = STARPU_VARIABLE_NBUFFERS,
                                        .name = "cavs_nothing"};

/* One after the other, as the V_t of a chain; seconds a task, negative: StarPU refused. */
static double time_tasks(starpu_data_handle_t *h)
{
    double start = now();
    int rc = 0;

    for (int i = 0; i < TASKS && !rc; i++) {
        struct starpu_task *t = starpu_task_create();

        t->cl = &codelet;
        t->nbuffers = HANDLES;
        for (int k = 0; k < HANDLES; k++) {
            t->handles[k] = h[k];
            t->modes[k] = k == 0 ? STARPU_RW : STARPU_R;
        }
        rc = starpu_task_submit(t);
        if (rc) {
            t->destroy = 0;
            starpu_task_destroy(t);
        }
    }
    starpu_task_wait_for_all();
    return rc ? -1 : (now() - start) / TASKS;
}

static void measure_tasks(struct cavs__cost_model *c)
{
    starpu_data_handle_t h[HANDLES];
    double best = 1;

    for (int i = 0; i < HANDLES; i++)
        starpu_void_data_register(&h[i]);
    for (int i = 0; i < TRIES && best > 0; i++)
        best = smaller(best, time_tasks(h));
    for (int i = 0; i < HANDLES; i++)
        starpu_data_unregister(h[i]);
    if (best > 0)
        c->task = within(FULL * best, 4e-6, 50e-6);
}

/* ---- given ---- */

/* CAVS_COST: microseconds of a task; GFLOP/s of products of 1, 4, 16 and 64 rows; where the machine
 * is simulated also microseconds of a sample that is scheduled, and laid out, of a task that is
 * submitted, and of its worker around it. */
static bool given(struct cavs__cost_model *c)
{
    const char *text = getenv("CAVS_COST");
    double task, rate[CAVS__RATE_SIZES], arrange = 0, lay_out = 0, submit = 0, around = 0;

    if (!text || !*text)
        return false;
    if (sscanf(text, "%lf %lf %lf %lf %lf %lf %lf %lf %lf", &task, &rate[0], &rate[1], &rate[2],
               &rate[3], &arrange, &lay_out, &submit, &around) < 5) {
        cavs__notice("CAVS_COST=%s is not five numbers, a task's microseconds and four rates in "
                     "GFLOP/s: they are measured",
                     text);
        return false;
    }
    c->given = true;
    c->task = within(task * 1e-6, 1e-9, 1);
    for (int i = 0; i < CAVS__RATE_SIZES; i++)
        c->rates.gemm[i] = within(1e-9 / rate[i], 1e-13, 1e-8);
    c->arrange = arrange * 1e-6;
    c->lay_out = lay_out * 1e-6;
    c->submit = submit * 1e-6;
    c->around = around * 1e-6;
    return true;
}

void cavs__cost_measure(struct cavs__cost_model *c, bool quiet)
{
    *c = (struct cavs__cost_model){.task = NOMINAL_TASK, .rates = cavs__nominal_rates};
    if (given(c) || cavs__simulated_cores() > 0)
        return;
    measure_products(&(struct cavs__call){.kernel = cavs__kernel_find("gemm"),
                                          .panels = cavs__gemm()->gemm_panels},
                     &c->rates);
    if (!quiet && starpu_cpu_worker_get_count() > 0)
        measure_tasks(c);
}

double cavs__grain(const struct cavs__engine *e)
{
    return e->options->grain > 0 ? (double)e->options->grain : WORTH * e->rt->cost.task;
}

double cavs__device_grain(const struct cavs__engine *e)
{
    if (cavs__policies[e->options->policy].alone)
        return 0;
    return e->options->grain > 0 ? (double)e->options->grain : INFINITY;
}

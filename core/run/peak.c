/* SPDX-License-Identifier: Apache-2.0 */
/* peak.c - the sgemm rate of all CPU workers at once: what a roofline is measured against. */
#include <stdlib.h>
#include <string.h>

#include "codelets/products/gemm.h"
#include "core/base/error.h"
#include "core/run/runtime.h"
#include "memory/handover.h"

enum { SIZE = 2048, TRIES = 5 };

struct product {
    const struct cavs__gemm_provider *provider;
    const float *a, *b; /* shared by all workers */
    float *c;           /* of one worker */
    double seconds;
};

static void run_product(void *descr[], void *arg)
{
    struct product *p = arg;
    double t0 = starpu_timing_now();

    (void)descr;
    cavs__handover_begin();
    p->provider->gemm(SIZE, SIZE, SIZE, p->a, SIZE, p->b, SIZE, p->c, SIZE, false);
    p->seconds = (starpu_timing_now() - t0) * 1e-6;
    cavs__handover_end();
}

static struct starpu_codelet product_codelet = {.cpu_funcs = {run_product},
                                                .cpu_funcs_name = {"run_product"},
                                                .nbuffers = 0,
                                                .name = "cavs_peak"};

static float *matrix(void)
{
    float *m = malloc((size_t)SIZE * SIZE * sizeof *m);

    for (int i = 0; m && i < SIZE * SIZE; i++)
        m[i] = (float)(i % 13) / 13;
    return m;
}

/* One product on every worker at the same time; the rates add up. */
static double try_once(const struct cavs__gemm_provider *provider, int n, const int *workers,
                       const float *a, const float *b, float *const *c)
{
    struct product p[n];
    double rate = 0;

    cavs__workers_wake();
    for (int i = 0; i < n; i++) {
        struct starpu_task *t = starpu_task_create();

        p[i] = (struct product){.provider = provider, .a = a, .b = b, .c = c[i]};
        t->cl = &product_codelet;
        t->cl_arg = &p[i];
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
    for (int i = 0; i < n; i++)
        rate += 2.0 * SIZE * SIZE * SIZE / p[i].seconds * 1e-9;
    return rate;
}

static double best_rate(int n, const int *workers, const float *a, const float *b, float *const *c)
{
    double best = 0;

    for (int i = 0; cavs__gemm_providers[i]; i++) {
        const struct cavs__gemm_provider *p = cavs__gemm_providers[i];

        if (!p->available() || strcmp(p->name, "reference") == 0)
            continue;
        for (int k = 0; k < TRIES; k++) {
            double rate = try_once(p, n, workers, a, b, c);

            if (rate < 0)
                return rate;
            if (rate > best)
                best = rate;
        }
    }
    return best;
}

double cavs_runtime_sgemm_peak(struct cavs_runtime *rt)
{
    int workers[STARPU_NMAXWORKERS];
    int rc = cavs__runtime_ready(rt, "cavs_runtime_sgemm_peak");
    int n = !rc ? (int)starpu_worker_get_ids_by_type(STARPU_CPU_WORKER, workers, STARPU_NMAXWORKERS)
                : 0;
    float *a = matrix(), *b = matrix(), *c[n + 1];
    bool there = a && b;
    double rate;

    for (int i = 0; i < n; i++) {
        c[i] = matrix();
        there &= c[i] != NULL;
    }
    rate = rc       ? rc
           : n <= 0 ? cavs__fail(CAVS_ERUNTIME, "no CPU worker to measure")
           : !there ? cavs__fail_nomem("peak", (size_t)SIZE * SIZE * sizeof *a)
                    : best_rate(n, workers, a, b, c);
    for (int i = 0; i < n; i++)
        free(c[i]);
    free(a);
    free(b);
    return rate;
}

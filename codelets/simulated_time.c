/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simulated_time.c - how long tasks take on a simulated machine: what StarPU has recorded of them.
 *
 * Histories are those of a run on a machine that is there (STARPU_CALIBRATE=1), in the folder that
 * STARPU_PERF_MODEL_DIR names.  On another machine a batch is cut in another way, so tasks have
 * sizes that were never seen: their time follows from those of the next sizes that were.  Kinds
 * that were never seen (what ranks do with messages, where one process was recorded) take what
 * they are worth.
 *
 * GPUs have no histories: CAVS_DEVICE_COST has microseconds of a launch, GFLOP/s of products and
 * GB/s of memory (perf/gpu_model.py finds them), and a task takes the sum of what it is of the
 * three.
 */
#include "codelets/task_model.h"

#ifdef CAVS_SIMULATED

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Tasks that are alike: what the first of them was worth, the mean time of all, and how many. */
struct bucket {
    uint32_t footprint;
    double log_size, us_per_size, n;
};

struct history {
    struct starpu_perfmodel *of, recorded; /* StarPU keeps a pointer to the second */
    struct cavs__device_work (*device_work)(struct starpu_task *task);
    bool sought;
    int n;
    struct bucket *buckets;
    struct history *next;
};

static struct history *histories;
static double overhead, device_overhead;

/* Histories have one size for tasks that differ by up to a quarter, so a task takes what those of
 * about its size took on average; those with its own footprint count most. */
#define ABOUT 0.15 /* of the logarithm */
#define OWN   10

static void read_history(struct history *h)
{
    struct starpu_perfmodel_per_arch *cpu;
    int n = 0;

    h->sought = true;
    if (starpu_perfmodel_load_symbol(h->of->symbol, &h->recorded) != 0)
        return;
    cpu = starpu_perfmodel_get_model_per_devices(&h->recorded, 0, STARPU_CPU_WORKER, 0, 1, -1);
    for (struct starpu_perfmodel_history_list *l = cpu ? cpu->list : NULL; l; l = l->next)
        n += l->entry->nsample > 0;
    h->buckets = calloc((size_t)n + 1, sizeof *h->buckets);
    for (struct starpu_perfmodel_history_list *l = cpu && h->buckets ? cpu->list : NULL; l;
         l = l->next) {
        const struct starpu_perfmodel_history_entry *e = l->entry;

        if (e->nsample > 0)
            h->buckets[h->n++] = (struct bucket){e->footprint, log((double)e->size),
                                                 e->mean / (double)e->size, e->nsample};
    }
}

static struct history *history_of(const struct starpu_perfmodel *model)
{
    struct history *h = histories;

    while (h && h->of != model)
        h = h->next;
    return h;
}

static double nearest(const struct history *h, double log_size)
{
    double d = INFINITY;

    for (int i = 0; i < h->n; i++)
        d = fmin(d, fabs(h->buckets[i].log_size - log_size));
    return d;
}

/* The estimate in microseconds. Beyond the sizes that were seen, time grows in proportion to
 * size. */
static double average(const struct history *h, uint32_t footprint, double size)
{
    double d0 = nearest(h, log(size)), sum = 0, weights = 0;

    for (int i = 0; i < h->n; i++) {
        const struct bucket *b = &h->buckets[i];
        double d = (fabs(b->log_size - log(size)) - d0) / ABOUT;
        double weight = b->n * exp(-d * d) * (b->footprint == footprint ? OWN : 1);

        sum += weight * b->us_per_size;
        weights += weight;
    }
    return sum / weights * size;
}

/* Microseconds. */
static double on_device(const struct history *h, struct starpu_task *task)
{
    static double launch, gflops, gbytes;
    const char *text = getenv("CAVS_DEVICE_COST");
    struct cavs__device_work w;

    if (!h->device_work ||
        (gflops == 0 && (!text || sscanf(text, "%lf %lf %lf", &launch, &gflops, &gbytes) != 3)))
        return NAN;
    w = h->device_work(task);
    return w.launches * launch + 1e-3 * (w.flops / gflops + w.bytes / gbytes);
}

static double time_of(struct starpu_task *task, struct starpu_perfmodel_arch *arch, unsigned impl)
{
    struct starpu_perfmodel *model = task->cl->model;
    struct history *h = history_of(model);
    double size = (double)model->size_base(task, impl);

    if (!h)
        return NAN;
    if (arch->devices[0].type != STARPU_CPU_WORKER)
        return on_device(h, task) + device_overhead;
    if (!h->sought)
        read_history(h);
    return (h->n > 0 ? average(h, model->footprint(task), size) : size * 1e-3) + overhead;
}

void cavs__simulate_overhead(double us, double device_us)
{
    overhead = us;
    device_overhead = device_us;
}

void cavs__simulate_model(struct starpu_perfmodel *model, const struct cavs__task_measure *measure)
{
    struct history *h = calloc(1, sizeof *h);

    if (h) {
        *h = (struct history){.of = model, .device_work = measure->device_work, .next = histories};
        histories = h;
    }
    model->type = STARPU_PER_ARCH;
    model->arch_cost_function = time_of;
}

#endif

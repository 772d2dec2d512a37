/* SPDX-License-Identifier: Apache-2.0 */
/* offer.c - what the engine and the codelets see of devices: the record of
 * codelets/device_set.h. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device/device.h"
#include "codelets/device/products.h"
#include "codelets/device/walk.h"

/* ---- which there are ---- */

static uint32_t kinds(void)
{
    uint32_t where = 0;

    for (int i = 0; i < cavs__backends_count; i++)
        where |= cavs__backends[i].where;
    return where;
}

static bool usable(int number)
{
    return cavs__device_at(number) != NULL;
}

static struct cavs__device_facts facts(int number)
{
    const struct cavs__device *d = cavs__device_at(number);
    struct cavs__device_facts f = {0};

    if (!d)
        return f;
    f = (struct cavs__device_facts){.name = d->name,
                                    .where = d->backend->where,
                                    .has_double = d->has_double,
                                    .rounds = d->driver->rounds,
                                    .bytes = -1};
    for (unsigned w = 0; w < starpu_worker_get_count(); w++) {
        if (cavs__device_of_worker((int)w) != d)
            continue;
        f.workers[w / 32] |= (uint32_t)1 << w % 32;
        f.node = starpu_worker_get_memory_node(w);
        f.bytes = starpu_memory_get_total(f.node);
    }
    return f;
}

static const struct cavs__device *first_device(void)
{
    int i = 0;

    while (i < CAVS__MAX_DEVICES && !cavs__device_at(i))
        i++;
    return cavs__device_at(i);
}

/* ---- tasks ---- */

static void implement(struct starpu_codelet *cl, uint32_t where, cavs__device_task *run)
{
    for (int i = 0; i < cavs__backends_count; i++)
        if (where & cavs__backends[i].where)
            cavs__backends[i].implement(cl, run);
}

static cavs__device_task *implementation(const struct starpu_codelet *cl, uint32_t where)
{
    cavs__device_task *run = NULL;

    for (int i = 0; i < cavs__backends_count; i++)
        if (where == cavs__backends[i].where)
            run = cavs__backends[i].implementation(cl);
    return run;
}

static const char *obstacle(int number, const struct cavs__part *p)
{
    return cavs__part_obstacle(p, cavs__device_at(number));
}

/* On a CPU a launch is a call, and what its compiler takes for a sequence is more than that.
 * CAVS_DEVICE_SEQUENCES=always is for tests there. */
static bool launches_cost(void)
{
    const char *choice = getenv("CAVS_DEVICE_SEQUENCES");
    bool cost = choice && !strcmp(choice, "always");

    for (int i = 0; i < CAVS__MAX_DEVICES; i++)
        cost |= cavs__device_at(i) && !cavs__device_at(i)->is_cpu;
    return cost;
}

static bool group_fits(int nviews)
{
    return cavs__device_group_bytes(nviews) <= cavs__devices_parameters();
}

/* ---- for people ---- */

static int part_launches(const struct cavs__part *p, int rows)
{
    const struct cavs__device *d = first_device();

    return d ? cavs__part_launches(p, d, rows) : 0;
}

/* Up to how much work products that may run at once are one launch. */
static void explain_products(FILE *out, const struct cavs__device *d)
{
    fprintf(out,
            "independent products in one launch up to %.3g million multiplications, %.3g if some "
            "are rows by index, single ones by our kernel up to %.3g and %.3g; the others by its "
            "library",
            1e-6 * d->together[0][1][0], 1e-6 * d->together[0][1][1], 1e-6 * d->together[0][0][0],
            1e-6 * d->together[0][0][1]);
    if (d->driver->rounds)
        fprintf(out, "; in bfloat16 up to %.3g and %.3g, %.3g and %.3g",
                1e-6 * d->together[1][1][0], 1e-6 * d->together[1][1][1],
                1e-6 * d->together[1][0][0], 1e-6 * d->together[1][0][1]);
}

static void explain(FILE *out)
{
    for (int i = 0; i < CAVS__MAX_DEVICES; i++) {
        const struct cavs__device *d = cavs__device_at(i);

        if (!d)
            continue;
        fprintf(out, "%s device %d (%s): ", d->backend->name, d->id, d->name);
        if (cavs__device_takes_together(d, &(struct cavs__products){.n = 2, .work = DBL_MAX}))
            fprintf(out, "independent products in one launch");
        else
            explain_products(out, d);
        fprintf(out, "\n");
    }
}

const struct cavs__devices cavs__devices_offer = {
    .kinds = kinds,
    .count = cavs__devices_count,
    .usable = usable,
    .facts = facts,
    .takes_tasks = cavs__device_takes_tasks,
    .failed = cavs__devices_failed,
    .failures = cavs__devices_failures,
    .run_part = cavs__device_run_part,
    .run_update = cavs__device_run_update,
    .run_norm = cavs__device_run_norm,
    .run_lines = cavs__device_run_lines,
    .implement = implement,
    .implementation = implementation,
    .obstacle = obstacle,
    .part_floats = cavs__part_device_floats,
    .launches_cost = launches_cost,
    .group_fits = group_fits,
    .groups_text = cavs__device_groups_text,
    .compile_ahead = cavs__device_compile_ahead,
    .groups_create = cavs__device_groups_create,
    .groups_destroy = cavs__device_groups_destroy,
    .launched = cavs__devices_launched,
    .part_launches = part_launches,
    .explain = explain,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* device_scratch.c - how much scratch a batch wants on devices: a segment for which there is too
 * little goes through in blocks. */
#include "codelets/device_set.h"
#include "core/run/session.h"

#define MOST_FLOATS  ((size_t)16 << 20)
#define LEAST_FLOATS ((size_t)64 << 10)

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static void list_entries(const struct cavs_function *f, const struct cavs__shard_stage *t,
                         int32_t *entries)
{
    for (int i = 0; i < f->nlists; i++)
        entries[i] = t->entries[f->lists[i]->number];
}

/* The scratch that parts want to run over all rows of their functions in a shard. */
static size_t wanted_by_stage(const struct cavs__engine *e, const struct cavs__shard *shard,
                              int stage)
{
    const struct cavs__stage_plan *sp = &e->plan->stages[stage];
    const struct cavs__schedule *sch = &shard->stages[stage].schedule;
    size_t most = 0;

    for (int j = 0; j < sp->nkinds; j++) {
        for (int f = 0; f < sp->stage->nfunctions; f++) {
            const struct cavs__part *part = sp->kinds[j]->parts[f];
            int32_t entries[CAVS__PART_LISTS] = {0};

            list_entries(sp->stage->functions[f], &shard->stages[stage], entries);
            if (part)
                most =
                    larger(most, cavs__devices->part_floats(part, sch->function_rows[f], entries));
        }
    }
    return most;
}

/* Rows of looked-up parameters are summed in scratch, behind what their norm takes. */
static size_t wanted_by_updates(const struct cavs__batch *b)
{
    const struct cavs_model *m = b->plan->model;
    size_t most = 0;

    for (int i = 0; i < m->nstored; i++) {
        if (b->touched[i])
            most = larger(most, CAVS__UPDATE_FLOATS +
                                    (size_t)b->touched[i]->n * (size_t)m->params[i]->cols);
    }
    return most;
}

/* The largest scratch for which a device's memory, as far as StarPU may use it, has room beside the
 * tensors. */
static size_t most_floats(void)
{
    size_t most = MOST_FLOATS;

    for (unsigned node = 1; node < starpu_memory_nodes_get_count(); node++) {
        starpu_ssize_t bytes = starpu_memory_get_total(node);

        if (bytes > 0 && (size_t)bytes / sizeof(float) / 8 < most)
            most = (size_t)bytes / sizeof(float) / 8;
    }
    return most;
}

static size_t wanted_by_shards(const struct cavs__engine *e, const struct cavs__batch *b)
{
    size_t most = 0;

    for (int i = 0; i < b->nshards; i++) {
        if (cavs__is_at_cpus(e, i))
            continue; /* it stays on CPUs */
        for (int j = 0; j < e->plan->model->nstages; j++)
            most = larger(most, wanted_by_stage(e, &b->shards[i], j));
    }
    return most;
}

int cavs__reserve_device_floats(struct cavs__engine *e, const struct cavs__batch *b, size_t floats)
{
    bool updates = b->request.run == CAVS__RUN_TRAIN;
    size_t most = larger(LEAST_FLOATS, larger(floats, updates ? wanted_by_updates(b) : 0));

    return cavs__reserve_scratch(e, most < most_floats() ? most : most_floats());
}

int cavs__reserve_device_scratch(struct cavs__engine *e, const struct cavs__batch *b)
{
    return e->devices ? cavs__reserve_device_floats(e, b, wanted_by_shards(e, b)) : CAVS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - what a session has done so far. */
#include "codelets/device_set.h"
#include "core/run/session.h"

static void put_launches(const struct cavs_session *s, struct cavs_stats *out)
{
    const struct cavs__launch_counts *before = &s->launched_before;
    struct cavs__launch_counts now = cavs__devices->launched();

    out->launches = now.all - before->all;
    for (int i = 0; i < 2; i++) {
        out->device_vt[i] = now.vt[CAVS__CHAIN_FORWARD + i] - before->vt[CAVS__CHAIN_FORWARD + i];
        out->vt_launches[i] =
            now.of_vt[CAVS__CHAIN_FORWARD + i] - before->of_vt[CAVS__CHAIN_FORWARD + i];
    }
}

static double seconds_of(const struct cavs_session *s, enum cavs__cost cost)
{
    return 1e-9 * (double)__atomic_load_n(&s->engine.nanoseconds[cost], __ATOMIC_RELAXED);
}

void cavs_session_stats(const struct cavs_session *s, struct cavs_stats *out)
{
    if (!s || !out)
        return;
    *out = s->stats;
    out->tasks = s->engine.tasks;
    out->tensor_bytes = s->engine.tensor_bytes;
    out->update_bytes = s->optimizer.bytes;
    put_launches(s, out);
    out->product_s = seconds_of(s, CAVS__COST_PRODUCT);
    out->memory_s = seconds_of(s, CAVS__COST_MEMORY);
    out->other_s = seconds_of(s, CAVS__COST_OTHER);
    out->update_s = seconds_of(s, CAVS__COST_UPDATE);
}

int cavs_session_rank_shards(const struct cavs_session *s, int rank)
{
    const struct cavs__exchange *x = s ? s->optimizer.exchange : NULL;

    if (x)
        return cavs__shards_of(x, rank);
    return s && rank == 0 ? s->batch->nshards : 0;
}

void cavs_session_reset_stats(struct cavs_session *s)
{
    if (!s)
        return;
    s->stats = (struct cavs_stats){0};
    s->engine.tasks = 0;
    s->optimizer.bytes = 0;
    s->launched_before = cavs__devices->launched();
    for (int i = 0; i < CAVS__COSTS; i++)
        __atomic_store_n(&s->engine.nanoseconds[i], 0, __ATOMIC_RELAXED);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - what a session has done so far. */
#include "codelets/device_set.h"
#include "core/run/session.h"

void cavs_session_stats(const struct cavs_session *s, struct cavs_stats *out)
{
    if (!s || !out)
        return;
    *out = s->stats;
    out->tasks = s->engine.tasks;
    out->tensor_bytes = s->engine.tensor_bytes;
    out->launches = cavs__devices->launches() - s->launches_before;
    out->product_s =
        (double)__atomic_load_n(&s->engine.nanoseconds[CAVS__COST_PRODUCT], __ATOMIC_RELAXED) *
        1e-9;
    out->memory_s =
        (double)__atomic_load_n(&s->engine.nanoseconds[CAVS__COST_MEMORY], __ATOMIC_RELAXED) * 1e-9;
    out->other_s =
        (double)__atomic_load_n(&s->engine.nanoseconds[CAVS__COST_OTHER], __ATOMIC_RELAXED) * 1e-9;
}

void cavs_session_reset_stats(struct cavs_session *s)
{
    if (!s)
        return;
    s->stats = (struct cavs_stats){0};
    s->engine.tasks = 0;
    s->launches_before = cavs__devices->launches();
    for (int i = 0; i < CAVS__COSTS; i++)
        __atomic_store_n(&s->engine.nanoseconds[i], 0, __ATOMIC_RELAXED);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* shared_runs.c - what a program asks of its runtime about the other ranks. */
#include "core/base/error.h"
#include "core/ranks/ranks.h"
#include "core/run/runtime.h"

int cavs_runtime_rank(const struct cavs_runtime *rt)
{
    return rt ? cavs__rank(rt->ranks) : 0;
}

int cavs_runtime_ranks(const struct cavs_runtime *rt)
{
    return rt ? cavs__ranks_count(rt->ranks) : 0;
}

int cavs_runtime_same(struct cavs_runtime *rt, const char *what, const char *value)
{
    int rc = cavs__runtime_ready(rt, "cavs_runtime_same");

    if (!rc && (!what || !value))
        rc = cavs__fail(CAVS_EINVAL, "cavs_runtime_same: nothing to compare (NULL)");
    return rc ? rc : cavs__ranks_same(rt->ranks, what, value);
}

int cavs_runtime_agree(struct cavs_runtime *rt, int rc)
{
    return rt && rt->ranks ? cavs__ranks_agree(rt->ranks, rc) : rc;
}

void cavs_runtime_raise(struct cavs_runtime *rt, unsigned bits)
{
    if (rt && rt->ranks)
        cavs__ranks_raise(rt->ranks, bits);
    else if (rt)
        rt->raised |= bits;
}

unsigned cavs_runtime_raised(struct cavs_runtime *rt)
{
    unsigned bits;

    if (rt && rt->ranks)
        return cavs__ranks_raised(rt->ranks);
    bits = rt ? rt->raised : 0;
    if (rt)
        rt->raised = 0;
    return bits;
}

void cavs_runtime_abort(struct cavs_runtime *rt, int status)
{
    cavs__ranks_abort(rt ? rt->ranks : NULL, status);
}

double cavs_runtime_exchange_seconds(const struct cavs_runtime *rt)
{
    return rt ? cavs__ranks_waited(rt->ranks) : 0;
}

int64_t cavs_runtime_bytes_sent(const struct cavs_runtime *rt)
{
    return rt ? cavs__ranks_bytes(rt->ranks) : 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* choices.c - what a session says of itself: its plan, what was measured, and how it cuts
 * batches. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device_set.h"
#include "codelets/products/bf16.h"
#include "codelets/products/gemm.h"
#include "core/base/error.h"
#include "core/run/session.h"

static void explain_cost(FILE *out, const struct cavs_session *s)
{
    const double task = s->rt->cost.task;

    fprintf(out, "%s: a task costs %.1f us; products of 1, 4, 16, 64 rows run at",
            s->rt->cost.given ? "given by CAVS_COST" : "measured", task * 1e6);
    for (int i = 0; i < CAVS__RATE_SIZES; i++)
        fprintf(out, " %.0f", 1e-9 / s->engine.rates.gemm[i]);
    fprintf(out, " GFLOP/s on one worker\n");
}

static bool joins_at_devices(const struct cavs__engine *e)
{
    return e->homes && e->homes->home[0].device >= 0 && cavs__device_grain(e) == INFINITY;
}

static void explain_stage(FILE *out, const struct cavs_session *s, int stage)
{
    const struct cavs__stage_plan *sp = &s->plan->stages[stage];
    const char *name = sp->stage->name;
    const struct cavs__cuts *cuts = &s->engine.cuts[stage];
    double streamed = 0;

    for (int f = 0; f < sp->stage->nfunctions; f++)
        streamed += sp->streamed[f];
    if (streamed > 0)
        fprintf(
            out,
            "stage %s: eager work runs in blocks of V_t worth %.0f us, up to %d a shard%s, and the "
            "chain follows block by block\n",
            name, s->batch->how.block_seconds * 1e6, CAVS__MAX_BLOCKS,
            joins_at_devices(&s->engine) ? ", on a device in one" : "");
    if (sp->mergeable && !s->batch->how.apart)
        fprintf(out, "stage %s: equal vertices of a shard are evaluated once\n", name);
    else if (sp->noisy)
        fprintf(out,
                "stage %s: equal vertices are evaluated each for itself: their dropout differs\n",
                name);
    if (cuts->vt > 0)
        fprintf(
            out,
            "stage %s, last batch: %d V_t forward in %d tasks; %d blocks; %d tasks cut by rows\n",
            name, cuts->vt, cuts->chain, cuts->blocks, cuts->wide);
    if (cuts->helped > 0)
        fprintf(out, "stage %s, last batch: %d tasks with products that other workers help with\n",
                name, cuts->helped);
}

/* Not every processor that has instructions for them multiplies more of them at a time. */
static bool faster_than_float32(const struct cavs_session *s)
{
    const int most = CAVS__RATE_SIZES - 1;

    return s->engine.rates.gemm[most] < 0.95 * s->rt->cost.rates.gemm[most];
}

static void explain_bf16(FILE *out, const struct cavs_session *s)
{
    const char *name = cavs__bf16()->name;

    fprintf(out, "products: operands rounded to bfloat16, sums in float32; ");
    if (!strcmp(name, "converted"))
        fprintf(out, "converted on the fly for float32 products (%s), which is not faster\n",
                cavs__gemm()->name);
    else
        fprintf(out, "%s%s\n", name,
                faster_than_float32(s) ? "" : ", which is not faster on this processor");
}

static void explain_products(FILE *out, const struct cavs_session *s)
{
    if (s->plan->options.bf16) {
        explain_bf16(out, s);
        return;
    }
    fprintf(out, "products: %s%s%s\n", cavs__gemm()->name,
            s->plan->options.panels ? ", weights kept in panels besides" : ", weights as they lie",
            s->plan->options.panels && cavs__weights_stay(s->plan) ? ", which stay in L2" : "");
    if (s->plan->options.device_bf16)
        fprintf(out, "products by the library of a device: operands rounded to bfloat16, sums in "
                     "float32\n");
}

static void explain_choices(FILE *out, const struct cavs_session *s)
{
    explain_cost(out, s);
    explain_products(out, s);
    fprintf(out, "shards: a batch is cut into up to %d parts%s, whose chains are independent\n",
            s->engine.nshards, s->engine.homes ? "" : " of equal work");
    if (s->engine.homes)
        cavs__homes_explain(out, &s->engine);
    if (s->rt->ranks)
        fprintf(out, "shards are dealt to %d ranks, more of them to those that are faster\n",
                cavs__ranks_count(s->rt->ranks));
    if (cavs__policies[s->options.policy].alone)
        fprintf(out, "chain: one vertex a task; no operator is batched, as the policy '%s' asks\n",
                cavs__policies[s->options.policy].name);
    else
        fprintf(out,
                "chain: consecutive V_t of a shard share a task until it is worth %.0f us, %.0f "
                "where each shard has a worker\n"
                "every operator is batched\n",
                cavs__grain(&s->engine) * 1e6, CAVS__LONG_CHAIN * cavs__grain(&s->engine) * 1e6);
    if (joins_at_devices(&s->engine))
        fprintf(out, "tasks at home on a device that follow one another there are one: %s\n",
                s->engine.homes->n == 1 ? "all of a batch" : "up to the next one elsewhere");
    fprintf(out, "%s",
            cavs__joins_tasks(&s->engine)
                ? "tasks of a batch that is worth little run as few that do the work of all\n"
                : "");
    fprintf(out, "%s\n",
            s->rt->one_memory ? "rows of a wide task are cut among workers when a batch has fewer "
                                "shards than there are workers"
                              : "rows of a task are never cut among workers: they do not share one "
                                "memory node");
    if (cavs__may_help(&s->engine))
        fprintf(
            out,
            "products by weights that fill half of the second-level cache (%d KB) are claimed by "
            "several workers when a batch has fewer shards than there are workers%s\n",
            s->rt->l2_bytes >> 10,
            s->options.shards == 0 ? ", and batches of few samples have fewer" : "");
    if (s->engine.devices)
        cavs__devices->explain(out);
    for (int i = 0; i < s->model->nstages; i++)
        explain_stage(out, s, i);
}

int cavs_session_explain(const struct cavs_session *s, char **text)
{
    size_t size = 0;
    char *written = NULL;
    FILE *out;

    if (!s || !text)
        return cavs__fail(CAVS_EINVAL, "cavs_session_explain(NULL)");
    out = open_memstream(&written, &size);
    if (!out)
        return cavs__fail_nomem("explanation", 0);
    cavs__plan_explain(s->plan, out);
    explain_choices(out, s);
    if (fclose(out) != 0) {
        free(written);
        return cavs__fail_nomem("explanation", 0);
    }
    *text = written;
    return CAVS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - a plan as text: what became of every operator. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "codelets/device/products.h"
#include "codelets/device/walk.h"
#include "codelets/groups/elementwise.h"
#include "core/base/error.h"
#include "core/run/session.h"

static void explain_step(FILE *out, const struct cavs__step *s)
{
    const struct cavs__operand *v = s->v;
    const char *rows = s->list > 0 ? "entries" : "rows";

    if (s->flops > 0)
        fprintf(out, "    %-18s %s   (%s, %d) x (%d, %d)%s\n", s->call.kernel->name, s->label, rows,
                v[0].cols, v[0].cols, v[s->nviews - 1].cols,
                s->call.accumulate ? " accumulated" : "");
    else if (s->call.program)
        fprintf(out, "    %-18s %s   (%s, %d), %d operands, %s\n", "fused group", s->label, rows,
                cavs__ew_program_spec(s->call.program)->width, s->nviews,
                cavs__ew_program_compiled(s->call.program) ? "compiled" : "interpreted");
    else
        fprintf(out, "    %-18s %s\n", s->call.kernel->name, s->label);
}

/* Of few rows, and of many if that differs. */
static void explain_launches(FILE *out, const struct cavs__part *p)
{
    const struct cavs__device *d = NULL;
    int few, many;

    for (int i = 0; !d && i < CAVS__MAX_DEVICES; i++)
        d = cavs__device_at(i);
    if (!d)
        return;
    few = cavs__part_launches(p, d, 1);
    many = cavs__part_launches(p, d, INT_MAX);
    fprintf(out, "; on a device %d launches", few);
    if (many != few)
        fprintf(out, " (%d of many rows)", many);
}

static void explain_kind(FILE *out, const struct cavs__task_kind *k, bool devices)
{
    static const char *const how[] = {"all rows at once, ahead of the chain", "V_t by V_t",
                                      "all rows at once, after the chain"};

    fprintf(out, "task %s: %s, %d tensors\n", k->name,
            k->shared ? "once for all vertices with equal inputs" : how[k->klass], k->nbuffers);
    if (k->cpu_only)
        fprintf(out, "  on CPUs only: %s\n", k->cpu_only);
    for (int f = 0; f < k->stage->nfunctions; f++) {
        const struct cavs__part *p = k->parts[f];

        if (!p)
            continue;
        fprintf(out, "  function %s: tiles of %d rows, %.0f KB scratch",
                k->stage->functions[f]->name, p->tile,
                (double)cavs__part_scratch(p, NULL) * 4 / 1024);
        if (devices && !k->cpu_only)
            explain_launches(out, p);
        fprintf(out, "\n");
        for (int i = 0; i < p->nsteps; i++)
            explain_step(out, &p->steps[i]);
    }
}

static void explain_symbols(FILE *out, const struct cavs_function *f)
{
    static const char *const classes[] = {"eager", "chain", "lazy"};

    fprintf(out, "function %s.%s\n", f->stage->name, f->name);
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        fprintf(out, "  %-8s %-6s %4d %s%s\n", x->backward ? "backward" : "forward",
                x->live ? classes[x->klass] : "pruned", x->width, cavs__symbol_label(x),
                x->domain == 0                      ? ""
                : f->lists[x->domain - 1]->children ? "   (a row per child)"
                                                    : "   (a row per entry of a list)");
    }
}

static void explain_cost(FILE *out, const struct cavs_session *s)
{
    const struct cavs__cost_model *c = &s->rt->cost;

    fprintf(out, "measured: a task costs %.1f us; products of 1, 4, 16, 64 rows run at",
            c->task * 1e6);
    for (int i = 0; i < CAVS__RATE_SIZES; i++)
        fprintf(out, " %.0f", 1e-9 / c->rates.gemm[i]);
    fprintf(out, " GFLOP/s on one worker\n");
}

/* Up to how many rows products that may run at once are one launch. */
static void explain_products(FILE *out)
{
    for (int i = 0; i < CAVS__MAX_DEVICES; i++) {
        const struct cavs__device *d = cavs__device_at(i);

        if (!d)
            continue;
        fprintf(out, "%s device %d (%s): ", d->api->name, d->id, d->name);
        if (cavs__device_takes_together(d, 2, INT_MAX, false))
            fprintf(out, "independent products in one launch\n");
        else
            fprintf(out,
                    "independent products in one launch up to %d rows, %d if some are rows by "
                    "index, single ones by our kernel up to %d and %d; the others by its library\n",
                    d->together[1][0], d->together[1][1], d->together[0][0], d->together[0][1]);
    }
}

static void explain_stage(FILE *out, const struct cavs_session *s, int stage)
{
    const struct cavs__stage_plan *sp = &s->plan->stages[stage];
    const char *name = sp->stage->name;
    double streamed = 0;

    for (int f = 0; f < sp->stage->nfunctions; f++)
        streamed += sp->streamed[f];
    if (streamed > 0)
        fprintf(
            out,
            "stage %s: eager work runs in blocks of V_t worth %.0f us, up to %d a shard, and the "
            "chain follows block by block\n",
            name, (s->options.grain > 0 ? (double)s->options.grain : CAVS__BLOCK_SECONDS) * 1e6,
            CAVS__MAX_BLOCKS);
    if (sp->mergeable && !s->options.no_dedup)
        fprintf(out, "stage %s: equal vertices of a shard are evaluated once\n", name);
    else if (sp->noisy)
        fprintf(out,
                "stage %s: equal vertices are evaluated each for itself: their dropout differs\n",
                name);
    if (s->cuts && s->cuts[stage].vt > 0)
        fprintf(
            out,
            "stage %s, last batch: %d V_t forward in %d tasks; %d blocks; %d tasks cut by rows\n",
            name, s->cuts[stage].vt, s->cuts[stage].chain, s->cuts[stage].blocks,
            s->cuts[stage].wide);
}

static void explain_choices(FILE *out, const struct cavs_session *s)
{
    explain_cost(out, s);
    fprintf(out, "shards: a batch is cut into up to %d parts%s, whose chains are independent\n",
            s->nshards, s->homes ? "" : " of equal work");
    if (s->homes)
        cavs__homes_explain(out, s);
    if (s->options.policy == CAVS_POLICY_SERIAL)
        fprintf(out,
                "chain: one vertex a task; no operator is batched, as the policy 'serial' asks\n");
    else
        fprintf(out,
                "chain: consecutive V_t of a shard share a task until it is worth %.0f us\n"
                "every operator is batched\n",
                cavs__grain(s) * 1e6);
    fprintf(out, "%s\n",
            s->rt->one_memory ? "rows of a wide task are cut among workers when a batch has fewer "
                                "shards than there are workers"
                              : "rows of a task are never cut among workers: they do not share one "
                                "memory node");
    if (s->devices)
        explain_products(out);
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
        return cavs__fail_nomem("explanation", 4096);
    for (int i = 0; i < s->model->nstages; i++) {
        for (int j = 0; j < s->model->stages[i]->nfunctions; j++)
            explain_symbols(out, s->model->stages[i]->functions[j]);
    }
    for (int i = 0; i < s->model->nstages; i++) {
        for (int j = 0; j < s->plan->stages[i].nkinds; j++)
            explain_kind(out, s->plan->stages[i].kinds[j], s->devices);
    }
    explain_choices(out, s);
    if (fclose(out) != 0) {
        free(written);
        return cavs__fail_nomem("explanation", size);
    }
    *text = written;
    return CAVS_OK;
}

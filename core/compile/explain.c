/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - a plan as text: what became of every operator. */
#include <limits.h>
#include <stdio.h>

#include "codelets/device_set.h"
#include "codelets/groups/elementwise.h"
#include "core/compile/plan.h"

/* What a CPU runs for a group. (A device has a kernel of its own.) */
static const char *how_on_cpus(const struct cavs__plan *p, const struct cavs__ew_program *program)
{
    return p->options.no_cpus                   ? "for devices alone"
           : cavs__ew_program_compiled(program) ? "compiled"
                                                : "interpreted";
}

static void explain_step(FILE *out, const struct cavs__plan *p, const struct cavs__step *s)
{
    const struct cavs__operand *v = s->v;
    const char *rows = s->list > 0 ? "entries" : "rows";

    if (s->flops > 0)
        fprintf(out, "    %-18s %s   (%s, %d) x (%d, %d)\n", s->call.kernel->name, s->label, rows,
                v[0].cols, v[0].cols, v[s->nviews - 1].cols);
    else if (s->call.program)
        fprintf(out, "    %-18s %s   (%s, %d), %d operands, %s\n", "fused group", s->label, rows,
                cavs__ew_program_spec(s->call.program)->width, s->nviews,
                how_on_cpus(p, s->call.program));
    else
        fprintf(out, "    %-18s %s\n", s->call.kernel->name, s->label);
}

/* The time for few rows, and the time for many if it differs. */
static void explain_launches(FILE *out, const struct cavs__part *p)
{
    int few = cavs__devices->part_launches(p, 1);
    int many = cavs__devices->part_launches(p, INT_MAX);

    if (cavs__devices->count() == 0)
        return;
    fprintf(out, "; on a device %d launches", few);
    if (many != few)
        fprintf(out, " (%d of many rows)", many);
}

static void explain_kind(FILE *out, const struct cavs__plan *plan, const struct cavs__task_kind *k)
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
        if (!k->cpu_only)
            explain_launches(out, p);
        fprintf(out, "\n");
        for (int i = 0; i < p->nsteps; i++)
            explain_step(out, plan, &p->steps[i]);
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

void cavs__plan_explain(const struct cavs__plan *p, FILE *out)
{
    for (int i = 0; i < p->model->nstages; i++) {
        for (int j = 0; j < p->model->stages[i]->nfunctions; j++)
            explain_symbols(out, p->model->stages[i]->functions[j]);
    }
    for (int i = 0; i < p->model->nstages; i++) {
        for (int j = 0; j < p->stages[i].nkinds; j++)
            explain_kind(out, p, p->stages[i].kinds[j]);
    }
}

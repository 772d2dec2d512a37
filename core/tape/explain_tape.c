/* SPDX-License-Identifier: Apache-2.0 */
/* explain_tape.c - what a tape computed, as text. */
#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/tape/tape.h"

static void describe_operand(FILE *out, const struct cavs__operand_sort *o)
{
    switch (o->kind) {
    case CAVS__OPERAND_ROW:
        fprintf(out, "%d", o->width);
        if (o->from > 0)
            fprintf(out, " from %d", o->from);
        if (o->grad)
            fprintf(out, "'");
        break;
    case CAVS__OPERAND_PARAM: fprintf(out, "%s", o->param->name); break;
    case CAVS__OPERAND_CONSTANT: fprintf(out, "constant %d", o->width); break;
    case CAVS__OPERAND_ID: fprintf(out, "id"); break;
    }
}

static void describe_place(FILE *out, const struct cavs__signature *s)
{
    fprintf(out, "  %s:%d\n", s->like.at.file, s->like.at.line);
}

static void describe_counts(FILE *out, const struct cavs__signature *s)
{
    fprintf(out, "%10lld %10lld %8.1f  ", (long long)s->rows, (long long)s->vts,
            s->vts > 0 ? (double)s->rows / (double)s->vts : 0.0);
}

/* Names the operators of the function, without its operands and what belongs to its gradients. */
static void describe_operators(FILE *out, const struct cavs_function *f)
{
    for (int i = 0; i < f->nsymbols && !f->symbols[i]->backward; i++) {
        const struct cavs_symbol *x = f->symbols[i];

        if (x->op != CAVS__OP_OPERAND && x->op != CAVS__OP_RESULT && x->op != CAVS__OP_IDS &&
            x->op != CAVS__OP_CONST && x->op != CAVS__OP_USE && x->op != CAVS__OP_SLICE &&
            x->op != CAVS__OP_REPEAT)
            fprintf(out, " %s,", cavs__symbol_label(x));
    }
}

static void describe(FILE *out, const struct cavs__signature *s)
{
    describe_counts(out, s);
    fprintf(out, "%s(",
            s->like.op == CAVS__OP_APPLY ? s->function->name : cavs__symbol_label(&s->like));
    for (int k = 0; k < s->n; k++) {
        if (k > 0)
            fprintf(out, ", ");
        describe_operand(out, &s->operands[k]);
    }
    fprintf(out, ") %d%s", s->like.width, s->needs_grad ? "'" : "");
    if (s->like.op == CAVS__OP_APPLY) {
        fprintf(out, ", applied:");
        describe_operators(out, s->function);
    }
    describe_place(out, s);
}

static void describe_block(FILE *out, const struct cavs__signature *s)
{
    describe_counts(out, s);
    fprintf(out, "block of %d, %d results:", s->nmembers, s->nresults);
    describe_operators(out, s->function);
    describe_place(out, s);
}

static void explain_rows(FILE *out, const struct cavs__signatures *all)
{
    fprintf(out, "%10s %10s %8s\n", "rows", "V_t", "rows/V_t");
    for (int i = 0; i < all->n; i++) {
        if (all->all[i]->vts > 0)
            (all->all[i]->nmembers > 1 ? describe_block : describe)(out, all->all[i]);
    }
}

static int64_t rows_without_others(const struct cavs__signatures *all)
{
    int64_t alone = 0;

    for (int i = 0; i < all->n; i++)
        alone += all->all[i]->rows == all->all[i]->vts ? all->all[i]->rows : 0;
    return alone;
}

static void explain_blocks(FILE *out, const struct cavs__blocks *b)
{
    static const char *const why[CAVS__ALONE_REASONS] = {
        [CAVS__ALONE_RUN] = "no other stands always beside it",
        [CAVS__ALONE_NEW] = "their run had not been seen often enough",
        [CAVS__ALONE_COMING] = "their block was being compiled",
        [CAVS__ALONE_READ] = "their run was read where it had not been before",
        [CAVS__ALONE_LARGE] = "their run has too many operands, or there were too many blocks",
    };

    for (int i = 0; i < CAVS__ALONE_REASONS; i++) {
        if (b->alone[i] > 0)
            fprintf(out, "%10lld symbols were in no block: %s\n", (long long)b->alone[i], why[i]);
    }
}

/* Says where the parts of a signature run, if there are devices that cannot run them. */
static void explain_part(FILE *out, const struct cavs_tape *t, const struct cavs__task_kind *k,
                         int function)
{
    const struct cavs__part *part = function < k->nparts ? k->parts[function] : NULL;
    const struct cavs__signature *s = t->recording.signatures.all[function];

    if (!part || !part->not_on)
        return;
    fprintf(out, "%s of %s (%s:%d) on CPUs: %s\n", k->name, cavs__symbol_label(&s->like),
            s->like.at.file, s->like.at.line, part->why_not);
}

static void explain_devices(FILE *out, const struct cavs_tape *t)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);

    for (int i = 0; i < sp->nkinds && t->session->engine.devices; i++) {
        for (int f = 0; f < t->recording.signatures.n; f++)
            explain_part(out, t, sp->kinds[i], f);
    }
}

static const char *where(const struct cavs_tape *t)
{
    return !t->session->engine.devices || t->session->plan->options.cpu_only ? "CPUs"
           : starpu_cpu_worker_get_count() > 0                               ? "devices and CPUs"
                                                                             : "devices";
}

static void explain(FILE *out, const struct cavs_tape *t)
{
    const struct cavs__signatures *all = &t->recording.signatures;

    fprintf(out,
            "tape: %d signatures, of which %d are blocks, policy %s.\nRows were computed on %s; ' "
            "has a gradient.\n",
            all->n, t->blocks.made, cavs_policy_name((int)t->options.policy), where(t));
    explain_devices(out, t);
    fprintf(out, "\n");
    explain_rows(out, all);
    fprintf(out, "\n%lld rows ran alone: %s.\n", (long long)rows_without_others(all),
            t->options.policy == CAVS_POLICY_SERIAL
                ? "the policy puts none together"
                : "at no time was another one of their signature ready beside them");
    explain_blocks(out, &t->blocks);
}

int cavs_tape_explain(const struct cavs_tape *t, char **text)
{
    size_t size;
    FILE *out = t && text ? open_memstream(text, &size) : NULL;

    if (!t || !text)
        return cavs__fail(CAVS_EINVAL, "cavs_tape_explain: %s", t ? "nowhere to put it" : "NULL");
    if (!out)
        return cavs__fail_nomem("explanation", 0);
    explain(out, t);
    return fclose(out) == 0 ? CAVS_OK : cavs__fail_nomem("explanation", 0);
}

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

static void describe(FILE *out, const struct cavs__signature *s)
{
    fprintf(out, "%10lld %10lld %8.1f  %s(", (long long)s->rows, (long long)s->vts,
            s->vts > 0 ? (double)s->rows / (double)s->vts : 0.0, cavs__symbol_label(&s->like));
    for (int k = 0; k < s->n; k++) {
        if (k > 0)
            fprintf(out, ", ");
        describe_operand(out, &s->operands[k]);
    }
    fprintf(out, ") %d%s  %s:%d\n", s->like.width, s->needs_grad ? "'" : "", s->like.at.file,
            s->like.at.line);
}

static void explain(FILE *out, const struct cavs_tape *t)
{
    const struct cavs__signatures *all = &t->recording.signatures;
    int64_t alone = 0;

    fprintf(out,
            "tape: %d signatures, policy %s.  Each symbol is an operator by itself; there are no "
            "blocks.\nRows were computed on CPUs; ' has a gradient.\n\n%10s %10s %8s\n",
            all->n, cavs_policy_name((int)t->options.policy), "rows", "V_t", "rows/V_t");
    for (int i = 0; i < all->n; i++) {
        if (all->all[i]->vts > 0)
            describe(out, all->all[i]);
        if (all->all[i]->rows == all->all[i]->vts)
            alone += all->all[i]->rows;
    }
    fprintf(out,
            "\n%lld rows ran alone: at no time was another one of their signature ready beside "
            "them.\n",
            (long long)alone);
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

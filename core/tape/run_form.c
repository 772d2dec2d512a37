/* SPDX-License-Identifier: Apache-2.0 */
/* run_form.c - see run_form.h. */
#include "core/tape/run_form.h"

enum { NO_ROW = -1 /* width: an id is no row */ };

static int32_t add_operand(struct cavs__formed_run *x, int32_t read, int32_t width)
{
    if (x->noperands == CAVS__MOST_OPERANDS)
        return 0;
    x->operands[x->noperands] = read;
    x->width[x->noperands] = width;
    return ~x->noperands++;
}

/* The code of an operand that is no member of the run: ~k for its operand k; 0: there are too
 * many. */
static int32_t operand_of_run(struct cavs__formed_run *x, int32_t read, int32_t width)
{
    const struct cavs__read *reads = x->r->reads;

    for (int k = 0; k < x->noperands; k++) {
        if (cavs__same_read(reads[x->operands[k]], reads[read]) && x->width[k] == width)
            return ~k;
    }
    return add_operand(x, read, width);
}

/* Notes that this read is the operand with that code.  false: there is none. */
static bool note_external(struct cavs__formed_run *x, int32_t read, int32_t code, bool id)
{
    int32_t of = x->r->reads[read].of;

    if (x->nexternal++ < CAVS__MOST_EXTERNAL)
        x->external[x->nexternal - 1] =
            (struct cavs__external){.read = read,
                                    .operand = ~code,
                                    .id = id,
                                    .source = !id && cavs__is_marked(x->r, of, CAVS__SOURCE)};
    return code != 0;
}

/* Adds the codes of an operand, which is read `at`. false: it is one too many. */
static bool code_operand(struct cavs__formed_run *x, const struct cavs__operand_sort *o, int32_t at)
{
    struct cavs__read read = x->r->reads[at];
    int32_t member, *code = x->codes + x->ncodes;

    if (o->kind == CAVS__OPERAND_ID) {
        x->ncodes++;
        code[0] = add_operand(x, at, NO_ROW);
        return note_external(x, at, code[0], true);
    }
    if (o->kind != CAVS__OPERAND_ROW)
        return true;
    x->ncodes += 2;
    member = x->r->entries[read.of].member - x->first;
    if (member >= 0) {
        code[0] = member;
        code[1] = read.from;
        return true;
    }
    code[1] = 0;
    code[0] = operand_of_run(x, at, o->width);
    return note_external(x, at, code[0], false);
}

static bool code_member(struct cavs__formed_run *x, int32_t symbol)
{
    const struct cavs__entry *e = &x->r->entries[symbol];
    int32_t signature = x->r->signature[symbol];
    const struct cavs__signature *s = x->r->signatures.all[signature];
    int n = cavs__reads_of(s, e->nreads);

    if (n > CAVS__MOST_OPERANDS || x->ncodes + 2 + 2 * n > CAVS__MOST_CODES)
        return false;
    x->codes[x->ncodes++] = signature;
    if (s->nlisted > 0)
        x->codes[x->ncodes++] = n;
    for (int k = 0; k < n; k++) {
        if (!code_operand(x, &s->operands[s->nlisted > 0 ? 0 : k], e->reads + k))
            return false;
    }
    return true;
}

bool cavs__code_run(struct cavs__formed_run *x)
{
    for (int i = 0; i < x->n; i++)
        x->r->entries[x->symbols[i]].member = x->first + i;
    x->ncodes = x->noperands = x->nexternal = 0;
    for (int i = 0; i < x->n; i++) {
        if (!code_member(x, x->symbols[i]))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_text.c - see random_program.h: a program for people, a line a step. */
#include <stdio.h>

#include "codelets/groups/elementwise.h"
#include "tests/random_program.h"

static void print_value(const struct program_step *s, int number)
{
    if (s->entries)
        fprintf(stderr, "#  %4d [%d x %d]", number, s->entries, s->width);
    else
        fprintf(stderr, "#  %4d [%d]", number, s->width);
}

static void print_attributes(const struct program_step *s)
{
    if (s->param)
        fprintf(stderr, " %s (%d x %d)%s", cavs_param_name(s->param), cavs_param_rows(s->param),
                cavs_param_cols(s->param), s->param->frozen ? " frozen" : "");
    if (s->bias)
        fprintf(stderr, " %s", cavs_param_name(s->bias));
    if (s->k || s->which)
        fprintf(stderr, " k=%d which=%d", s->k, s->which);
    if (s->s != 0)
        fprintf(stderr, " s=%g", (double)s->s);
}

void program_print_step(const struct program *p, int number)
{
    const struct program_step *s = &p->steps[number];

    print_value(s, number);
    fprintf(stderr, " line %d: %s", s->line,
            s->op == PROGRAM_ELEMENTWISE ? cavs__ew_name(s->k) : program_op_names[s->op]);
    for (int i = 0; i < s->n; i++)
        fprintf(stderr, " %d", program_operands(p, s)[i]);
    print_attributes(s);
    fprintf(stderr, "%s\n", s->dropped ? " (taken back)" : "");
}

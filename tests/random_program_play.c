/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_play.c - see random_program.h: a step, on a tape or in a declared function.
 *
 * A function has no lists of symbols.  There an operator on lists is one on each entry, and what
 * takes all entries a chain of operators on two: which shares nothing with core/tape/list.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "tests/random.h"
#include "tests/random_program.h"
#include "tests/trial.h"

enum { MOST_OPERANDS = 64 };

const char *const program_op_names[] = {
#define STEP(NAME, name) [PROGRAM_##NAME] = #name,
#include "tests/random_program.def"
#undef STEP
};

typedef struct cavs_symbol *symbol;
typedef const struct program_step *step;

static struct cavs_place place(step s)
{
    return (struct cavs_place){"program", s->line};
}

static struct cavs_param *param(const struct program_player *to, const struct cavs_param *p)
{
    return p ? cavs_model_param_at(to->m, p->number) : NULL;
}

/* ---- sources: inputs of a function are known by the number of the step ---- */

static symbol row(const struct program_player *to, step s, const char *name)
{
    float numbers[PROGRAM_WIDEST];
    uint64_t seed = s->seed;

    assert_in_range(s->width, 1, PROGRAM_WIDEST);
    for (int i = 0; i < s->width; i++)
        numbers[i] = (float)random_double(&seed, -1, 1);
    return to->t ? cavs_tape_row_at(to->t, s->width, numbers, place(s))
                 : cavs_pull_at(to->f, name, s->width, place(s));
}

static symbol source(const struct program_player *to, step s, int number)
{
    char name[16];

    snprintf(name, sizeof name, "%d", number);
    switch (s->op) {
    case PROGRAM_ROW: return row(to, s, name);
    case PROGRAM_ID:
        return to->t ? cavs_tape_id_at(to->t, s->k, place(s))
                     : cavs_pull_ids_at(to->f, name, place(s));
    case PROGRAM_CONSTANT: return cavs_constant_at(to->f, s->width, s->s, place(s));
    default: return cavs_use_at(to->f, param(to, s->param), place(s));
    }
}

/* ---- operators ---- */

/* Columns as they are: a function to be compiled reads the columns of what x is made of, past x,
 * which has no gradient then. */
static symbol columns(const struct program_player *to, step s, const symbol *in)
{
    struct cavs_symbol like = {.op = s->op == PROGRAM_SLICE ? CAVS__OP_SLICE : CAVS__OP_CONCAT,
                               .width = s->width,
                               .k = s->k,
                               .at = place(s)};

    if (!to->t)
        return cavs__symbol_append(to->f, &like, s->n, in);
    return s->op == PROGRAM_SLICE ? cavs_slice_at(in[0], s->k, s->width, place(s))
                                  : cavs_concat_at(s->n, in, place(s));
}

static symbol elementwise(step s, const symbol *in)
{
    const char *name = cavs__ew_name(s->k);

    return s->n == 1 ? cavs_apply1_at(name, in[0], s->s, place(s))
                     : cavs_apply2_at(name, in[0], in[1], place(s));
}

static symbol operator_on(const struct program_player *to, step s, const symbol *in)
{
    struct cavs_param *p = param(to, s->param), *bias = param(to, s->bias);

    switch (s->op) {
    case PROGRAM_ELEMENTWISE: return elementwise(s, in);
    case PROGRAM_LOOKUP: return cavs_lookup_at(p, in[0], place(s));
    case PROGRAM_MATMUL: return cavs_matmul_at(in[0], p, place(s));
    case PROGRAM_MATMUL_T: return cavs_matmul_t_at(in[0], p, place(s));
    case PROGRAM_AFFINE: return cavs_affine_at(in[0], p, bias, place(s));
    case PROGRAM_SLICE:
    case PROGRAM_CONCAT: return columns(to, s, in);
    case PROGRAM_SUM: return cavs_sum_at(in[0], place(s));
    default: fail_msg("%s is played nowhere", program_op_names[s->op]);
    }
    return NULL;
}

/* ---- what is summed up ---- */

/* What was taken back has no part in the oracle's sums. */
static void sum_up(const struct program_player *to, step s, const symbol *in)
{
    static const char *const names[] = {"loss", "errors", "mean", "correct"};

    if (to->t || !s->dropped)
        cavs_metric_at(to->f, names[s->k], in[0], s->n > 1 ? in[1] : NULL, s->op == PROGRAM_LOSS,
                       place(s));
}

/* ---- the program itself ---- */

static void ask(struct program_player *to, step s)
{
    const int *operands = program_operands(to->p, s);
    symbol xs[MOST_OPERANDS];
    float *rows[MOST_OPERANDS], *more;
    int numbers = 0;

    for (int i = 0; i < s->n; i++) {
        xs[i] = to->values[operands[i]].x;
        numbers += to->p->steps[operands[i]].width;
    }
    more = realloc(to->answers, (size_t)(to->nanswers + numbers + 1) * sizeof *more);
    assert_non_null(more);
    to->answers = more;
    for (int i = 0; i < s->n; i++) {
        rows[i] = to->answers + to->nanswers;
        to->nanswers += to->p->steps[operands[i]].width;
    }
    check_ok(cavs_tape_values(to->t, s->n, xs, rows));
}

/* Is it nothing but the program's own doing? */
static bool control(struct program_player *to, step s)
{
    switch (s->op) {
    case PROGRAM_SAMPLE:
        if (to->t)
            to->f = cavs_tape_sample(to->t);
        return true;
    case PROGRAM_ASK:
        if (to->t)
            ask(to, s);
        return true;
    default: return false;
    }
}

/* ---- a step ---- */

static void play(struct program_player *to, int number)
{
    step s = &to->p->steps[number];
    const int *operands = program_operands(to->p, s);
    symbol in[MOST_OPERANDS];

    assert_in_range(s->n, 0, MOST_OPERANDS);
    for (int i = 0; i < s->n; i++)
        in[i] = to->values[operands[i]].x;
    if (s->op == PROGRAM_LOSS || s->op == PROGRAM_METRIC)
        sum_up(to, s, in);
    else if (s->n == 0)
        to->values[number].x = source(to, s, number);
    else
        to->values[number].x = operator_on(to, s, in);
}

void program_play(struct program_player *to, int number)
{
    step s = &to->p->steps[number];

    assert_true(number == to->nvalues);
    assert_true(CAVS__APPEND(to->values, to->nvalues, (struct program_value){0}));
    if (!control(to, s))
        play(to, number);
}

void program_play_all(struct program_player *to, const struct program *p)
{
    to->p = p;
    to->nvalues = 0;
    for (int i = 0; i < p->nsteps; i++)
        program_play(to, i);
}

void program_player_close(struct program_player *to)
{
    for (int i = 0; i < to->nvalues; i++)
        free(to->values[i].entries);
    free(to->values);
    free(to->answers);
}

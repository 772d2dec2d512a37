/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_play.c - see random_program.h: a step, on a tape or in a declared function.
 *
 * A function has no lists of symbols.  There an operator on lists is one on each entry, and what
 * takes all entries a chain of operators on two: which shares nothing with core/tape/list.c.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "tests/random_program_builders.h"
#include "tests/trial.h"

enum { MOST_OPERANDS = 64 };

const char *const program_op_names[] = {
#define STEP(NAME, name) [PROGRAM_##NAME] = #name,
#include "tests/random_program.def"
#undef STEP
};

const char *const program_summed[PROGRAM_SUMMED] = {"loss", "errors", "mean", "correct"};

typedef struct cavs_symbol *symbol;
typedef const struct program_step *step;

/* Equal symbols of a function are one, and its gradient the sum of theirs.  The oracle's are as
 * many as the tape's. */
static void share_nothing(const struct program_player *to)
{
    struct cavs__equals *e = &to->f->equals;

    if (!to->plain || to->f->nsymbols == 0)
        return;
    assert_true(cavs__table_begin(&e->table, 1024)); /* for those of one step */
    e->room = INT_MAX;
    e->n = to->f->nsymbols;
}

/* ---- lists ---- */

static bool takes_list(step s)
{
    return s->op >= PROGRAM_SUM_CHILDREN && s->op <= PROGRAM_SOFTMAX_CHILDREN;
}

static symbol over_list(step s, symbol x)
{
    switch (s->op) {
    case PROGRAM_SUM_CHILDREN: return cavs_sum_children_at(x, program_place(s));
    case PROGRAM_MEAN_CHILDREN: return cavs_mean_children_at(x, program_place(s));
    case PROGRAM_MAX_CHILDREN: return cavs_max_children_at(x, program_place(s));
    default: return cavs_softmax_children_at(x, program_place(s));
    }
}

/* The first of equal ones counts as the largest: cavs_max() takes its second operand then. */
static symbol over_entries(step s, int n, const symbol *x)
{
    symbol all = x[0];

    for (int i = 1; i < n; i++)
        all = s->op == PROGRAM_MAX_CHILDREN ? cavs_max_at(x[i], all, program_place(s))
                                            : cavs_add_at(all, x[i], program_place(s));
    return s->op == PROGRAM_MEAN_CHILDREN ? cavs_scale_at(all, 1 / (float)n, program_place(s))
                                          : all;
}

static void softmax(step s, int n, const symbol *x, symbol *out)
{
    symbol all;

    for (int i = 0; i < n; i++)
        out[i] = cavs_exp_at(x[i], 0, program_place(s));
    all = over_entries(&(struct program_step){.op = PROGRAM_SUM_CHILDREN, .line = s->line}, n, out);
    for (int i = 0; i < n; i++)
        out[i] = cavs_div_at(out[i], all, program_place(s));
}

/* Entry e of an operand, or the operand itself if it is no list. */
static symbol entry(const struct program_player *to, int operand, int e)
{
    const struct program_value *v = &to->values[operand];

    return v->entries ? v->entries[e] : v->x;
}

static void each_entry(struct program_player *to, int number, int n, symbol *out)
{
    step s = &to->p->steps[number];
    const int *operands = program_operands(to->p, s);
    symbol in[MOST_OPERANDS];

    for (int e = 0; e < n; e++) {
        for (int i = 0; i < s->n; i++)
            in[i] = entry(to, operands[i], e);
        share_nothing(to);
        out[e] =
            s->op == PROGRAM_LIST ? to->values[operands[e]].x : program_operator(to, number, e, in);
    }
}

/* In a function: what a list is, or what is made of one. */
static void play_list(struct program_player *to, int number)
{
    step s = &to->p->steps[number];
    const int *operands = program_operands(to->p, s);
    struct program_value *v = &to->values[number];
    symbol *of = takes_list(s) ? to->values[operands[0]].entries : NULL;
    int n = of ? to->p->steps[operands[0]].entries : s->entries;

    if (of && s->op != PROGRAM_SOFTMAX_CHILDREN) {
        v->x = over_entries(s, n, of);
        return;
    }
    v->entries = calloc((size_t)n, sizeof(symbol));
    assert_non_null(v->entries);
    if (of)
        softmax(s, n, of, v->entries);
    else
        each_entry(to, number, n, v->entries);
}

/* ---- declared functions ---- */

/* A body, whose formals and sources are the operands one after the other. */
static symbol inlined(struct program_player *to, step s, const symbol *in);

static symbol applied(struct program_player *to, step s, const symbol *in)
{
    const struct program *b = &to->family->body[s->k];
    struct cavs_named inputs[MOST_OPERANDS];
    char names[MOST_OPERANDS][16];
    struct cavs_application a = {.inputs = inputs, .children = in};
    int n = 0;

    for (int i = 0; i < b->nsteps; i++) {
        if (b->steps[i].op == PROGRAM_FORMAL) {
            a.nchildren++;
            n++;
        } else if (b->steps[i].op == PROGRAM_ROW || b->steps[i].op == PROGRAM_ID) {
            snprintf(names[a.ninputs], sizeof names[0], "%d", i);
            inputs[a.ninputs] = (struct cavs_named){names[a.ninputs], in[n++]};
            a.ninputs++;
        }
    }
    return cavs_tape_apply_at(to->t, to->family->function[s->k], &a, program_place(s));
}

/* ---- what is summed up ---- */

/* What was taken back has no part in the oracle's sums. */
static void sum_up(const struct program_player *to, step s, const symbol *in)
{
    if (to->t || !(s->dropped || to->dropped))
        cavs_metric_at(to->f, program_summed[s->k], in[0], s->n > 1 ? in[1] : NULL,
                       s->op == PROGRAM_LOSS, program_place(s));
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
static bool control(struct program_player *to, int number)
{
    step s = &to->p->steps[number];

    switch (s->op) {
    case PROGRAM_SAMPLE:
        if (to->t)
            to->f = cavs_tape_sample(to->t);
        return true;
    case PROGRAM_RESUME:
        if (to->t)
            to->f = cavs_tape_resume(to->t, s->k);
        return true;
    case PROGRAM_MARK:
        if (to->t)
            to->values[number].mark = cavs_tape_mark(to->t);
        return true;
    case PROGRAM_REWIND:
        if (to->t)
            check_ok(cavs_tape_rewind(to->t, to->values[s->k].mark));
        return true;
    case PROGRAM_ASK:
        if (to->t)
            ask(to, s);
        return true;
    default: return false;
    }
}

/* ---- a step ---- */

static void forget_values(struct program_player *to)
{
    for (int i = 0; i < to->nvalues; i++) {
        free(to->values[i].entries);
        free(to->values[i].keys);
    }
    free(to->values);
}

/* A step without lists, or on a tape. */
static symbol play_symbol(struct program_player *to, step s, int number, const symbol *in)
{
    switch (s->op) {
    case PROGRAM_LOSS:
    case PROGRAM_METRIC: sum_up(to, s, in); return NULL;
    case PROGRAM_LIST: return cavs_tape_list_at(to->t, s->n, in, program_place(s));
    case PROGRAM_APPLY: return to->t ? applied(to, s, in) : inlined(to, s, in);
    default: break;
    }
    if (takes_list(s))
        return over_list(s, in[0]);
    return s->n == 0 ? program_source(to, number) : program_operator(to, number, 0, in);
}

static symbol inlined(struct program_player *to, step s, const symbol *in)
{
    struct program_player body = *to;
    symbol result;

    body.p = &to->family->body[s->k];
    body.values = NULL;
    body.nvalues = 0;
    body.dropped = s->dropped;
    for (int i = 0; i < body.p->nsteps; i++) {
        enum program_op op = body.p->steps[i].op;

        if (op == PROGRAM_FORMAL || op == PROGRAM_ROW || op == PROGRAM_ID)
            assert_true(
                CAVS__APPEND(body.values, body.nvalues, (struct program_value){.x = *in++}));
        else
            program_play(&body, i);
    }
    result = body.values[body.nvalues - 1].x;
    forget_values(&body);
    return result;
}

static void play(struct program_player *to, int number)
{
    step s = &to->p->steps[number];
    const int *operands = program_operands(to->p, s);
    symbol in[MOST_OPERANDS];

    assert_in_range(s->n, 0, MOST_OPERANDS);
    if (!to->t)
        share_nothing(to);
    for (int i = 0; i < s->n; i++)
        in[i] = to->values[operands[i]].x;
    if (!to->t && (s->entries || takes_list(s)))
        play_list(to, number);
    else
        to->values[number].x = play_symbol(to, s, number, in);
}

void program_make_room(struct program_player *to, int steps)
{
    while (to->nvalues < steps)
        assert_true(CAVS__APPEND(to->values, to->nvalues, (struct program_value){0}));
}

void program_play_again(struct program_player *to, int number)
{
    if (!control(to, number))
        play(to, number);
}

void program_play(struct program_player *to, int number)
{
    assert_true(number == to->nvalues);
    program_make_room(to, number + 1);
    program_play_again(to, number);
    if (to->t)
        program_note_keys(to, number);
}

void program_play_until(struct program_player *to, int end)
{
    while (to->nvalues < end) {
        if (!to->together || !program_play_together(to, end))
            program_play(to, to->nvalues);
    }
}

void program_play_all(struct program_player *to, const struct program *p)
{
    to->p = p;
    program_play_until(to, p->nsteps);
}

void program_player_close(struct program_player *to)
{
    forget_values(to);
    free(to->answers);
}

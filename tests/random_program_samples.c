/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_samples.c - see random_program.h: what a program does with its operators. */
#include "tests/random_program.h"

static int pick(struct program_draw *c, int n)
{
    return draw_pick(&c->family->d, n);
}

/* A step that makes no value. */
static int act(struct program_draw *c, enum program_op op, int n, const int *operands)
{
    return program_add(c, (struct program_step){.op = op}, n, operands);
}

/* A call of a body with states; those that it takes beyond the first are any of the sample's. */
static int step_on(struct program_draw *c, int body, int state)
{
    int actual[PROGRAM_FORMALS] = {state};

    for (int i = 1; i < c->family->nformals[body]; i++)
        actual[i] = program_draw_of_width(c, c->family->width);
    return program_call(c, body, actual);
}

static void chain(struct program_draw *c, int length)
{
    int state = program_draw_of_width(c, c->family->width), body = pick(c, PROGRAM_BODIES);

    for (int i = 0; i < length; i++) {
        state = step_on(c, body, state);
        if (pick(c, 5) == 0)
            body = pick(c, PROGRAM_BODIES);
    }
    c->pool[c->npool++] = state;
}

static void sample(struct program_draw *c)
{
    act(c, PROGRAM_SAMPLE, 0, NULL);
    c->npool = 0;
    if (pick(c, 8) == 0)
        return;
    for (int i = 1 + pick(c, 3); i > 0; i--)
        program_draw_source(c);
    for (int i = pick(c, 6); i > 0; i--)
        program_draw_operator(c);
    if (pick(c, 3))
        chain(c, 1 + pick(c, pick(c, 5) ? 6 : 40));
    program_draw_losses(c);
    act(c, PROGRAM_ASK, 1, &c->pool[c->npool - 1]);
}

/* Has it a gradient of its own?  Columns are those of others, or others' are theirs. */
static bool may_be_wanted(const struct program_step *s)
{
    return s->trained && s->width > 0 && s->entries == 0 && !s->dropped && s->op != PROGRAM_USE &&
           s->op != PROGRAM_SLICE && s->op != PROGRAM_CONCAT;
}

static void want(struct program_draw *c)
{
    for (int i = 0; i < PROGRAM_WANTED; i++) {
        int step = pick(c, c->p->nsteps);

        if (may_be_wanted(&c->p->steps[step]))
            c->p->wanted[c->p->nwanted++] = step;
    }
}

void program_draw_recording(struct program_draw *c)
{
    c->line = 0;
    c->nlines = 40;
    for (int i = 1 + pick(c, 7); i > 0; i--)
        sample(c);
    if (c->p->run == CAVS_TAPE_GRADIENT && pick(c, 2))
        want(c);
}

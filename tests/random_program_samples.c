/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_samples.c - see random_program.h: what a program does with its operators. */
#include "tests/random_program_parts.h"
#include "tests/trial.h"

enum { SAMPLES = 9, MOST_ASKED = 24, TREE = 9 };

/* A recording being drawn. */
struct recording {
    struct program_draw *c;
    bool joined;       /* samples read one another, and nothing is asked for amid them */
    int last[SAMPLES]; /* a value of each sample; -1: it has none */
};

/* A step that makes no value. */
static int act(struct program_draw *c, enum program_op op, int k)
{
    return program_add(c, (struct program_step){.op = op, .k = k}, 0, NULL);
}

static int state(struct program_draw *c)
{
    return program_draw_of_width(c, c->family->width);
}

/* ---- calls ---- */

/* A call of a body with these states, as far as it takes them; others are any of the sample's. */
static int step_on(struct program_draw *c, int body, int n, const int *states)
{
    int actual[PROGRAM_FORMALS];

    for (int i = 0; i < c->family->nformals[body]; i++)
        actual[i] = i < n ? states[i] : state(c);
    return c->family->function[body] && pick(c, 3) == 0 ? program_apply(c, body, actual)
                                                        : program_call(c, body, actual);
}

/* Some are deep, of which each step takes the state for little, lest gradients know no bounds. */
static int chain(struct program_draw *c, int length)
{
    int x = state(c), body = pick(c, PROGRAM_BODIES), fixed = pick(c, 2);

    for (int i = 0; i < length; i++) {
        if (length > 10)
            x = program_elementwise(c, "scale", 0.3f, x, 1);
        x = step_on(c, body, 1, &x);
        if (!fixed && pick(c, 5) == 0)
            body = pick(c, PROGRAM_BODIES);
    }
    return x;
}

static int tree(struct program_draw *c, int leaf, int inner, int leaves)
{
    int left = leaves > 1 ? 1 + pick(c, leaves - 1) : 0, of[2];

    if (leaves == 1)
        return step_on(c, leaf, 0, NULL);
    of[0] = tree(c, leaf, inner, left);
    of[1] = tree(c, leaf, inner, leaves - left);
    return step_on(c, inner, 2, of);
}

/* What a vertex of many parents is: a body of all that chains end in. */
static int wide(struct program_draw *c)
{
    int xs[2 * TREE], n = 1 + pick(c, 2 * TREE), body = pick(c, PROGRAM_BODIES), x;

    for (int i = 0; i < n; i++)
        xs[i] = step_on(c, body, 0, NULL);
    x = program_step(
        c, (struct program_step){.op = PROGRAM_LIST, .width = c->family->width, .most = 1}, n, xs);
    x = program_together(c, x);
    return step_on(c, pick(c, PROGRAM_BODIES), 1, &x);
}

static int structure(struct program_draw *c)
{
    switch (pick(c, 5)) {
    case 0: return tree(c, pick(c, PROGRAM_BODIES), pick(c, PROGRAM_BODIES), 1 + pick(c, TREE));
    case 1: return wide(c);
    case 2: return chain(c, pick(c, 3) ? 1 : 11 + pick(c, 50));
    default: return chain(c, 1 + pick(c, 6));
    }
}

/* ---- samples ---- */

/* Values that are asked for; the last of them is a number that the program goes by. */
static float ask(struct program_draw *c, int n, const int *values)
{
    program_add(c, (struct program_step){.op = PROGRAM_ASK}, n, values);
    return c->live->answers[c->live->nanswers - 1];
}

/* The last values of the pool that are no lists, at most n of them; how many. */
static int some_values(struct program_draw *c, int n, int *values)
{
    int found = 0;

    for (int i = c->npool - 1; i >= 0 && found < n; i--) {
        if (at(c, c->pool[i])->entries == 0)
            values[found++] = c->pool[i];
    }
    return found;
}

static void search(struct program_draw *c);

/* Something that may be asked for or counted among losses, amid which something else is tried: that
 * is taken back first, or has a mark that nobody goes back to.  In a sample of its own nothing is
 * asked for ahead of the end: what it reads of another one would come too late. */
static void attempt(struct program_draw *c)
{
    bool own = pick(c, 4) == 0, asks = c->asks;
    int values[3], n;

    if (own) {
        act(c, PROGRAM_SAMPLE, 0);
        c->nsamples++;
    }
    c->asks = asks && !own;
    for (int i = 1 + pick(c, 3); i > 0; i--)
        program_draw_operator(c);
    if (pick(c, 4) == 0)
        search(c);
    if (pick(c, 4) == 0)
        act(c, PROGRAM_MARK, 0);
    program_keep(c, structure(c));
    if (pick(c, 2))
        program_draw_losses(c);
    c->asks = asks;
    n = some_values(c, 3, values);
    if (n > 0 && c->asks && pick(c, 2))
        ask(c, n, values);
}

/* Tries something and takes it back, perhaps twice to the same mark. */
static void search(struct program_draw *c)
{
    int mark = act(c, PROGRAM_MARK, 0), npool = c->npool, nsamples = c->nsamples;

    for (int i = 1 + (pick(c, 3) == 0); i > 0; i--) {
        attempt(c);
        act(c, PROGRAM_REWIND, mark);
        c->npool = npool;
        c->nsamples = nsamples;
    }
    for (int i = mark; i < c->p->nsteps; i++)
        c->p->steps[i].dropped = true;
}

static void values_of_others(struct recording *r)
{
    struct program_draw *c = r->c;

    for (int i = 0; r->joined && i < c->nsamples - 1; i++) {
        if (r->last[i] >= 0 && pick(c, 2))
            program_keep(c, r->last[i]);
    }
}

static void sample(struct recording *r)
{
    struct program_draw *c = r->c;
    int values[3], n;

    act(c, PROGRAM_SAMPLE, 0);
    c->npool = 0;
    r->last[c->nsamples++] = -1;
    if (pick(c, 8) == 0)
        return;
    program_draw_source(c);
    values_of_others(r);
    for (int i = pick(c, 4); i > 0; i--)
        program_draw_source(c);
    for (int i = pick(c, 8); i > 0; i--)
        program_draw_operator(c);
    if (pick(c, 4) == 0)
        search(c);
    if (pick(c, 3))
        program_keep(c, structure(c));
    if (pick(c, 4))
        program_draw_losses(c);
    n = c->asks && pick(c, 3) == 0 ? some_values(c, 3, values) : 0;
    if (n > 0 && ask(c, n, values) > 0)
        program_keep(c, structure(c));
    r->last[c->nsamples - 1] = state(c);
}

/* A sample goes on with its last value, as that tells it to. */
static void go_on(struct recording *r, int sample, float value)
{
    struct program_draw *c = r->c;

    act(c, PROGRAM_RESUME, sample);
    c->npool = 0;
    program_keep(c, r->last[sample]);
    if (value > 0)
        program_keep(c, chain(c, 1 + pick(c, 3)));
    else
        program_draw_operator(c);
    if (value > 0.5f && pick(c, 2))
        search(c);
    program_draw_losses(c);
    r->last[sample] = state(c);
}

/* All samples advance together. */
static void round_of_all(struct recording *r)
{
    struct program_draw *c = r->c;
    int values[SAMPLES], n = 0, before, at_width = c->family->width;

    for (int i = 0; i < c->nsamples; i++) {
        if (r->last[i] >= 0)
            values[n++] = r->last[i];
    }
    if (n == 0)
        return;
    ask(c, n, values);
    if (r->joined)
        return; /* what goes on could belong to any of those that it is made of */
    before = c->live->nanswers - n * at_width;
    n = 0;
    for (int i = 0; i < c->nsamples; i++) {
        if (r->last[i] >= 0)
            go_on(r, i, c->live->answers[before + n++ * at_width]);
    }
}

/* ---- a recording ---- */

/* Columns are those of others, or others' are theirs; and what sums up a single number is that
 * number. */
static bool is_another(const struct program_draw *c, int step)
{
    const struct cavs_symbol *x = c->live->values[step].x;

    for (int i = 0; i < step; i++) {
        if (c->live->values[i].x == x)
            return true;
    }
    return at(c, step)->op == PROGRAM_SLICE || at(c, step)->op == PROGRAM_CONCAT ||
           x->op == CAVS__OP_USE || x->op == CAVS__OP_SLICE || x->op == CAVS__OP_CONCAT;
}

/* Has it a value, or, where there are gradients, one of its own? */
static bool may_be_wanted(const struct program_draw *c, int step)
{
    const struct program_step *s = at(c, step);

    if (s->width == 0 || s->width > PROGRAM_WIDEST || s->entries > 0 || s->dropped)
        return false;
    return c->p->run == CAVS_TAPE_EVALUATE || (s->trained && !is_another(c, step));
}

static void want(struct program_draw *c)
{
    for (int i = 0; i < PROGRAM_WANTED; i++) {
        int step = pick(c, c->p->nsteps);

        if (may_be_wanted(c, step))
            c->p->wanted[c->p->nwanted++] = step;
    }
}

void program_draw_recording(struct program_draw *c)
{
    struct recording r = {.c = c, .joined = pick(c, 4) == 0};

    c->line = 0;
    c->nlines = 40;
    c->nsamples = 0;
    c->asks = !r.joined && pick(c, 2);
    c->drops = pick(c, 2);
    for (int i = 1 + pick(c, SAMPLES - 2); i > 0; i--)
        sample(&r);
    c->asks = true;
    for (int i = pick(c, 3); i > 0; i--)
        round_of_all(&r);
    if (pick(c, 2))
        want(c);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_parts.h - what drawing the steps of a program is made of: inside of
 * random_program_draw.c, random_program_operators.c and random_program_lists.c.
 *
 * All values stay within a few units.  Where a derivative jumps, values are moved by a number that
 * nothing else makes, lest rounding decide which of both is right.
 */
#ifndef CAVS_TESTS_RANDOM_PROGRAM_PARTS_H
#define CAVS_TESTS_RANDOM_PROGRAM_PARTS_H

#include "tests/random_program.h"

#define PROGRAM_LARGE 4.0f
#define PROGRAM_ODD   0.37f

static inline int pick(struct program_draw *c, int n)
{
    return draw_pick(&c->family->d, n);
}

static inline struct program_step *at(const struct program_draw *c, int value)
{
    return &c->p->steps[value];
}

static inline int width(const struct program_draw *c, int value)
{
    return at(c, value)->width;
}

static inline int any(struct program_draw *c)
{
    return c->pool[pick(c, c->npool)];
}

/* x, which joins the pool. */
int program_keep(struct program_draw *c, int x);
/* Adds a step where the program stands; a list if an operand is one. */
int program_step(struct program_draw *c, struct program_step s, int n, const int *operands);
/* The element-wise operator of that name, of one operand. */
int program_elementwise(struct program_draw *c, const char *name, float s, int x, float most);
static inline int program_tanh(struct program_draw *c, int x)
{
    return program_elementwise(c, "tanh", 0, x, 1);
}
/* For what cannot be drawn of x. */
static inline int program_negative(struct program_draw *c, int x)
{
    return program_elementwise(c, "neg", 0, x, at(c, x)->most);
}
/* x, or its tanh, no further from zero than PROGRAM_LARGE; beside where derivatives jump. */
int program_bounded(struct program_draw *c, int x);
int program_off(struct program_draw *c, int x);
/* Columns, their sum, and values side by side. */
int program_slice(struct program_draw *c, int x, int from, int wide);
int program_sum(struct program_draw *c, int x);
int program_concat(struct program_draw *c, int n, const int *xs);
/* Another value that can be joined with x: not of another list; and one made as wide, or of width
 * one. */
int program_beside(struct program_draw *c, int x);
int program_fit(struct program_draw *c, int x, int y);
/* x of all entries together, if it is a list. */
int program_together(struct program_draw *c, int x);
/* Ids below the limit, or -1: one for each entry of x. */
int program_ids(struct program_draw *c, int x, int limit);
/* A parameter of that sort with so many rows and columns, -1: any; NULL: there is none. */
const struct cavs_param *program_param(struct program_draw *c, const char *sort, int rows,
                                       int cols);

#endif

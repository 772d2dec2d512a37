/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_lists.c - see random_program.h: lists, and what takes all entries of one. */
#include "tests/random_program_parts.h"
#include "tests/trial.h"

enum { MOST_ENTRIES = 40 };

static int list_of(struct program_draw *c, int n, const int *xs)
{
    return program_step(
        c,
        (struct program_step){.op = PROGRAM_LIST, .width = width(c, xs[0]), .most = PROGRAM_LARGE},
        n, xs);
}

static int id(struct program_draw *c, int limit)
{
    return program_step(c,
                        (struct program_step){.op = PROGRAM_ID,
                                              .k = pick(c, 8) ? pick(c, limit) : -1,
                                              .which = limit},
                        0, NULL);
}

int program_ids(struct program_draw *c, int x, int limit)
{
    int ids[MOST_ENTRIES], n = x < 0 ? 0 : at(c, x)->entries;

    if (n == 0)
        return id(c, limit);
    for (int i = 0; i < n; i++)
        ids[i] = id(c, limit);
    return list_of(c, n, ids);
}

int program_together(struct program_draw *c, int x)
{
    struct program_step s = {.op = PROGRAM_SUM_CHILDREN, .width = width(c, x), .most = 1000};

    if (at(c, x)->entries == 0)
        return x;
    s.op = (enum program_op)(PROGRAM_SUM_CHILDREN + pick(c, 3));
    return program_bounded(c, program_step(c, s, 1, &x));
}

/* Values of one width, which may occur several times. */
static int collected(struct program_draw *c)
{
    int xs[MOST_ENTRIES], wide = 1 + pick(c, c->family->d.widest);
    int n = 1 + pick(c, pick(c, 4) ? 5 : MOST_ENTRIES);

    for (int i = 0; i < n; i++) {
        int x = any(c);

        xs[i] = at(c, x)->entries == 0 && width(c, x) == wide ? program_bounded(c, x)
                : i > 0 && pick(c, 4) == 0                    ? xs[pick(c, i)]
                                                              : program_draw_of_width(c, wide);
    }
    return list_of(c, n, xs);
}

/* Attention: the entries by what they are like. */
static int softmax(struct program_draw *c, int x)
{
    struct program_step s = {.op = PROGRAM_SOFTMAX_CHILDREN, .width = width(c, x), .most = 1};

    x = program_bounded(c, x);
    return program_step(c, s, 1, &x);
}

int program_draw_of_list(struct program_draw *c)
{
    int x = any(c);

    for (int i = 0; i < 6 && at(c, x)->entries == 0; i++)
        x = any(c);
    if (at(c, x)->entries == 0 || pick(c, 3) == 0)
        return collected(c);
    return pick(c, 3) ? program_together(c, x) : softmax(c, x);
}

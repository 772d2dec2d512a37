/* SPDX-License-Identifier: Apache-2.0 */
/* The parser's transitions: the oracle finds every tree without crossing arcs, and moves never get
 * stuck. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "apps/transitions.h"
#include "tests/random.h"

enum { MOST = 24 };

static int stack[MOST], head[MOST], relation[MOST];

static struct parse start(int n)
{
    struct parse p = {.n = n, .stack = stack, .head = head, .relation = relation};

    parse_start(&p);
    return p;
}

/* The moves of the oracle; how many, or -1 when it gives up. */
static int follow(struct parse *p, const int *want, const int *labels)
{
    int waiting[MOST] = {0}, moves = 0;

    for (int v = 1; v < p->n; v++)
        waiting[want[v]]++;
    for (; !parse_is_done(p); moves++) {
        enum move m = parse_oracle(p, want, waiting);

        if (m == MOVES)
            return -1;
        if (!parse_allows(p, m))
            fail_msg("move %d of the oracle is not allowed", m);
        parse_oracle_move(p, m, labels, waiting);
    }
    return moves;
}

/* A tree without crossing arcs over words from .. to-1, all of whose vertices hang below
 * `above`. */
static void grow(uint64_t *random, int from, int to, int above, int *tree)
{
    int top;

    if (from >= to)
        return;
    top = random_int(random, from, to - 1);
    tree[top] = above;
    for (int begin = from, end; begin < to; begin = end) {
        if (begin == top) {
            end = top + 1;
            continue;
        }
        end = random_int(random, begin + 1, begin < top ? top : to);
        grow(random, begin, end, top, tree);
    }
}

static void the_oracle_finds_every_tree_without_crossing_arcs(void **state)
{
    uint64_t random = 3;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        int n = random_int(&random, 2, MOST), want[MOST] = {-1}, labels[MOST];
        struct parse p = start(n);

        grow(&random, 1, n, 0, want);
        for (int v = 0; v < n; v++)
            labels[v] = random_int(&random, 0, 50);
        assert_int_equal(follow(&p, want, labels), 2 * (n - 1));
        for (int v = 1; v < n; v++)
            if (head[v] != want[v] || relation[v] != labels[v])
                fail_msg("tree %d: word %d of %d has head %d, not %d", i, v, n, head[v], want[v]);
    }
}

static void crossing_arcs_are_noticed(void **state)
{
    static const int crossing[][6] = {{-1, 3, 4, 0, 3, 3}, {-1, 0, 4, 1, 1, 2}};
    static const int labels[6] = {0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct parse p = start(6);

        assert_int_equal(follow(&p, crossing[i], labels), -1);
    }
}

static void any_allowed_moves_end_in_a_tree(void **state)
{
    uint64_t random = 5;

    (void)state;
    for (int i = 0; i < 3000; i++) {
        int n = random_int(&random, 1, MOST), moves = 0, roots = 0;
        struct parse p = start(n);

        for (; !parse_is_done(&p); moves++) {
            int m = random_int(&random, 0, MOVES - 1), tries = 0;

            for (; !parse_allows(&p, m); m = (m + 1) % MOVES)
                if (++tries == MOVES)
                    fail_msg("no move is allowed after %d", moves);
            parse_move(&p, m, 7);
        }
        assert_int_equal(moves, 2 * (n - 1));
        for (int v = 1; v < n; v++) {
            int steps = 0;

            roots += head[v] == 0;
            for (int u = v; u != 0; u = head[u])
                if (head[u] < 0 || ++steps > n)
                    fail_msg("word %d of %d does not hang below the root", v, n);
        }
        assert_int_equal(roots, n > 1);
    }
}

static void decisions_look_at_what_is_there(void **state)
{
    struct parse p = start(3);
    int at[POSITIONS];

    (void)state;
    parse_look(&p, at);
    assert_int_equal(at[STACK_0], 0);
    assert_int_equal(at[STACK_1], -1);
    assert_int_equal(at[NEXT], 1);
    parse_move(&p, SHIFT, -1);
    parse_move(&p, SHIFT, -1);
    parse_look(&p, at);
    assert_int_equal(at[STACK_0], 2);
    assert_int_equal(at[STACK_1], 1);
    assert_int_equal(at[STACK_2], 0);
    assert_int_equal(at[NEXT], -1);
    assert_false(parse_allows(&p, SHIFT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_finds_every_tree_without_crossing_arcs),
        cmocka_unit_test(crossing_arcs_are_noticed),
        cmocka_unit_test(any_allowed_moves_end_in_a_tree),
        cmocka_unit_test(decisions_look_at_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

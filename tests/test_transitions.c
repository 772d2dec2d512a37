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

#include "apps/dynamic_oracle.h"
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

/* ---- moves that are not the oracle's --------------------------------------------------------- */

/* The fewest arcs that are missing at the end, by all moves that there are. */
static int least_wrong(const struct parse *p, const int *want)
{
    int least = MOST;

    if (parse_is_done(p)) {
        int wrong = 0;

        for (int v = 1; v < p->n; v++)
            wrong += p->head[v] != want[v];
        return wrong;
    }
    for (enum move m = 0; m < MOVES; m++) {
        int stack_copy[MOST], head_copy[MOST], relation_copy[MOST], wrong;
        struct parse next = *p;

        if (!parse_allows(p, m))
            continue;
        next.stack = memcpy(stack_copy, p->stack, sizeof stack_copy);
        next.head = memcpy(head_copy, p->head, sizeof head_copy);
        next.relation = memcpy(relation_copy, p->relation, sizeof relation_copy);
        parse_move(&next, m, 0);
        wrong = least_wrong(&next, want);
        least = wrong < least ? wrong : least;
    }
    return least;
}

/* What least_wrong() says of each move. */
static void compare_costs(struct dynamic_oracle *o, struct parse *p, const int *want)
{
    int cost[MOVES], least = least_wrong(p, want);

    assert_int_equal(dynamic_oracle_costs(o, p, want, cost), 0);
    for (enum move m = 0; m < MOVES; m++) {
        int before[3][MOST], expected;
        struct parse kept = *p;

        if (!parse_allows(p, m)) {
            assert_int_equal(cost[m], ORACLE_FORBIDDEN);
            continue;
        }
        memcpy(before[0], stack, sizeof stack);
        memcpy(before[1], head, sizeof head);
        memcpy(before[2], relation, sizeof relation);
        parse_move(p, m, 0);
        expected = least_wrong(p, want) - least;
        memcpy(stack, before[0], sizeof stack);
        memcpy(head, before[1], sizeof head);
        memcpy(relation, before[2], sizeof relation);
        *p = kept;
        if (cost[m] != expected)
            fail_msg("move %d of %d words at %d, %d on the stack: cost %d, not %d", m, p->n,
                     p->next, p->depth, cost[m], expected);
    }
}

static void the_dynamic_oracle_knows_what_each_move_costs(void **state)
{
    uint64_t random = 11;
    struct dynamic_oracle o = {0};

    (void)state;
    for (int i = 0; i < 400; i++) {
        int n = random_int(&random, 2, 7), want[MOST] = {-1};
        struct parse p = start(n);

        grow(&random, 1, n, 0, want);
        while (!parse_is_done(&p)) {
            int m = random_int(&random, 0, MOVES - 1);

            compare_costs(&o, &p, want);
            while (!parse_allows(&p, m))
                m = (m + 1) % MOVES;
            parse_move(&p, m, 7);
        }
    }
    dynamic_oracle_clear(&o);
}

/* From wherever it is, a move without a cost leaves what can be reached as it was. */
static void moves_without_a_cost_end_in_the_tree(void **state)
{
    uint64_t random = 13;
    struct dynamic_oracle o = {0};

    (void)state;
    for (int i = 0; i < 300; i++) {
        int n = random_int(&random, 2, MOST), want[MOST] = {-1}, cost[MOVES];
        struct parse p = start(n);

        grow(&random, 1, n, 0, want);
        while (!parse_is_done(&p)) {
            int m = random_int(&random, 0, MOVES - 1);

            assert_int_equal(dynamic_oracle_costs(&o, &p, want, cost), 0);
            while (cost[m] != 0)
                m = (m + 1) % MOVES;
            parse_move(&p, m, 7);
        }
        assert_memory_equal(head + 1, want + 1, (size_t)(n - 1) * sizeof *head);
    }
    dynamic_oracle_clear(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_finds_every_tree_without_crossing_arcs),
        cmocka_unit_test(crossing_arcs_are_noticed),
        cmocka_unit_test(any_allowed_moves_end_in_a_tree),
        cmocka_unit_test(decisions_look_at_what_is_there),
        cmocka_unit_test(the_dynamic_oracle_knows_what_each_move_costs),
        cmocka_unit_test(moves_without_a_cost_end_in_the_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

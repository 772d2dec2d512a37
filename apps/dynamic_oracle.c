/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dynamic_oracle.c - the best that can still become of a stack and the words to come.
 *
 * What comes is put together as far as the tree itself does it: heads take dependents that have all
 * of theirs.  What remains stands to the right of the stack, whose topmost word lies between both
 * sides.  From it a piece grows to the left and to the right, a word at a time; a table has, for
 * each piece and each word that may be its head, how many arcs it lacks at least.
 */
#include "apps/dynamic_oracle.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"
#include "core/cavs.h"

enum { NEVER = INT_MAX / 2 };

/* Words on both sides of the topmost: left[0] and right[0] are that. */
struct sides {
    const int *head;
    int nleft, nright;
    int *left, *right;
    int *word, *head_of; /* of pieces, where those of the left side come first, and their heads */
};

/* How many dependents each word still waits for: of those that have no head yet. */
static void count_waiting(const struct parse *p, const int *head, int *waiting)
{
    memset(waiting, 0, (size_t)p->n * sizeof *waiting);
    for (int d = 1; d < p->depth; d++)
        waiting[head[p->stack[d]]]++;
    for (int w = p->next; w < p->n; w++)
        waiting[head[w]]++;
}

/* Arcs of the tree between the two topmost words of what comes; true if there was one. */
static bool reduce(struct sides *s, int *waiting)
{
    int *second, *top;

    if (s->nright < 3)
        return false;
    top = &s->right[s->nright - 1];
    second = top - 1;
    if (s->head[*second] == *top && !waiting[*second]) {
        waiting[*top]--;
        *second = *top;
    } else if (s->head[*top] == *second && !waiting[*top]) {
        waiting[*second]--;
    } else {
        return false;
    }
    s->nright--;
    return true;
}

/* The root stays out of it: it gets the last piece of all. */
static void find_sides(const struct parse *p, struct sides *s, int *waiting)
{
    count_waiting(p, s->head, waiting);
    for (int d = p->depth - 1; d > 0; d--)
        s->left[s->nleft++] = p->stack[d];
    s->right[s->nright++] = s->left[0];
    for (int w = p->next; w < p->n; w++) {
        s->right[s->nright++] = w;
        while (reduce(s, waiting))
            ;
    }
}

static void list_words(struct sides *s)
{
    memcpy(s->word, s->left, (size_t)s->nleft * sizeof *s->word);
    memcpy(s->word + s->nleft, s->right + 1, (size_t)(s->nright - 1) * sizeof *s->word);
    for (int k = 0; k < s->nleft + s->nright - 1; k++)
        s->head_of[k] = s->head[s->word[k]];
}

/* What a piece lacks at least once word `at` has joined it: under its heads first .. last-1, in
 * to[k], which is at most what follows from `from`, the same piece without that word; under the
 * word itself, which is returned, if that is less than best. */
static int join(const struct sides *s, int first, int last, int at, int best, const int *from,
                int *to)
{
    int word = s->word[at], head = s->head_of[at];

    for (int k = first; k < last; k++) {
        int under_other = from[k] + (head != s->word[k]);
        int under_word = from[k] + (s->head_of[k] != word);

        to[k] = under_other < to[k] ? under_other : to[k];
        best = under_word < best ? under_word : best;
    }
    return best;
}

/* Of a piece with `left` words of the left side, and `right` of the right one but the topmost. */
static void join_both(const struct sides *s, int left, int right, int at, const int *from, int *to)
{
    int best = join(s, 0, left, at, to[at], from, to);

    to[at] = join(s, s->nleft, s->nleft + right, at, best, from, to);
}

/* Row j of the table has the piece of the first i + 1 words of the left side and the first j + 1 of
 * the right one; i grows. */
static int least_lack(const struct sides *s, int *table, int *scratch)
{
    int width = s->nleft + s->nright - 1, best = NEVER;

    for (int j = 0; j < s->nright; j++)
        for (int k = 0; k < width; k++)
            table[j * width + k] = NEVER;
    table[0] = 0;
    for (int i = 0; i < s->nleft; i++)
        for (int j = 0; j < s->nright; j++) {
            int *row = table + j * width;

            if (i > 0) {
                memcpy(scratch, row, (size_t)width * sizeof *row);
                for (int k = 0; k < width; k++)
                    row[k] = NEVER;
                join_both(s, i, j, i, scratch, row);
            }
            if (j > 0)
                join_both(s, i + 1, j - 1, s->nleft + j - 1, row - width, row);
        }
    for (int k = 0; k < width; k++) {
        int lacks = table[(s->nright - 1) * width + k] + (s->head_of[k] != 0);

        best = lacks < best ? lacks : best;
    }
    return best;
}

/* How many arcs of the tree, of those that are not decided yet, will be missing at best; -1: no
 * memory. */
static int loss(struct dynamic_oracle *o, const struct parse *p, const int *head)
{
    size_t n = (size_t)p->n;
    struct sides s = {.head = head};
    size_t width;

    if (p->depth == 1 && p->next == p->n)
        return 0;
    if (!array_reserve(&o->words, &o->words_room, 6 * n, sizeof *o->words))
        return -1;
    s.left = o->words + n;
    s.right = o->words + 2 * n;
    s.word = o->words + 3 * n;
    s.head_of = o->words + 4 * n;
    find_sides(p, &s, o->words);
    list_words(&s);
    width = (size_t)(s.nleft + s.nright - 1);
    if (!array_reserve(&o->table, &o->table_room, width * (size_t)s.nright, sizeof *o->table))
        return -1;
    return least_lack(&s, o->table, o->words + 5 * n);
}

/* What p is before a move, so that it can be taken back. */
struct undo {
    int depth, next, top, second;
};

static int dependent_of(const struct parse *p, enum move m)
{
    return p->stack[p->depth - (m == LEFT ? 2 : 1)];
}

static int cost_of(struct dynamic_oracle *o, struct parse *p, const int *head, enum move m)
{
    struct undo u = {p->depth, p->next, p->stack[p->depth - 1],
                     p->depth > 1 ? p->stack[p->depth - 2] : 0};
    int dependent = m == SHIFT ? -1 : dependent_of(p, m), cost;

    parse_move(p, m, -1);
    cost = loss(o, p, head);
    if (cost >= 0 && dependent >= 0)
        cost += p->head[dependent] != head[dependent];
    if (dependent >= 0)
        p->head[dependent] = -1;
    p->depth = u.depth;
    p->next = u.next;
    p->stack[u.depth - 1] = u.top;
    if (u.depth > 1)
        p->stack[u.depth - 2] = u.second;
    return cost;
}

int dynamic_oracle_costs(struct dynamic_oracle *o, struct parse *p, const int *head,
                         int cost[MOVES])
{
    int least = INT_MAX;

    for (enum move m = 0; m < MOVES; m++) {
        cost[m] = ORACLE_FORBIDDEN;
        if (!parse_allows(p, m))
            continue;
        cost[m] = cost_of(o, p, head, m);
        if (cost[m] < 0)
            return CAVS_ENOMEM;
        least = cost[m] < least ? cost[m] : least;
    }
    for (enum move m = 0; m < MOVES; m++)
        if (cost[m] != ORACLE_FORBIDDEN)
            cost[m] -= least;
    return 0;
}

void dynamic_oracle_clear(struct dynamic_oracle *o)
{
    free(o->words);
    free(o->table);
    *o = (struct dynamic_oracle){0};
}

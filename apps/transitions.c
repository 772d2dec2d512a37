/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/transitions.h"

void parse_start(struct parse *p)
{
    p->depth = 1;
    p->stack[0] = 0;
    p->next = 1;
    for (int v = 0; v < p->n; v++)
        p->head[v] = p->relation[v] = -1;
}

bool parse_is_done(const struct parse *p)
{
    return p->depth == 1 && p->next == p->n;
}

bool parse_allows(const struct parse *p, enum move m)
{
    switch (m) {
    case SHIFT: return p->next < p->n;
    case LEFT: return p->depth > 2; /* the root is nobody's dependent */
    case RIGHT:
        return p->depth > 2 ||
               (p->depth == 2 && p->next == p->n); /* one word below the root, the last */
    default: return false;
    }
}

void parse_move(struct parse *p, enum move m, int relation)
{
    int top, second;

    if (m == SHIFT) {
        p->stack[p->depth++] = p->next++;
        return;
    }
    top = p->stack[p->depth - 1];
    second = p->stack[p->depth - 2];
    p->depth--;
    if (m == LEFT) {
        p->stack[p->depth - 1] = top;
        p->head[second] = top;
        p->relation[second] = relation;
    } else {
        p->head[top] = second;
        p->relation[top] = relation;
    }
}

void parse_look(const struct parse *p, int at[POSITIONS])
{
    for (int i = 0; i < NEXT; i++)
        at[STACK_0 + i] = p->depth > i ? p->stack[p->depth - 1 - i] : -1;
    at[NEXT] = p->next < p->n ? p->next : -1;
}

enum move parse_oracle(const struct parse *p, const int *head, const int *waiting)
{
    int top = p->stack[p->depth - 1], second = p->depth > 1 ? p->stack[p->depth - 2] : -1;

    if (second > 0 && head[second] == top && !waiting[second])
        return LEFT;
    if (second >= 0 && head[top] == second && !waiting[top])
        return RIGHT;
    return p->next < p->n ? SHIFT : MOVES;
}

int parse_oracle_move(struct parse *p, enum move m, const int *relation, int *waiting)
{
    int dependent = m == LEFT ? p->stack[p->depth - 2] : p->stack[p->depth - 1];

    if (m == SHIFT) {
        parse_move(p, m, -1);
        return -1;
    }
    parse_move(p, m, relation[dependent]);
    waiting[p->head[dependent]]--;
    return relation[dependent];
}

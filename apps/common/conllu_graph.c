/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "apps/common/conllu.h"

void conllu_tree(const struct conllu_sentence *s, int *child_ptr, int *child)
{
    int n;

    memset(child_ptr, 0, (s->n + 1) * sizeof *child_ptr);
    for (int v = 0; v < s->n; v++)
        if (s->head[v] >= 0)
            child_ptr[s->head[v] + 1]++;
    for (int v = 0; v < s->n; v++)
        child_ptr[v + 1] += child_ptr[v];
    n = child_ptr[s->n];
    /* from the last word, so that child_ptr[h + 1] goes down to where the children of h begin */
    for (int v = s->n - 1; v >= 0; v--)
        if (s->head[v] >= 0)
            child[--child_ptr[s->head[v] + 1]] = v;
    for (int v = 0; v < s->n; v++)
        child_ptr[v] = child_ptr[v + 1];
    child_ptr[s->n] = n;
}

void conllu_tree_relations(const struct conllu_sentence *s, int *relation)
{
    for (int v = 0; v < s->n; v++)
        relation[v] = s->head[v] >= 0 ? s->relation[v] : -1;
}

void conllu_graph(const struct conllu_sentence *s, int *child_ptr, int *child, int *relation)
{
    int n = 0;

    memset(child_ptr, 0, (s->nodes + 1) * sizeof *child_ptr);
    for (int i = 0; i < s->nedges; i++)
        if (s->edges[i].head >= 0) {
            child_ptr[s->edges[i].head + 1]++;
            n++;
        }
    for (int v = 0; v < s->nodes; v++)
        child_ptr[v + 1] += child_ptr[v];
    for (int i = s->nedges - 1; i >= 0; i--) {
        const struct conllu_edge *edge = &s->edges[i];
        int at;

        if (edge->head < 0)
            continue;
        at = --child_ptr[edge->head + 1];
        child[at] = edge->node;
        if (relation)
            relation[at] = edge->relation;
    }
    for (int v = 0; v < s->nodes; v++)
        child_ptr[v] = child_ptr[v + 1];
    child_ptr[s->nodes] = n;
}

/* ---- cycles ---------------------------------------------------------------------------------- */

/* A walk down the graph.  A node's first child that has not been looked at is next[node]. */
struct walk {
    int *child_ptr, *child;
    int *state, *next, *path; /* [nodes] */
    int cut;
};

enum { UNSEEN, ON_PATH, DONE };

static const int CUT = -1; /* in place of a child */

static void walk_from(struct walk *w, int root)
{
    int depth = 0;

    w->path[depth++] = root;
    w->state[root] = ON_PATH;
    while (depth > 0) {
        int node = w->path[depth - 1], k = w->next[node]++, child;

        if (k == w->child_ptr[node + 1]) {
            w->state[node] = DONE;
            depth--;
            continue;
        }
        child = w->child[k];
        if (w->state[child] == ON_PATH) {
            w->child[k] = CUT;
            w->cut++;
        } else if (w->state[child] == UNSEEN) {
            w->state[child] = ON_PATH;
            w->path[depth++] = child;
        }
    }
}

static void close_gaps(int nodes, int *child_ptr, int *child, int *relation)
{
    int to = 0, from = 0;

    for (int v = 0; v < nodes; v++) {
        int end = child_ptr[v + 1];

        for (; from < end; from++) {
            if (child[from] == CUT)
                continue;
            child[to] = child[from];
            if (relation)
                relation[to] = relation[from];
            to++;
        }
        child_ptr[v + 1] = to;
    }
}

int conllu_cut_cycles(const struct conllu_sentence *s, int *child_ptr, int *child, int *relation,
                      int *scratch)
{
    struct walk w = {child_ptr, child, scratch, scratch + s->nodes, scratch + 2 * s->nodes, 0};

    for (int v = 0; v < s->nodes; v++) {
        w.state[v] = UNSEEN;
        w.next[v] = child_ptr[v];
    }
    for (int i = 0; i < s->nedges; i++)
        if (s->edges[i].head == CONLLU_ROOT && w.state[s->edges[i].node] == UNSEEN)
            walk_from(&w, s->edges[i].node);
    for (int v = 0; v < s->nodes; v++)
        if (w.state[v] == UNSEEN)
            walk_from(&w, v);
    if (w.cut)
        close_gaps(s->nodes, child_ptr, child, relation);
    return w.cut;
}

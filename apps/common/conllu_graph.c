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

/* Takes nodes whose heads are all taken, as long as there are any. */
bool conllu_is_acyclic(const struct conllu_sentence *s, int *scratch)
{
    int *ptr = scratch, *child = ptr + s->nodes + 1, *heads = child + s->nedges;
    int *queue = heads + s->nodes, taken = 0, n = 0;

    conllu_graph(s, ptr, child, NULL);
    memset(heads, 0, s->nodes * sizeof *heads);
    for (int i = 0; i < ptr[s->nodes]; i++)
        heads[child[i]]++;
    for (int v = 0; v < s->nodes; v++)
        if (!heads[v])
            queue[n++] = v;
    while (taken < n) {
        int v = queue[taken++];

        for (int k = ptr[v]; k < ptr[v + 1]; k++)
            if (--heads[child[k]] == 0)
                queue[n++] = child[k];
    }
    return n == s->nodes;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/gcn_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The neighbours of all nodes, each neighbour once, and the node itself. */
struct neighbours {
    int *ptr, *node;
};

static int ascending(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static int keep_once(int *node, int n)
{
    int kept = 0;

    qsort(node, n, sizeof *node, ascending);
    for (int i = 0; i < n; i++) {
        if (i == 0 || node[i] != node[i - 1])
            node[kept++] = node[i];
    }
    return kept;
}

/* Lists for each node v itself, and the other end of each of its edges as often as there are any;
 * fill[v] counts them. */
static void fill_in(const struct edge_list *g, struct neighbours *out, int *fill)
{
    for (int e = 0; e < g->nedges; e++) {
        out->ptr[g->from[e] + 1]++;
        out->ptr[g->to[e] + 1]++;
    }
    for (int v = 0; v < g->n; v++) /* and itself */
        out->ptr[v + 1] += out->ptr[v] + 1;
    for (int v = 0; v < g->n; v++)
        out->node[out->ptr[v] + fill[v]++] = v;
    for (int e = 0; e < g->nedges; e++) {
        out->node[out->ptr[g->from[e]] + fill[g->from[e]]++] = g->to[e];
        out->node[out->ptr[g->to[e]] + fill[g->to[e]]++] = g->from[e];
    }
}

/* Removes neighbours that are listed more than once; the others move up. */
static void close_gaps(int n, struct neighbours *out, const int *fill)
{
    int sum = 0;

    for (int v = 0; v < n; v++) {
        int *from = out->node + out->ptr[v], kept = keep_once(from, fill[v]);

        memmove(out->node + sum, from, kept * sizeof *from);
        out->ptr[v] = sum;
        sum += kept;
    }
    out->ptr[n] = sum;
}

static bool find_neighbours(const struct edge_list *g, struct neighbours *out)
{
    int *fill = calloc(g->n + 1, sizeof *fill);

    *out = (struct neighbours){.ptr = calloc(g->n + 2, sizeof *out->ptr),
                               .node = malloc((g->n + 2 * g->nedges + 1) * sizeof *out->node)};
    if (!fill || !out->ptr || !out->node) {
        free(fill);
        return false;
    }
    fill_in(g, out, fill);
    close_gaps(g->n, out, fill);
    free(fill);
    return true;
}

static bool make_arrays(const struct edge_list *g, int rounds, struct gcn_arrays *a, int edges)
{
    int n = g->n, copies = rounds + 1;

    *a = (struct gcn_arrays){
        .functions = malloc((size_t)n * copies * sizeof(int)),
        .child_ptr = malloc(((size_t)n * copies + 1) * sizeof(int)),
        .children = malloc(((size_t)edges * rounds + 1) * sizeof(int)),
        .weights = malloc(((size_t)edges * rounds + 1) * sizeof(float)),
        .word_ptr = malloc(((size_t)n * copies + 1) * sizeof(int)),
        .words = malloc(((size_t)n * g->width + 1) * sizeof(int)),
        .labels = malloc(((size_t)n + 1) * sizeof(int)),
    };
    return a->functions && a->child_ptr && a->children && a->weights && a->word_ptr && a->words &&
           a->labels;
}

void gcn_arrays_clear(struct gcn_arrays *a)
{
    free(a->functions);
    free(a->child_ptr);
    free(a->children);
    free(a->weights);
    free(a->word_ptr);
    free(a->words);
    free(a->labels);
}

static int degree(const struct neighbours *nb, int v)
{
    return nb->ptr[v + 1] - nb->ptr[v];
}

/* Copy `copy` of node v is the vertex of number copy * n + v. */
static void fill_arrays(const struct edge_list *g, int rounds, const struct neighbours *nb,
                        struct gcn_arrays *a)
{
    int n = g->n, at = 0, word = 0;

    for (int i = 0; i < n * (rounds + 1); i++) {
        int copy = i / n, v = i % n;

        a->functions[i] = copy;
        a->child_ptr[i] = at;
        a->word_ptr[i] = word;
        for (int e = nb->ptr[v]; e < nb->ptr[v + 1] && copy > 0; e++, at++) {
            a->children[at] = (copy - 1) * n + nb->node[e];
            a->weights[at] = 1 / sqrtf((float)degree(nb, v) * (float)degree(nb, nb->node[e]));
        }
        for (int k = 0; k < g->width && copy == 0; k++) {
            if (g->feature[(size_t)v * g->width + k] != 0)
                a->words[word++] = k;
        }
    }
    a->child_ptr[n * (rounds + 1)] = at;
    a->word_ptr[n * (rounds + 1)] = word;
}

int gcn_arrays_make(const struct edge_list *g, int rounds, struct gcn_arrays *a)
{
    struct neighbours nb;
    int rc = CAVS_ENOMEM;

    *a = (struct gcn_arrays){0};
    if (find_neighbours(g, &nb) && make_arrays(g, rounds, a, nb.ptr[g->n])) {
        fill_arrays(g, rounds, &nb, a);
        rc = 0;
    }
    free(nb.ptr);
    free(nb.node);
    return rc;
}

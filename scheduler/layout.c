/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.c - from rows in the order of evaluation to V_t, row numbers, edges and parents.
 */
#include <string.h>

#include "scheduler/internal.h"

void cavs__sort_by_key(const int32_t *key, int32_t keys, const int32_t *in, int32_t n, int32_t *out,
                       int32_t *count)
{
    memset(count, 0, ((size_t)keys + 1) * sizeof *count);
    for (int32_t i = 0; i < n; i++)
        count[key[in[i]] + 1]++;
    for (int32_t k = 0; k < keys; k++)
        count[k + 1] += count[k];
    for (int32_t i = 0; i < n; i++)
        out[count[key[in[i]]]++] = in[i];
}

/* Rows from row0 on that share their step and function. */
static int32_t run_length(const struct cavs__schedule *s, const struct cavs__graph *g,
                          const int32_t *step, int32_t row0)
{
    int32_t row = row0, first = s->vertex_of[row0];
    while (row < s->rows && step[s->vertex_of[row]] == step[first] &&
           g->function[s->vertex_of[row]] == g->function[first])
        row++;
    return row - row0;
}

static void number_rows(struct cavs__schedule *s, const struct cavs__graph *g,
                        const struct cavs__vt *vt)
{
    int32_t slots = g->slots[vt->function], edge = vt->edge0;
    for (int32_t i = 0; i < vt->n; i++) {
        int32_t row = vt->row0 + i, v = s->vertex_of[row];
        s->row_of[v] = row;
        s->frow_of[row] = vt->frow0 + i;
        s->edge_ptr[row] = edge;
        edge += slots >= 0 ? slots : g->child_ptr[v + 1] - g->child_ptr[v];
    }
    s->function_rows[vt->function] += vt->n;
    s->edges = edge;
}

static void cut_into_vt(struct cavs__schedule *s, const struct cavs__graph *g, const int32_t *step)
{
    s->nvt = 0;
    s->edges = 0;
    memset(s->function_rows, 0, (size_t)g->nfunctions * sizeof *s->function_rows);
    for (int32_t row = 0; row < s->rows;) {
        struct cavs__vt *vt = &s->vt[s->nvt++];
        int32_t v = s->vertex_of[row], f = g->function[v];
        *vt = (struct cavs__vt){.function = f,
                                .n = run_length(s, g, step, row),
                                .row0 = row,
                                .frow0 = s->function_rows[f],
                                .edge0 = s->edges,
                                .step = step[v]};
        number_rows(s, g, vt);
        row += vt->n;
    }
    s->edge_ptr[s->rows] = s->edges;
}

/* Rows of children per edge row; counts the readers of row r in parent_ptr[r + 2]. */
static void fill_edges(struct cavs__schedule *s, const struct cavs__graph *g)
{
    for (int32_t row = 0; row < s->rows; row++) {
        int32_t v = s->vertex_of[row], edge = s->edge_ptr[row];
        for (int32_t e = g->child_ptr[v]; e < g->child_ptr[v + 1]; e++) {
            int32_t c = g->child[e], child_row = -1;
            if (c >= 0) {
                child_row = s->row_of[c];
                s->parent_ptr[child_row + 2]++;
            }
            s->edge_child[edge++] = child_row;
        }
        while (edge < s->edge_ptr[row + 1])
            s->edge_child[edge++] = -1;
    }
}

/* With counts two places up, sums one place up are where each row's list begins; filling moves
 * them to where it ends, which is where the next begins: no second array of positions. */
static void invert_edges(struct cavs__schedule *s)
{
    for (int32_t row = 0; row < s->rows; row++)
        s->parent_ptr[row + 2] += s->parent_ptr[row + 1];
    for (int32_t edge = 0; edge < s->edges; edge++)
        if (s->edge_child[edge] >= 0)
            s->parent_edge[s->parent_ptr[s->edge_child[edge] + 1]++] = edge;
}

void cavs__schedule_lay_out(struct cavs__schedule *s, const struct cavs__graph *g,
                            const int32_t *rep, const int32_t *step)
{
    cut_into_vt(s, g, step);
    if (rep)
        for (int32_t v = 0; v < g->n; v++)
            s->row_of[v] = s->row_of[rep[v]];
    memset(s->parent_ptr, 0, ((size_t)s->rows + 2) * sizeof *s->parent_ptr);
    fill_edges(s, g);
    invert_edges(s);
}

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

void cavs__sort_by_class(const struct cavs__graph *g, int32_t levels, struct cavs__schedule_work *w,
                         int32_t *out)
{
    int32_t nf = g->nfunctions, *count = w->count;
    if ((int64_t)levels * nf > g->n) { /* so many buckets take longer than a second pass */
        for (int32_t v = 0; v < g->n; v++)
            w->queue[v] = v;
        cavs__sort_by_key(g->function, nf, w->queue, g->n, w->nodes, count);
        cavs__sort_by_key(w->level, levels, w->nodes, g->n, out, count);
        return;
    }
    memset(count, 0, ((size_t)levels * (size_t)nf + 1) * sizeof *count);
    for (int32_t v = 0; v < g->n; v++)
        count[w->level[v] * nf + g->function[v] + 1]++;
    for (int32_t k = 0; k < levels * nf; k++)
        count[k + 1] += count[k];
    for (int32_t v = 0; v < g->n; v++)
        out[count[w->level[v] * nf + g->function[v]]++] = v;
}

/* The V_t that begins at a row. */
static struct cavs__vt *begin_vt(struct cavs__schedule *s, const struct cavs__graph *g,
                                 const int32_t *step, int32_t row, int32_t edge)
{
    struct cavs__vt *vt = &s->vt[s->nvt++];
    int32_t v = s->vertex_of[row], f = g->function[v];
    *vt = (struct cavs__vt){
        .function = f, .row0 = row, .frow0 = s->function_rows[f], .edge0 = edge, .step = step[v]};
    return vt;
}

/* Rows that share their step and function are one. */
static void cut_into_vt(struct cavs__schedule *s, const struct cavs__graph *g, const int32_t *step)
{
    int32_t edge = 0;
    s->nvt = 0;
    memset(s->function_rows, 0, (size_t)g->nfunctions * sizeof *s->function_rows);
    for (int32_t row = 0; row < s->rows;) {
        struct cavs__vt *vt = begin_vt(s, g, step, row, edge);
        int32_t slots = g->slots[vt->function], v = s->vertex_of[row];
        do {
            s->row_of[v] = row;
            s->edge_ptr[row] = edge;
            edge += slots >= 0 ? slots : g->child_ptr[v + 1] - g->child_ptr[v];
        } while (++row < s->rows && step[v = s->vertex_of[row]] == vt->step &&
                 g->function[v] == vt->function);
        vt->n = row - vt->row0;
        s->function_rows[vt->function] += vt->n;
    }
    s->edges = s->edge_ptr[s->rows] = edge;
}

/* Writes for each edge row the row of its child, and counts the readers of row r in parent_ptr[r +
 * 2]. */
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

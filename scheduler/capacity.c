/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capacity.c - the one block of memory behind a schedule.
 *
 * Scheduling a batch must cost nothing but passes over its vertices, so all arrays are cut from a
 * single block that only ever grows, a little more than asked for: batches of varied size soon stop
 * allocating.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/internal.h"

enum { CACHE_LINE = 64 };

struct cut {
    char *base; /* NULL while only measuring */
    size_t used;
};

static void *take(struct cut *c, int64_t count, size_t size)
{
    void *p = c->base ? c->base + c->used : NULL;
    size_t bytes = (size_t)count * size;
    c->used += (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    return p;
}

static int32_t *take_ints(struct cut *c, int64_t count)
{
    return take(c, count, sizeof(int32_t));
}

static void take_results(struct cut *c, const struct cavs__capacity *cap, struct cavs__schedule *s)
{
    s->vt = take(c, cap->vertices, sizeof *s->vt);
    s->row_of = take_ints(c, cap->vertices);
    s->vertex_of = take_ints(c, cap->vertices);
    s->function_rows = take_ints(c, cap->functions);
    s->edge_ptr = take_ints(c, cap->vertices + 1);
    s->edge_child = take_ints(c, cap->edges);
    s->parent_ptr = take_ints(c, cap->vertices + 2); /* one more than published: see layout.c */
    s->parent_edge = take_ints(c, cap->edges);
}

static void take_scratch(struct cut *c, struct cavs__schedule_work *w)
{
    int64_t n = w->capacity.vertices, functions = w->capacity.functions;
    w->level = take_ints(c, n);
    w->order = take_ints(c, n);
    w->cursor = take_ints(c, n);
    w->rep = take_ints(c, n);
    w->nodes = take_ints(c, n);
    w->step = take_ints(c, n);
    w->sorted = take_ints(c, n);
    w->count = take_ints(c, (n > functions ? n : functions) + 1);
    w->pending = take_ints(c, n);
    w->queue = take_ints(c, n);
    w->unready = take_ints(c, n);
    w->first_up = take_ints(c, n);
    w->up = take(c, w->capacity.edges, sizeof *w->up);
    w->agenda = take(c, functions, sizeof *w->agenda);
    w->ranks = take(c, functions, sizeof *w->ranks);
    w->ready = take(c, cavs__rank_words(functions), sizeof *w->ready);
    w->ending = take(c, cavs__rank_words(functions), sizeof *w->ending);
    w->table.bytes = cavs__table_bytes((size_t)n);
    w->table.entries = take(c, 1, w->table.bytes);
}

/* Cuts a block at base (NULL: measures one) into the arrays of s and w; returns its size. */
static size_t cut_block(char *base, struct cavs__schedule *s, struct cavs__schedule_work *w)
{
    struct cut c = {base, 0};
    s->work = take(&c, 1, sizeof *w);
    take_results(&c, &w->capacity, s);
    take_scratch(&c, w);
    return c.used;
}

/* The most edge rows that g can have, whether equal vertices are merged or not. */
static int64_t edge_bound(const struct cavs__graph *g)
{
    int64_t edges = 0;
    for (int v = 0; v < g->n; v++) {
        int slots = g->slots[g->function[v]];
        edges += slots >= 0 ? slots : g->child_ptr[v + 1] - g->child_ptr[v];
    }
    return edges;
}

static int64_t grown(int64_t have, int64_t need)
{
    return need > have ? need + need / 4 : have;
}

int cavs__schedule_reserve(struct cavs__schedule *s, const struct cavs__graph *g)
{
    struct cavs__capacity have = {-1, -1, -1}, need = {g->n, edge_bound(g), g->nfunctions};
    if (need.edges > INT32_MAX)
        return -1;
    if (s->work)
        have = s->work->capacity;
    if (need.vertices <= have.vertices && need.edges <= have.edges &&
        need.functions <= have.functions)
        return 0;

    struct cavs__schedule cut = {0};
    struct cavs__schedule_work work = {.capacity = {grown(have.vertices, need.vertices),
                                                    grown(have.edges, need.edges),
                                                    grown(have.functions, need.functions)}};
    char *block = malloc(cut_block(NULL, &cut, &work));
    if (!block)
        return -1;
    cut_block(block, &cut, &work);
    memcpy(block, &work, sizeof work);
    free(s->work);
    *s = cut;
    return 0;
}

void cavs__schedule_init(struct cavs__schedule *s)
{
    memset(s, 0, sizeof *s);
}

void cavs__schedule_free(struct cavs__schedule *s)
{
    free(s->work); /* heads the block with all other arrays */
    cavs__schedule_init(s);
}

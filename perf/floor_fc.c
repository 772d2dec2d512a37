/* SPDX-License-Identifier: Apache-2.0 */
/* floor_fc.c - apps/tree_fc --variant fold by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perf/floor.h"

enum { EMBEDDING, W, B, PARAMS };

static void declare(struct floor_params *s, const struct floor_sizes *z)
{
    int h = z->hidden;
    float range = 1.43f * sqrtf(3.0f / (2 * h));

    s->n = PARAMS;
    s->p[EMBEDDING] = (struct floor_param){
        .name = "embedding", .rows = z->words, .cols = h, .hi = 1, .table = true};
    s->p[W] = (struct floor_param){.name = "W",
                                   .rows = 2 * h,
                                   .cols = h,
                                   .lo = -range,
                                   .hi = range,
                                   .multiplied = true,
                                   .transposed = true};
    s->p[B] = (struct floor_param){.name = "b", .rows = 1, .cols = h};
}

static void create(struct floor_part *p, int trees, int vertices)
{
    size_t h = p->sizes.hidden, slots = vertices + trees;

    p->fc.state = floor_zeros(slots * h, sizeof(float));
    p->fc.dstate = floor_zeros(slots * h, sizeof(float));
    p->fc.y = floor_zeros(vertices * h, sizeof(float));
}

static void destroy(struct floor_part *p)
{
    free(p->fc.state);
    free(p->fc.dstate);
    free(p->fc.y);
}

static int tile_rows(int from, int end)
{
    return end - from < FLOOR_TILE ? end - from : FLOOR_TILE;
}

static void inner_tile(struct floor_part *p, int from, int n)
{
    const struct floor_param *q = p->params->p;
    int h = p->sizes.hidden;
    const float *both = p->fc.state + (size_t)from * 2 * h;

    floor_multiply(p, &q[W], false, n, both, 2 * h, p->fc.y, h, false);
    floor_relu_forward(n, h, p->fc.y, q[B].w, p->levels.inner_slot + from, p->fc.state);
}

static void forward(struct floor_part *p)
{
    const struct floor_levels *l = &p->levels;
    size_t h = p->sizes.hidden, roots = 2 * (size_t)l->inner * h;

    for (int i = 0; i < l->leaves; i++)
        memcpy(p->fc.state + l->leaf_slot[i] * h, p->params->p[EMBEDDING].w + l->word[i] * h,
               h * sizeof(float));
    for (int k = 0; k < l->depth; k++)
        for (int i = l->first[k]; i < l->first[k + 1]; i += FLOOR_TILE)
            inner_tile(p, i, tile_rows(i, l->first[k + 1]));
    p->loss = floor_square(l->trees * h, p->fc.state + roots, p->fc.dstate + roots);
    p->count = l->trees;
}

static void inner_tile_back(struct floor_part *p, int from, int n)
{
    const struct floor_param *q = p->params->p;
    int h = p->sizes.hidden;
    float *y = p->fc.y + (size_t)from * h;

    floor_relu_backward(n, h, y, p->levels.inner_slot + from, p->fc.state, p->fc.dstate);
    floor_multiply(p, &q[W], true, n, y, h, p->fc.dstate + (size_t)from * 2 * h, 2 * h, false);
}

static void backward(struct floor_part *p)
{
    struct floor_param *q = p->params->p;
    const struct floor_levels *l = &p->levels;
    int h = p->sizes.hidden, t = p->thread;

    for (int k = l->depth - 1; k >= 0; k--)
        for (int i = l->first[k]; i < l->first[k + 1]; i += FLOOR_TILE)
            inner_tile_back(p, i, tile_rows(i, l->first[k + 1]));
    p->blas->gemm_tn(l->inner, h, 2 * h, p->fc.state, 2 * h, p->fc.y, h, q[W].grad[t], h, false);
    memset(q[B].grad[t], 0, h * sizeof(float));
    floor_column_sums(l->inner, h, p->fc.y, q[B].grad[t]);
}

static const float *table_grad(const struct floor_part *p)
{
    return p->fc.dstate;
}

static int table_row(const struct floor_part *p, int leaf)
{
    return p->levels.leaf_slot[leaf];
}

static double flops(const struct floor_sizes *z, int64_t leaves, int64_t inner)
{
    (void)leaves;
    return inner * 4.0 * z->hidden * z->hidden;
}

const struct floor_model floor_tree_fc = {
    .name = "tree_fc",
    .declare = declare,
    .create = create,
    .destroy = destroy,
    .forward = forward,
    .backward = backward,
    .table_grad = table_grad,
    .table_row = table_row,
    .flops = flops,
};

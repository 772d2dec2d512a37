/* SPDX-License-Identifier: Apache-2.0 */
/* floor_lstm.c - the `bench` Tree-LSTM of apps/tree_lstm (cells in apps/tree_lstm_cells.h) by
 * hand. */
#include <math.h>
#include <stdlib.h>

#include "perf/floor.h"

enum { EMBEDDING, W_IOU, B_LEAF, U_IOU, B_IOU, F1, F2, B_F, W_CLASS, B_CLASS, PARAMS };

/* ---- parameters and arrays ------------------------------------------------------------------- */

static struct floor_param weight(const char *name, int rows, int cols, int gates)
{
    float range = sqrtf(6.0f / (rows + cols / gates));

    return (struct floor_param){.name = name,
                                .rows = rows,
                                .cols = cols,
                                .lo = -range,
                                .hi = range,
                                .multiplied = true,
                                .transposed = true};
}

static struct floor_param bias(const char *name, int cols)
{
    return (struct floor_param){.name = name, .rows = 1, .cols = cols};
}

static void declare(struct floor_params *s, const struct floor_sizes *z)
{
    int h = z->hidden, e = z->embed;

    s->n = PARAMS;
    s->p[EMBEDDING] = (struct floor_param){
        .name = "embedding", .rows = z->words, .cols = e, .lo = -0.05f, .hi = 0.05f, .table = true};
    s->p[W_IOU] = weight("W_iou", e, 3 * h, 3);
    s->p[B_LEAF] = bias("b_leaf", 3 * h);
    s->p[U_IOU] = weight("U_iou", 2 * h, 3 * h, 3);
    s->p[B_IOU] = bias("b_iou", 3 * h);
    s->p[F1] = weight("F1", h, h, 1);
    s->p[F2] = weight("F2", h, h, 1);
    s->p[B_F] = bias("b_f", h);
    s->p[W_CLASS] = weight("W_class", h, FLOOR_CLASSES, 1);
    s->p[B_CLASS] = bias("b_class", FLOOR_CLASSES);
}

static float *rows(size_t n, size_t cols)
{
    return floor_zeros(n * cols, sizeof(float));
}

static void create(struct floor_part *p, int trees, int vertices)
{
    size_t h = p->sizes.hidden, e = p->sizes.embed, slots = vertices + trees;
    struct floor_lstm *a = &p->lstm;

    a->x = rows(vertices, e);
    a->gate_leaf = rows(vertices, 3 * h);
    a->tanh_leaf = rows(vertices, h);
    a->dx = rows(vertices, e);
    a->h = rows(slots, h);
    a->c = rows(slots, h);
    a->dh = rows(slots, h);
    a->dc = rows(slots, h);
    a->gate = rows(vertices, 5 * h);
    a->tanh_inner = rows(vertices, h);
    a->logits = rows(slots, FLOOR_CLASSES);
}

static void destroy(struct floor_part *p)
{
    struct floor_lstm *a = &p->lstm;

    free(a->x);
    free(a->gate_leaf);
    free(a->tanh_leaf);
    free(a->dx);
    free(a->h);
    free(a->c);
    free(a->dh);
    free(a->dc);
    free(a->gate);
    free(a->tanh_inner);
    free(a->logits);
}

static int tile_rows(int from, int end)
{
    return end - from < FLOOR_TILE ? end - from : FLOOR_TILE;
}

/* ---- forward --------------------------------------------------------------------------------- */

static void copy_row(float *to, const float *from, int n)
{
    for (int j = 0; j < n; j++)
        to[j] = from[j];
}

/* Leaves from .. from + n.  Without training nothing is kept: every tile uses the first rows. */
static void leaf_tile(struct floor_part *p, int from, int n)
{
    const struct floor_param *q = p->params->p;
    const struct floor_levels *l = &p->levels;
    const struct floor_lstm *a = &p->lstm;
    int h = p->sizes.hidden, e = p->sizes.embed;
    size_t kept = p->train ? from : 0;
    float *x = a->x + kept * e, *gate = a->gate_leaf + kept * 3 * h;

    for (int i = 0; i < n; i++)
        copy_row(x + (size_t)i * e, q[EMBEDDING].w + (size_t)l->word[from + i] * e, e);
    floor_multiply(p, &q[W_IOU], false, n, x, e, gate, 3 * h, false);
    floor_leaf_forward(n, h, gate, q[B_LEAF].w, a->tanh_leaf + kept * h, l->leaf_slot + from, a->c,
                       a->h);
}

static void inner_tile(struct floor_part *p, int from, int n)
{
    const struct floor_param *q = p->params->p;
    const struct floor_lstm *a = &p->lstm;
    int h = p->sizes.hidden;
    size_t kept = p->train ? from : 0;
    const float *both = a->h + (size_t)from * 2 * h;
    float *gate = a->gate + kept * 5 * h;

    floor_multiply(p, &q[U_IOU], false, n, both, 2 * h, gate, 5 * h, false);
    floor_multiply(p, &q[F1], false, n, both, 2 * h, gate + 3 * h, 5 * h, false);
    floor_multiply(p, &q[F2], false, n, both + h, 2 * h, gate + 4 * h, 5 * h, false);
    floor_inner_forward(n, h, gate, q[B_IOU].w, q[B_F].w, a->c + (size_t)from * 2 * h,
                        a->tanh_inner + kept * h, p->levels.inner_slot + from, a->c, a->h);
}

/* Loss of the slots from .. from + n, and the first part of their dh. */
static void class_tile(struct floor_part *p, int from, int n)
{
    const struct floor_param *q = p->params->p;
    const struct floor_lstm *a = &p->lstm;
    int h = p->sizes.hidden;
    float *z = a->logits + (size_t)from * FLOOR_CLASSES;

    floor_multiply(p, &q[W_CLASS], false, n, a->h + (size_t)from * h, h, z, FLOOR_CLASSES, false);
    p->loss += floor_softmax(n, z, q[B_CLASS].w, p->levels.label + from);
    if (p->train)
        floor_multiply(p, &q[W_CLASS], true, n, z, FLOOR_CLASSES, a->dh + (size_t)from * h, h,
                       false);
}

static void forward(struct floor_part *p)
{
    const struct floor_levels *l = &p->levels;

    p->loss = 0;
    p->count = l->slots;
    for (int i = 0; i < l->leaves; i += FLOOR_TILE)
        leaf_tile(p, i, tile_rows(i, l->leaves));
    for (int k = 0; k < l->depth; k++)
        for (int i = l->first[k]; i < l->first[k + 1]; i += FLOOR_TILE)
            inner_tile(p, i, tile_rows(i, l->first[k + 1]));
    for (int i = 0; i < l->slots; i += FLOOR_TILE)
        class_tile(p, i, tile_rows(i, l->slots));
}

/* ---- backward -------------------------------------------------------------------------------- */

static void inner_tile_back(struct floor_part *p, int from, int n)
{
    const struct floor_param *q = p->params->p;
    const struct floor_lstm *a = &p->lstm;
    int h = p->sizes.hidden;
    size_t pair = (size_t)from * 2 * h;
    float *gate = a->gate + (size_t)from * 5 * h, *dh = a->dh + pair;

    floor_inner_backward(n, h, gate, a->c + pair, a->tanh_inner + (size_t)from * h,
                         p->levels.inner_slot + from, a->dh, a->dc, a->dc + pair);
    floor_multiply(p, &q[U_IOU], true, n, gate, 5 * h, dh, 2 * h, true);
    floor_multiply(p, &q[F1], true, n, gate + 3 * h, 5 * h, dh, 2 * h, true);
    floor_multiply(p, &q[F2], true, n, gate + 4 * h, 5 * h, dh + h, 2 * h, true);
}

static void leaf_tile_back(struct floor_part *p, int from, int n)
{
    const struct floor_param *q = p->params->p;
    const struct floor_lstm *a = &p->lstm;
    int h = p->sizes.hidden, e = p->sizes.embed;
    float *gate = a->gate_leaf + (size_t)from * 3 * h;

    floor_leaf_backward(n, h, gate, a->tanh_leaf + (size_t)from * h, p->levels.leaf_slot + from,
                        a->dh, a->dc);
    floor_multiply(p, &q[W_IOU], true, n, gate, 3 * h, a->dx + (size_t)from * e, e, false);
}

static void clear(float *x, size_t n)
{
    for (size_t j = 0; j < n; j++)
        x[j] = 0;
}

/* Nothing is above a root. */
static void clear_root_cells(struct floor_part *p)
{
    const struct floor_levels *l = &p->levels;
    size_t h = p->sizes.hidden;

    clear(p->lstm.dc + (size_t)2 * l->inner * h, l->trees * h);
}

/* Column sums of the gates' gradients: [i o u] for b_iou, f_l + f_r for b_f. */
static void bias_gradients(struct floor_part *p)
{
    struct floor_param *q = p->params->p;
    const struct floor_lstm *a = &p->lstm;
    const struct floor_levels *l = &p->levels;
    int h = p->sizes.hidden, t = p->thread;
    float sums[5 * h];

    clear(sums, 5 * h);
    floor_column_sums(l->inner, 5 * h, a->gate, sums);
    copy_row(q[B_IOU].grad[t], sums, 3 * h);
    for (int j = 0; j < h; j++)
        q[B_F].grad[t][j] = sums[3 * h + j] + sums[4 * h + j];
    clear(q[B_LEAF].grad[t], 3 * h);
    floor_column_sums(l->leaves, 3 * h, a->gate_leaf, q[B_LEAF].grad[t]);
    clear(q[B_CLASS].grad[t], FLOOR_CLASSES);
    floor_column_sums(l->slots, FLOOR_CLASSES, a->logits, q[B_CLASS].grad[t]);
}

/* One product over all rows for each matrix. */
static void weight_gradients(struct floor_part *p)
{
    struct floor_param *q = p->params->p;
    const struct floor_lstm *a = &p->lstm;
    const struct floor_levels *l = &p->levels;
    int h = p->sizes.hidden, e = p->sizes.embed, t = p->thread, classes = FLOOR_CLASSES;

    p->blas->gemm_tn(l->inner, 3 * h, 2 * h, a->h, 2 * h, a->gate, 5 * h, q[U_IOU].grad[t], 3 * h,
                     false);
    p->blas->gemm_tn(l->inner, h, h, a->h, 2 * h, a->gate + 3 * h, 5 * h, q[F1].grad[t], h, false);
    p->blas->gemm_tn(l->inner, h, h, a->h + h, 2 * h, a->gate + 4 * h, 5 * h, q[F2].grad[t], h,
                     false);
    p->blas->gemm_tn(l->leaves, 3 * h, e, a->x, e, a->gate_leaf, 3 * h, q[W_IOU].grad[t], 3 * h,
                     false);
    p->blas->gemm_tn(l->slots, classes, h, a->h, h, a->logits, classes, q[W_CLASS].grad[t], classes,
                     false);
}

static void backward(struct floor_part *p)
{
    const struct floor_levels *l = &p->levels;

    clear_root_cells(p);
    for (int k = l->depth - 1; k >= 0; k--)
        for (int i = l->first[k]; i < l->first[k + 1]; i += FLOOR_TILE)
            inner_tile_back(p, i, tile_rows(i, l->first[k + 1]));
    for (int i = 0; i < l->leaves; i += FLOOR_TILE)
        leaf_tile_back(p, i, tile_rows(i, l->leaves));
    weight_gradients(p);
    bias_gradients(p);
}

/* ---- what floor.c asks ----------------------------------------------------------------------- */

static const float *table_grad(const struct floor_part *p)
{
    return p->lstm.dx;
}

static int table_row(const struct floor_part *p, int leaf)
{
    (void)p;
    return leaf;
}

static double flops(const struct floor_sizes *z, int64_t leaves, int64_t inner)
{
    double h = z->hidden, e = z->embed;

    return leaves * 6 * e * h + inner * 16 * h * h + (leaves + inner) * 2 * h * FLOOR_CLASSES;
}

const struct floor_model floor_tree_lstm = {
    .name = "tree_lstm",
    .declare = declare,
    .create = create,
    .destroy = destroy,
    .forward = forward,
    .backward = backward,
    .table_grad = table_grad,
    .table_row = table_row,
    .flops = flops,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor.h - Tree-LSTM and Tree-FC written by hand, for perf/floor.c.
 *
 * One thread a core; each takes its trees of every batch, evaluates them level by level, and after
 * a barrier updates its share of the parameters.  Nothing is general here: binary trees, two
 * models.
 *
 * What a skilled user would do by hand and a runtime has to find out: the state of a vertex is
 * written straight to where its parent's matrix product wants it.  A thread numbers its inner
 * vertices by level ("rows"); row r reads its left child from slot 2r and its right child from slot
 * 2r + 1, and roots have the slots after those.  So the state array [slots x h] is also the input
 * matrix [rows x 2h] of a level, and no product needs a gather or a scatter.
 */
#ifndef CAVS_PERF_FLOOR_H
#define CAVS_PERF_FLOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "apps/common/forest.h"
#include "codelets/products/gemm.h"
#include "codelets/update.h"

enum {
    FLOOR_TILE = 64, /* rows that go together through product and cell, so that they stay in L2 */
    FLOOR_THREADS = 64,
    FLOOR_PARAMS = 10,
    FLOOR_CLASSES = 5
};

/* ---- parameters ------------------------------------------------------------------------------ */

/* A matrix with its optimizer state. */
struct floor_param {
    const char *name;
    int rows, cols;
    float lo, hi;       /* initial values are uniform there */
    float *w, *s0, *s1; /* values; Adam's moments */
    /* what products read, forward and, where one does, backward; p NULL: nothing does */
    struct cavs__copy copy[2];
    float *grad[FLOOR_THREADS];  /* what each thread's trees add; a table has none of these */
    bool table;                  /* rows are looked up: the gradient is sparse */
    bool multiplied, transposed; /* wants copy[0], copy[1] */
};

struct floor_params {
    int n;
    struct floor_param p[FLOOR_PARAMS];
    bool near; /* all copies stay in L2 */
};

void floor_params_create(struct floor_params *s, int threads, bool train, uint64_t seed);
void floor_params_destroy(struct floor_params *s);
/* Rows from a multiple of CAVS__PANEL on of the copies, as an update of these rows writes them. */
int floor_copies_from(const struct floor_param *p, int row, struct cavs__copy copies[2]);
/* From a safetensors file with exactly these parameters. False after a line on stderr. */
bool floor_params_load(struct floor_params *s, const char *path);

/* n zeros; the program ends when there is no memory. */
void *floor_zeros(size_t n, size_t size);

/* ---- a thread's trees in a batch, by level --------------------------------------------------- */

struct floor_levels {
    int trees, leaves, inner, slots, depth;
    int *first; /* [depth + 1]: level l of the inner vertices has the rows first[l] .. first[l+1] */
    int *next;  /* scratch: the next free row of each level */
    int *inner_slot;          /* [inner]: where a row's own state goes */
    int *leaf_slot;           /* [leaves] */
    int *word;                /* [leaves] */
    int *label;               /* [slots] */
    int *height, *row, *slot; /* by vertex of these trees, one tree after the other */
};

/* Room for any trees with so many vertices in total, the deepest of that depth. */
void floor_levels_create(struct floor_levels *l, int trees, int vertices, int depth);
void floor_levels_destroy(struct floor_levels *l);
void floor_levels_build(struct floor_levels *l, const struct forest *f, const int *trees, int n);

/* ---- the two models -------------------------------------------------------------------------- */

struct floor_sizes {
    int hidden, embed, words;
};

/* The arrays of one thread. */
struct floor_lstm {
    float *x, *gate_leaf, *tanh_leaf, *dx; /* [leaves x e], [x 3h], [x h], [x e] */
    float *h, *c, *dh, *dc;                /* [slots x h] */
    float *gate, *tanh_inner;              /* [inner x 5h] i o u f_l f_r, [x h] */
    float *logits;                         /* [slots x classes] */
};

struct floor_fc {
    float *state, *dstate; /* [slots x h] */
    float *y;              /* [inner x h] */
};

struct floor_part {
    int thread;
    struct floor_sizes sizes;
    bool train;
    struct floor_levels levels;
    const struct cavs__gemm_provider *blas;
    struct floor_params *params;
    double loss;   /* of the batch */
    int64_t count; /* what the mean is over */
    union {
        struct floor_lstm lstm;
        struct floor_fc fc;
    };
};

/* What floor.c needs to know of a model. */
struct floor_model {
    const char *name;
    void (*declare)(struct floor_params *s, const struct floor_sizes *z);
    /* arrays for so many vertices */
    void (*create)(struct floor_part *p, int trees, int vertices);
    void (*destroy)(struct floor_part *p);
    void (*forward)(struct floor_part *p);  /* sets loss and count */
    void (*backward)(struct floor_part *p); /* sets grad[thread] of every parameter but the table */
    /* the table's gradient for leaf i is row table_row(p, i) of table_grad(p) */
    const float *(*table_grad)(const struct floor_part *p);
    int (*table_row)(const struct floor_part *p, int leaf);
    /* 2mnk of the forward products */
    double (*flops)(const struct floor_sizes *z, int64_t leaves, int64_t inner);
};

extern const struct floor_model floor_tree_lstm, floor_tree_fc;

/* y (m, param's columns) = or += x (m, its rows) w; backward: y (m, its rows) with w^T */
void floor_multiply(const struct floor_part *part, const struct floor_param *param, bool backward,
                    int m, const float *x, int ldx, float *y, int ldy, bool accumulate);

/* ---- running (floor_run.c) ------------------------------------------------------------------- */

struct floor_settings {
    const struct floor_model *model;
    struct floor_sizes sizes;
    struct forest *forest;
    int threads, batch;
    bool train;
    struct cavs__update update; /* but for the corrections */
    /* before each batch, by one thread; may be NULL */
    void (*before_batch)(void *context, const int *samples, int n);
    void *context;
};

struct floor_run;

/* The settings and the parameters have to outlive the run. */
struct floor_run *floor_run_create(const struct floor_settings *s, struct floor_params *params);
void floor_run_destroy(struct floor_run *run);
/* The samples in this order, a batch at a time; returns the mean loss. */
double floor_run_epoch(struct floor_run *run, const int *order, int n);

/* ---- element-wise loops (floor_math.c) ------------------------------------------------------- */

/* gate (rows x 3h): products in, activations out; leaf r's state goes to slot[r] of c and h */
void floor_leaf_forward(int rows, int h, float *gate, const float *bias, float *tanh_c,
                        const int *slot, float *c, float *state);
/* gate (rows x 5h); children (rows x 2h) are the cells of the children */
void floor_inner_forward(int rows, int h, float *gate, const float *bias, const float *bias_f,
                         const float *children, float *tanh_c, const int *slot, float *c,
                         float *state);
/* gate: activations in, gradients of the products out */
void floor_leaf_backward(int rows, int h, float *gate, const float *tanh_c, const int *slot,
                         const float *dh, const float *dc);
/* dchildren (rows x 2h) = gradients of the children's cells */
void floor_inner_backward(int rows, int h, float *gate, const float *children, const float *tanh_c,
                          const int *slot, const float *dh, const float *dc, float *dchildren);
/* z (rows x FLOOR_CLASSES): products in, gradient of the logits out; returns the loss */
double floor_softmax(int rows, float *z, const float *bias, const int *label);

/* state[slot[r]] = relu(y[r] + bias) */
void floor_relu_forward(int rows, int h, const float *y, const float *bias, const int *slot,
                        float *state);
/* y[r] = gradient of the product */
void floor_relu_backward(int rows, int h, float *y, const int *slot, const float *state,
                         const float *dstate);
/* 1/2 sum of squares, and its gradient */
double floor_square(int n, const float *x, float *dx);

/* sums[j] += column j of x (rows x cols) */
void floor_column_sums(int rows, int cols, const float *x, float *sums);

#endif

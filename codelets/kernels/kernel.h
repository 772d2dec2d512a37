/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.h - what a step of a batching task computes: a kernel applied to a tile of rows.
 *
 * Every kernel has a CPU implementation and a naive reference in double precision, kept for ever;
 * both take the same views.  Kernels know nothing of StarPU or of devices: the codelets
 * (codelets/task.h) resolve handles to views and run steps, and what a device does instead is its
 * own business (codelets/device/device_kernels.c).
 */
#ifndef CAVS_CODELETS_KERNELS_KERNEL_H
#define CAVS_CODELETS_KERNELS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where one operand of a tile is.  Row r (0 <= r < rows of the tile) is
 *     direct      p + r * ld            ld 0: the same row for all (a parameter row)
 *     indexed     p + index[r] * ld     index[r] < 0 reads as zeros; only for inputs
 *     summed      sum over e in [ptr[r], ptr[r+1]) of p + index[e] * ld, in that order, skipping
 *                 index[e] < 0; only for the input of "sum_rows";
 *                 "sum_pieces" has three numbers an entry
 *     ids         index[r] itself (p is NULL)
 *     listed      row r has the entries e in [ptr[r] - ptr[0], ptr[r+1] - ptr[0]), each a direct or
 *                 indexed row of the view; ptr has one number more than there are rows
 * and has `cols` float32 numbers.  Outputs never overlap inputs.
 */
struct cavs__view {
    float *p;
    ptrdiff_t ld;
    const int32_t *index;
    const int32_t *ptr;
    int cols;
};

struct cavs__ew_program;

/* Kernels of which a device does whole rows, as wide as the first operand, by one group of items
 * each: their arguments are the views.  Their `operands` say what they read. */
#define CAVS__ROW_KERNELS(K) \
    K(row_sum)               \
    K(row_max)               \
    K(row_max_grad)          \
    K(softmax)               \
    K(log_softmax)           \
    K(rms_norm)              \
    K(softmax_xent)          \
    K(softmax_xent_grad)     \
    K(correct)

/* All kernels. */
#define CAVS__KERNELS(K) \
    CAVS__ROW_KERNELS(K) \
    K(gemm)              \
    K(gemm_tn)           \
    K(column_sum)        \
    K(sum_rows)          \
    K(sum_pieces)        \
    K(dropout)           \
    K(pick)              \
    K(pick_grad)         \
    K(metric)            \
    K(mask)              \
    K(gemm_select)       \
    K(gemm_select_t)     \
    K(gemm_tn_select)    \
    K(gemm_rows)         \
    K(list_sum)          \
    K(list_max)          \
    K(list_max_grad)     \
    K(list_softmax)      \
    K(list_softmax_grad) \
    K(list_share)        \
    K(elementwise)

enum cavs__kernel_number {
#define CAVS__KERNEL_NUMBER(name) CAVS__KERNEL_##name,
    CAVS__KERNELS(CAVS__KERNEL_NUMBER)
#undef CAVS__KERNEL_NUMBER
        CAVS__KERNEL_COUNT
};

/* What is fixed about a call when the function is compiled. */
struct cavs__call {
    const struct cavs__kernel *kernel;
    const struct cavs__ew_program *program; /* "elementwise" only */
    bool panels;                            /* "gemm": w is in panels, `ld` from one to the next */
    bool near;                              /* likewise, and they stay in L2 between products */
    bool bf16;                              /* "gemm", "gemm_tn": of products/bf16.h, w packed */
    bool device_bf16;                       /* likewise on a device that can, w not packed */
    float rate;                             /* "dropout": share of zeros, below 1 */
    uint32_t site;                          /* "dropout": tells its numbers from those of others */
    int rows;       /* "gemm_tn_select": rows of all blocks together; "gemm_rows": of each result */
    int transposed; /* "gemm_rows": 1, 2: the first, second operand */
    int block; /* "gemm_tn_select": b > 0: only the gradient of block b - 1, or those rows of it
                       that belong to the columns that x has: all that dw is; 0: of all blocks */
};

/* Products that may be made at once, at most (part.h). */
enum { CAVS__MOST_TOGETHER = 8 };

enum cavs__kernel_flags {
    CAVS__FIRST =
        1 /* reductions over rows: the output starts from zero instead of from what it holds */
};

typedef void cavs__kernel_fn(const struct cavs__call *call, int rows, const struct cavs__view *v,
                             unsigned flags);

/*
 * name               views                                  computes
 * gemm               x (rows, k), w (k, n), y (rows, n)     y = x w
 * gemm_tn (*)        x (rows, k), dy (rows, n), dw (k, n)   dw += x^T dy
 * column_sum (*)     x (rows, n), y (1, n)                  y += sum of the rows
 * sum_rows           x summed (rows, n), y (rows, n)        y[r] = sum of the rows named for r
 * sum_pieces         x summed, y (rows, n)                  the same of pieces: index holds three
 *                                                           numbers an entry, the row of the piece
 *                                                           and the columns of y, from, and how
 *                                                           many, that it is added to
 * row_sum            x (rows, n), y (rows, 1)               y[r] = sum of row r
 * row_max            x (rows, n), y (rows, 1)               y[r] = largest of row r, or a NaN of it
 * row_max_grad       x (rows, n), g (rows, 1),              g at the first largest of the row, 0
 *                    dx (rows, n)                           elsewhere
 * softmax            x (rows, n), y (rows, n)               e^x / sum of the row's e^x
 * log_softmax        x (rows, n), y (rows, n)               the logarithm of it
 * rms_norm           x (rows, n), y (rows, n)               x / sqrt(mean of the squares + 1e-5)
 * dropout            x (rows, n), ids a, ids b,             x / (1 - rate) where the row's key, two
 *                    y (rows, n)                            ids, keeps it, else 0 (philox.h); x
 *                                                           where the key is 0, 0 or no ids are
 *                                                           given
 * pick               x (rows, n), ids, y (rows, 1)          x[id]; 0 without id
 * pick_grad          ids, g (rows, 1), dx (rows, n)         g at the id, 0 elsewhere
 * softmax_xent       z (rows, n), label ids, y (rows, 1)    -log softmax(z)[label]
 * softmax_xent_grad  z (rows, n), label ids, g (rows, 1),   g (softmax(z) - onehot(label))
 *                    dz (rows, n)
 * correct            z (rows, n), label ids, y (rows, 1)    1 if label is the first largest, else 0
 * metric (*)         x (rows, 1), where ids or nothing      acc as double[2]: += sum of x, +=
 *                    (p = index = NULL), acc (1, 4)         count, over rows with where >= 0
 * mask               ids, y (rows, 1)                       1 where the id >= 0, else 0
 * gemm_select        x (rows, k), ids, w (any, n), y        y[r] = x[r] times rows [ids[r] k, + k)
 *                                                            of w; 0 where the id is negative
 * gemm_select_t      x (rows, k), ids, w (any, k), y         y[r] = x[r] times rows [ids[r] n, + n)
 *                    (rows, n)                               of w, transposed
 * gemm_tn_select (*) x (rows, k), dy (rows, n), ids,         rows [ids[r] k, + k) of dw += x[r]^T
 *                    dw (call->rows, n)                      dy[r]
 * gemm_rows          a (rows, m k), b (rows, k n),          y[r] = a[r] b[r], matrices: a (m, k),
 *                    y (rows, m n)                          b (k, n), m is call->rows; or one of
 *                                                           them transposed (call->transposed)
 * list_sum           x listed (n), y (rows, n)               y[r] = sum over the entries of r
 * list_max           x listed (n), y (rows, n)               largest entry per column, or a NaN of
 *                                                            it; 0 without entries
 * list_max_grad      x listed, g (rows, n), dx listed        likewise g[r] at the first; else 0
 * list_softmax       x listed, y listed                      per column, over the entries of r
 * list_softmax_grad  y listed, g listed, dx listed           y (g - sum over the entries of y g)
 * list_share         ptr only (p NULL), y (rows, 1)          1 / entries of r, or 0
 * elementwise        the program's inputs, its outputs
 *
 * (*) reduces over rows, in the order of the rows: splitting rows over calls does not change the
 * bits (gemm_tn: with our own providers, see gemm.h).
 * Rows whose label is negative or not below n have no label: the result is 0.
 * All inputs but w may be indexed or one row for all (ld 0).  Sums over entries are taken in their
 * order.
 */
struct cavs__kernel {
    enum cavs__kernel_number number;
    const char *name;
    int nviews; /* 0: any number */
    /* What tests may call it with, a letter a view: x a row of n numbers, g one number, i an id;
     * the result, a row (w) or one number (n).  NULL: it is called otherwise. */
    const char *operands;
    bool reduces; /* over rows: tiles of one output must run one after the other */
    cavs__kernel_fn *cpu;
    cavs__kernel_fn *reference;
};

extern const struct cavs__kernel *const cavs__kernels[CAVS__KERNEL_COUNT]; /* by number */
/* By name; NULL if there is none. */
const struct cavs__kernel *cavs__kernel_find(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm.h - single-threaded float32 matrix products on row-major operands, behind one small table of
 * providers.
 *
 * The result for a row never depends on the number of threads; a provider must give the same bits
 * for the same call.  Ours ("avx512", "avx2") promise more: every number is one chain of fused
 * multiply-adds in the order of the sum, so the bits do not depend on the rows beside a row, on how
 * rows are split over calls that accumulate, or on which of the two is used.
 *
 * Leading dimensions are in numbers and at least as large as a row.  Operands need no alignment.
 */
#ifndef CAVS_CODELETS_PRODUCTS_GEMM_H
#define CAVS_CODELETS_PRODUCTS_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rows of an operand: row r is at p + r * ld, or at p + index[r] * ld, or zeros where index[r] is
 * negative. */
struct cavs__gemm_rows {
    const float *p;
    ptrdiff_t ld;
    const int32_t *index; /* NULL: every row, in order */
};

/* NULL: zeros */
static inline const float *cavs__gemm_row(const struct cavs__gemm_rows *v, int r)
{
    if (!v->index)
        return v->p + r * v->ld;
    return v->index[r] < 0 ? NULL : v->p + v->index[r] * v->ld;
}

/* Gradients of up to so many numbers do not pay for copies of what they sum: gemm_tn() then reads
 * its rows where they lie, and who has them scattered had better gather them. */
enum { CAVS__GEMM_TN_SMALL = 48 * 1024 };

/* What gemm_far() and gemm_far_t() take at once. */
enum { CAVS__FAR_ROWS = 64, CAVS__FAR_DEPTH = 1024 };

struct cavs__gemm_provider {
    const char *name;
    bool (*available)(void);
    /* y (m, n) = or += x (m, k) w (k, n); any dimension may be 0 (k = 0 gives zeros unless
     * accumulating) */
    void (*gemm)(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w, ptrdiff_t ldw,
                 float *y, ptrdiff_t ldy, bool accumulate);
    /* The same with w in panels (panels.h), `pitch` from one to the next; NULL: it has none. */
    void (*gemm_panels)(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                        ptrdiff_t pitch, float *y, ptrdiff_t ldy, bool accumulate);
    /* The same of panels that are in L2 already; NULL where gemm_panels() is. */
    void (*gemm_near)(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                      ptrdiff_t pitch, float *y, ptrdiff_t ldy, bool accumulate);
    /* gemm() of at most CAVS__FAR_ROWS rows and a depth of at most CAVS__FAR_DEPTH, for a w that
     * comes from memory, once, read as memory gives it best; y = or += x w^T, w (n, k).  NULL: it
     * has none. */
    void (*gemm_far)(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                     ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate);
    void (*gemm_far_t)(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                       ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool accumulate);
    /* dw (k, n) = or += x^T dy, x (m, k), dy (m, n): the sum over m runs in a fixed order */
    void (*gemm_tn)(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *dy,
                    ptrdiff_t lddy, float *dw, ptrdiff_t lddw, bool accumulate);
    /* The same for rows anywhere; NULL: it has none. */
    void (*gemm_tn_rows)(int m, int n, int k, const struct cavs__gemm_rows *x,
                         const struct cavs__gemm_rows *dy, float *dw, ptrdiff_t lddw,
                         bool accumulate);
};

/* NULL-terminated, best first; "reference" (naive, double accumulation) is the last. */
extern const struct cavs__gemm_provider *const cavs__gemm_providers[];
/* The provider in use: the first available one, or the one named by the environment variable
 * CAVS_GEMM. Thread-safe. */
const struct cavs__gemm_provider *cavs__gemm(void);
/* Makes BLAS libraries single-threaded in this process; called once by the runtime. */
void cavs__gemm_init(void);

#endif

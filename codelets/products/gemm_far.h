/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_far.h - products of some rows with a matrix that comes from memory.
 *
 * Of few rows such a product takes as long as its matrix takes to arrive.  A processor reads ahead
 * best where several rows of some kilobytes are gone through side by side, a cache line of each in
 * turn: on Zen 4 twice as fast as in tiles (gemm_tile.h), which are as wide as registers allow.
 * So here a step is a vector of columns of some rows of w.  For y = x w^T they are turned in
 * registers: each number of y stays one chain of fused multiply-adds in the order of the depth, the
 * same bits as in any other of our products.
 *
 * Of many rows as many as registers have room for are taken at a time, and all of them before the
 * next rows of w: those are near from the second time on.  x is turned over for that, into strips
 * as wide as so many rows.
 *
 * A file for one instruction set includes this after gemm_tile.h, which says what it has to define
 * beforehand; here also
 *     FAR_ROWS: rows that are taken at a time, 6 or 14
 *     void vec_turn(vec r[LANES]): lane j of r[i] and lane i of r[j] change places.
 */
#include "codelets/products/blocks.h"
#include "codelets/products/transpose.h"

/* Rows of w that are read side by side; many more are more than a processor follows. */
#define FAR_STEPS LANES

/* y (rows, n) = or += x w, strip: x^T (steps, rows), w (steps, n); rows and steps are constants. */
TILE_INLINE void far_step(int rows, int steps, int n, const float *strip, const float *w,
                          ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool load)
{
    for (int j = 0; j < n; j += LANES) {
        const bool part = n - j < LANES;
        vec acc[FAR_ROWS];

        UNROLL
        for (int r = 0; r < rows; r++)
            acc[r] = load ? load_at(y + r * ldy + j, part, n - j) : vec_zero();
        UNROLL
        for (int i = 0; i < steps; i++) {
            vec b = load_at(w + i * ldw + j, part, n - j);

            IN_REGISTER(b);
            UNROLL
            for (int r = 0; r < rows; r++)
                acc[r] = vec_fma(vec_set(strip[i * rows + r]), b, acc[r]);
        }
        UNROLL
        for (int r = 0; r < rows; r++) {
            if (part)
                vec_store_part(y + r * ldy + j, n - j, acc[r]);
            else
                vec_store(y + r * ldy + j, acc[r]);
        }
    }
}

/* The next numbers of the rows of w, at most LANES of each, turned over: those of one step of the
 * depth are a vector.  Where there are fewer rows the last one stands for those behind it, whose
 * sums nobody stores. */
TILE_INLINE void load_turned(vec *b, int rows_of_w, bool part, int steps, const float *w,
                             ptrdiff_t ldw)
{
    UNROLL
    for (int i = 0; i < LANES; i++)
        b[i] = load_at(w + (i < rows_of_w ? i : rows_of_w - 1) * ldw, part, steps);
    vec_turn(b);
}

/* y (rows, n) = or += x w^T, strip: x^T (k, rows), w (n, k), n at most LANES */
TILE_INLINE void far_turned_step(int rows, int n, int k, const float *strip, const float *w,
                                 ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool load)
{
    vec acc[FAR_ROWS], b[LANES];
    int p = 0;

    UNROLL
    for (int r = 0; r < rows; r++)
        acc[r] = load ? load_at(y + r * ldy, true, n) : vec_zero();
    for (; p + LANES <= k; p += LANES, strip += LANES * rows) {
        load_turned(b, n, false, LANES, w + p, ldw);
        UNROLL
        for (int i = 0; i < LANES; i++) {
            UNROLL
            for (int r = 0; r < rows; r++)
                acc[r] = vec_fma(vec_set(strip[i * rows + r]), b[i], acc[r]);
        }
    }
    if (p < k)
        load_turned(b, n, true, k - p, w + p, ldw);
    for (int i = 0; p + i < k; i++) {
        UNROLL
        for (int r = 0; r < rows; r++)
            acc[r] = vec_fma(vec_set(strip[i * rows + r]), b[i], acc[r]);
    }
    UNROLL
    for (int r = 0; r < rows; r++)
        vec_store_part(y + r * ldy, n, acc[r]);
}

/* The first FAR_STEPS of k steps, or all. */
TILE_INLINE void far_steps(int rows, int n, int k, const float *strip, const float *w,
                           ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool load)
{
    if (k >= FAR_STEPS) {
        far_step(rows, FAR_STEPS, n, strip, w, ldw, y, ldy, load);
        return;
    }
    for (int p = 0; p < k; p++)
        far_step(rows, 1, n, strip + p * rows, w + p * ldw, ldw, y, ldy, load || p > 0);
}

TILE_INLINE void far_turned(int rows, int n, int k, const float *strip, const float *w,
                            ptrdiff_t ldw, float *y, ptrdiff_t ldy, bool load)
{
    if (n == LANES)
        far_turned_step(rows, LANES, k, strip, w, ldw, y, ldy, load);
    else
        far_turned_step(rows, n, k, strip, w, ldw, y, ldy, load);
}

#define STRIP_ARGUMENTS                                                                       \
    int n, int k, const float *strip, const float *w, ptrdiff_t ldw, float *y, ptrdiff_t ldy, \
        bool load

#define FAR_INSTANCE(rows)                                     \
    TILE_TARGET static void far_##rows(STRIP_ARGUMENTS)        \
    {                                                          \
        far_steps(rows, n, k, strip, w, ldw, y, ldy, load);    \
    }                                                          \
    TILE_TARGET static void far_turned_##rows(STRIP_ARGUMENTS) \
    {                                                          \
        far_turned(rows, n, k, strip, w, ldw, y, ldy, load);   \
    }

FAR_INSTANCE(1)
FAR_INSTANCE(2)
FAR_INSTANCE(3)
FAR_INSTANCE(4)
FAR_INSTANCE(5)
FAR_INSTANCE(6)
#define UP_TO_SIX(f) f##_1, f##_2, f##_3, f##_4, f##_5, f##_6
#if FAR_ROWS == 6
#define FAR_LIST(f) UP_TO_SIX(f)
#else
FAR_INSTANCE(7)
FAR_INSTANCE(8)
FAR_INSTANCE(9)
FAR_INSTANCE(10)
FAR_INSTANCE(11)
FAR_INSTANCE(12)
FAR_INSTANCE(13)
FAR_INSTANCE(14)
#define FAR_LIST(f) UP_TO_SIX(f), f##_7, f##_8, f##_9, f##_10, f##_11, f##_12, f##_13, f##_14
#endif

typedef void far_fn(STRIP_ARGUMENTS);

static far_fn *const far_of[] = {FAR_LIST(far)};
static far_fn *const far_turned_of[] = {FAR_LIST(far_turned)};
_Static_assert(sizeof far_of / sizeof *far_of == FAR_ROWS, "an instance for each number of rows");

/* x (m, k) in strips, that of row r from r * k on. */
static void make_strips(int m, int k, const float *x, ptrdiff_t ldx, float *strips)
{
    for (int r = 0, rows; r < m; r += rows) {
        rows = cavs__next_tile(&tiles, m - r);
        cavs__transpose(rows, k, x + r * ldx, ldx, strips + r * k, rows);
    }
}

#define FAR_ARGUMENTS                                                                            \
    int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w, ptrdiff_t ldw, float *y, \
        ptrdiff_t ldy, bool accumulate

static void gemm_far(FAR_ARGUMENTS)
{
    float strips[CAVS__FAR_ROWS * CAVS__FAR_DEPTH];

    if (k <= 0 && !accumulate)
        clear(m, n, y, ldy);
    make_strips(m, k, x, ldx, strips);
    for (int p = 0; p < k; p += FAR_STEPS)
        for (int r = 0, rows; r < m; r += rows) {
            rows = cavs__next_tile(&tiles, m - r);
            far_of[rows - 1](n, k - p, strips + r * k + p * rows, w + p * ldw, ldw, y + r * ldy,
                             ldy, accumulate || p > 0);
        }
}

static void gemm_far_t(FAR_ARGUMENTS)
{
    float strips[CAVS__FAR_ROWS * CAVS__FAR_DEPTH];

    make_strips(m, k, x, ldx, strips);
    for (int j = 0; j < n; j += LANES)
        for (int r = 0, rows; r < m; r += rows) {
            rows = cavs__next_tile(&tiles, m - r);
            far_turned_of[rows - 1](smaller(LANES, n - j), k, strips + r * k, w + j * ldw, ldw,
                                    y + r * ldy + j, ldy, accumulate);
        }
}

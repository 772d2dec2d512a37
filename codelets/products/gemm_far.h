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
 * Zen 5 reads one row after the other twice as fast as several side by side.  So w is taken in
 * blocks, and with each vector of columns of a block a row of the next one is fetched (1 MB of w
 * alone, 42 GB/s instead of 21; products of 14 rows with it 43 us instead of 57, by w^T 71 and 87).
 *
 * Of many rows as many as registers have room for are taken at a time, and all of them before the
 * next block of w: that is near from the second time on.  x is turned over for that, into strips
 * as wide as so many rows, and so is the block for y = x w^T, once (64 rows: 225 us instead of
 * 330).
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
/* Columns of a block: as many vectors as it has rows. */
#define FAR_COLS (LANES * FAR_STEPS)

/* Fetches a row of the next block; NULL: there is none.  Returns the row after it. */
TILE_INLINE const float *fetch_block_row(const float *next, ptrdiff_t ldw)
{
    if (!next)
        return NULL;
    UNROLL
    for (int j = 0; j < FAR_COLS; j += CAVS__LINE)
        __builtin_prefetch(next + j, 0, 3);
    return next + ldw;
}

/* y (rows, n) = or += x w, strip: x^T (steps, rows), w (steps, n); rows and steps are constants. */
TILE_INLINE void far_step(int rows, int steps, int n, const float *strip, const float *w,
                          ptrdiff_t ldw, const float *next, float *y, ptrdiff_t ldy, bool load)
{
    for (int j = 0; j < n; j += LANES) {
        const bool part = n - j < LANES;
        vec acc[FAR_ROWS];

        next = fetch_block_row(next, ldw);
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

#include "codelets/products/gemm_turned.h"

/* The first FAR_STEPS of k steps, or all. */
TILE_INLINE void far_steps(int rows, int n, int k, const float *strip, const float *w,
                           ptrdiff_t ldw, const float *next, float *y, ptrdiff_t ldy, bool load)
{
    if (k >= FAR_STEPS) {
        far_step(rows, FAR_STEPS, n, strip, w, ldw, next, y, ldy, load);
        return;
    }
    for (int p = 0; p < k; p++)
        far_step(rows, 1, n, strip + p * rows, w + p * ldw, ldw, NULL, y, ldy, load || p > 0);
}

TILE_INLINE void far_turned(int rows, int n, int k, const float *strip, const float *w,
                            ptrdiff_t ldw, const float *next, float *y, ptrdiff_t ldy, bool load)
{
    if (n == LANES)
        far_turned_step(rows, LANES, k, strip, w, ldw, next, y, ldy, load);
    else
        far_turned_step(rows, n, k, strip, w, ldw, next, y, ldy, load);
}

#define STRIP_ARGUMENTS                                                                           \
    int n, int k, const float *strip, const float *w, ptrdiff_t ldw, const float *next, float *y, \
        ptrdiff_t ldy, bool load
#define NEAR_ARGUMENTS \
    int n, int k, const float *strip, const float *turned, float *y, ptrdiff_t ldy, bool load

#define FAR_INSTANCE(rows)                                         \
    TILE_TARGET static void far_##rows(STRIP_ARGUMENTS)            \
    {                                                              \
        far_steps(rows, n, k, strip, w, ldw, next, y, ldy, load);  \
    }                                                              \
    TILE_TARGET static void far_turned_##rows(STRIP_ARGUMENTS)     \
    {                                                              \
        far_turned(rows, n, k, strip, w, ldw, next, y, ldy, load); \
    }                                                              \
    TILE_TARGET static void near_##rows(NEAR_ARGUMENTS)            \
    {                                                              \
        near_step(rows, n, k, strip, turned, y, ldy, load);        \
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
typedef void near_fn(NEAR_ARGUMENTS);

static far_fn *const far_of[] = {FAR_LIST(far)};
static far_fn *const far_turned_of[] = {FAR_LIST(far_turned)};
static near_fn *const near_of[] = {FAR_LIST(near)};
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

/* y (m, n) = or += x w, w (k, n), or x w^T, w (n, k); strips: x, see make_strips() */
struct far_product {
    int m, n, k;
    const float *strips, *w;
    ptrdiff_t ldw;
    float *y;
    ptrdiff_t ldy;
    bool accumulate;
};

/* Where the block of w (rows, cols) begins that is taken after the one at row r, column c; NULL: it
 * is the last one, or less than a whole block comes next. */
static const float *block_after(const struct far_product *f, int rows, int cols, int r, int c)
{
    c += FAR_COLS;
    if (c >= cols) {
        c = 0;
        r += FAR_STEPS;
    }
    return r + FAR_STEPS <= rows && c + FAR_COLS <= cols ? f->w + r * f->ldw + c : NULL;
}

/* Adds what the block of w at row p, column j makes. */
static void multiply_block(const struct far_product *f, int p, int j)
{
    const float *w = f->w + p * f->ldw + j, *next = block_after(f, f->k, f->n, p, j);

    for (int r = 0, rows; r < f->m; r += rows, next = NULL) {
        rows = cavs__next_tile(&tiles, f->m - r);
        far_of[rows - 1](smaller(FAR_COLS, f->n - j), f->k - p, f->strips + r * f->k + p * rows, w,
                         f->ldw, next, f->y + r * f->ldy + j, f->ldy, f->accumulate || p > 0);
    }
}

static void gemm_far(FAR_ARGUMENTS)
{
    float strips[CAVS__FAR_ROWS * CAVS__FAR_DEPTH];
    const struct far_product f = {m, n, k, strips, w, ldw, y, ldy, accumulate};

    if (k <= 0 && !accumulate)
        clear(m, n, y, ldy);
    make_strips(m, k, x, ldx, strips);
    for (int p = 0; p < k; p += FAR_STEPS)
        for (int j = 0; j < n; j += FAR_COLS)
            multiply_block(&f, p, j);
}

/* Adds what the block of w at row j, column p makes, of no more rows than are taken at a time. */
static void multiply_turning(const struct far_product *f, int j, int p)
{
    far_turned_of[f->m - 1](smaller(LANES, f->n - j), smaller(FAR_COLS, f->k - p),
                            f->strips + p * f->m, f->w + j * f->ldw + p, f->ldw,
                            block_after(f, f->n, f->k, j, p), f->y + j, f->ldy,
                            f->accumulate || p > 0);
}

/* The same of more rows. */
TILE_TARGET static void multiply_turned(const struct far_product *f, int j, int p)
{
    const int wide = smaller(LANES, f->n - j), deep = smaller(FAR_COLS, f->k - p);
    float turned[FAR_COLS * LANES] __attribute__((aligned(64)));

    turn_block(wide, deep, f->w + j * f->ldw + p, f->ldw, block_after(f, f->n, f->k, j, p), turned);
    for (int r = 0, rows; r < f->m; r += rows) {
        rows = cavs__next_tile(&tiles, f->m - r);
        near_of[rows - 1](wide, deep, f->strips + r * f->k + p * rows, turned,
                          f->y + r * f->ldy + j, f->ldy, f->accumulate || p > 0);
    }
}

static void gemm_far_t(FAR_ARGUMENTS)
{
    float strips[CAVS__FAR_ROWS * CAVS__FAR_DEPTH];
    const struct far_product f = {m, n, k, strips, w, ldw, y, ldy, accumulate};

    if (k <= 0 && !accumulate)
        clear(m, n, y, ldy);
    make_strips(m, k, x, ldx, strips);
    for (int j = 0; j < n && m > 0; j += LANES)
        for (int p = 0; p < k; p += FAR_COLS)
            (m > FAR_ROWS ? multiply_turned : multiply_turning)(&f, j, p);
}

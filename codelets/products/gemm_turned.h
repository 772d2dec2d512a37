/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_turned.h - the innermost loops of products with the transpose of a matrix that comes from
 * memory: its rows are turned over, in registers or, where many rows are multiplied, into a buffer.
 *
 * gemm_far.h includes this and says what a block is.
 */

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
                                 ptrdiff_t ldw, const float *next, float *y, ptrdiff_t ldy,
                                 bool load)
{
    vec acc[FAR_ROWS], b[LANES];
    int p = 0;

    UNROLL
    for (int r = 0; r < rows; r++)
        acc[r] = load ? load_at(y + r * ldy, true, n) : vec_zero();
    for (; p + LANES <= k; p += LANES, strip += LANES * rows) {
        next = fetch_block_row(next, ldw);
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

/* A block of w, n rows of k numbers, turned over. */
TILE_INLINE void turn_block(int n, int k, const float *w, ptrdiff_t ldw, const float *next,
                            float *turned)
{
    vec b[LANES];

    for (int p = 0; p < k; p += LANES) {
        next = fetch_block_row(next, ldw);
        load_turned(b, n, k - p < LANES, k - p, w + p, ldw);
        UNROLL
        for (int i = 0; i < LANES; i++)
            vec_store(turned + (p + i) * LANES, b[i]);
    }
}

/* The product of far_turned_step() with a block that is turned over. */
TILE_INLINE void near_step(int rows, int n, int k, const float *strip, const float *turned,
                           float *y, ptrdiff_t ldy, bool load)
{
    vec acc[FAR_ROWS];

    UNROLL
    for (int r = 0; r < rows; r++)
        acc[r] = load ? load_at(y + r * ldy, true, n) : vec_zero();
    for (int p = 0; p < k; p++) {
        vec b = vec_load(turned + p * LANES);

        IN_REGISTER(b);
        UNROLL
        for (int r = 0; r < rows; r++)
            acc[r] = vec_fma(vec_set(strip[p * rows + r]), b, acc[r]);
    }
    UNROLL
    for (int r = 0; r < rows; r++)
        vec_store_part(y + r * ldy, n, acc[r]);
}

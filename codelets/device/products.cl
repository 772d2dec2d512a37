/* SPDX-License-Identifier: Apache-2.0 */
/*
 * products.cl - several products in one launch: x (rows, k), w (k, n), y (rows, n), y = x w or
 * y += x w, with rows, k and n of each. x may be read by index: nothing is packed.
 *
 * The library has this text twice, with tiles of few and of many rows (source.c). A group computes
 * a tile of y, TILE_ROWS x 64, 16 steps of the sum at a time; an item ITEM_ROWS x 4 numbers of it,
 * whose rows are ROW_LANES and whose columns are 16 apart: neighbours read neighbouring numbers,
 * from both memories. While a block is multiplied the next one is on its way. Each number is summed
 * in the order of k, whatever the tile.
 */
#define ROW_LANES (ITEMS / 16)
#define X_PITCH (TILE_ROWS + 2) /* the two numbers that 16 columns store fall into 32 banks */
#define W_ROWS (ITEMS / 64)     /* of a block of w that all items load at once */
#define W_LOADS (16 / W_ROWS)

/* Column c of the rows that begin at from[]. */
EW_FN void TILED(load_x)(float *to, GLOBAL const float *x, const long *from, int c, int k)
{
    UNROLL
    for (int i = 0; i < ITEM_ROWS; i++)
        to[i] = from[i] >= 0 && c < k ? x[from[i] + c] : 0.0f;
}

/* Rows r, r + W_ROWS .. of the column that begins at w. */
EW_FN void TILED(load_w)(float *to, GLOBAL const float *w, int w_ld, int r, int k, bool inside)
{
    UNROLL
    for (int i = 0; i < W_LOADS; i++)
        to[i] = inside && r + i * W_ROWS < k ? w[(long)(r + i * W_ROWS) * w_ld] : 0.0f;
}

EW_FN void TILED(multiply_block)(float *sum, LOCAL_POINTER const float *xs,
                                 LOCAL_POINTER const float *ws)
{
    UNROLL
    for (int s = 0; s < 16; s++) {
        UNROLL
        for (int i = 0; i < ITEM_ROWS; i++) {
            UNROLL
            for (int j = 0; j < 4; j++)
                sum[i * 4 + j] += xs[s * X_PITCH + i * ROW_LANES] * ws[s * 64 + j * 16];
        }
    }
}

/* Columns [64 tile, 64 tile + 64) of one product. */
EW_FN void TILED(product)(GLOBAL const int *index, int rows, int tile, int k, int n, int accumulate,
                          VIEW(x), VIEW(w), VIEW(y), LOCAL_POINTER float *xs,
                          LOCAL_POINTER float *ws)
{
    float sum[ITEM_ROWS * 4], next_x[ITEM_ROWS], next_w[W_LOADS];
    long from[ITEM_ROWS];
    int tx = ITEM % 16, ty = ITEM / 16, row = GROUP_X * TILE_ROWS + ty, col = tile * 64 + tx;
    int wr = ITEM / 64, wc = ITEM % 64;
    GLOBAL const float *ours = w + w_at + tile * 64 + wc;
    bool inside = tile * 64 + wc < n;

    UNROLL
    for (int i = 0; i < ITEM_ROWS; i++)
        from[i] = row + i * ROW_LANES < rows ? ROW(x, row + i * ROW_LANES) : -1;
    UNROLL
    for (int i = 0; i < ITEM_ROWS * 4; i++)
        sum[i] = 0.0f;
    TILED(load_x)(next_x, x, from, tx, k);
    TILED(load_w)(next_w, ours, w_ld, wr, k, inside);
    for (int p = 0; p < k; p += 16) {
        UNROLL
        for (int i = 0; i < ITEM_ROWS; i++)
            xs[tx * X_PITCH + ty + i * ROW_LANES] = next_x[i];
        UNROLL
        for (int i = 0; i < W_LOADS; i++)
            ws[(wr + i * W_ROWS) * 64 + wc] = next_w[i];
        BARRIER;
        TILED(load_x)(next_x, x, from, p + 16 + tx, k);
        TILED(load_w)(next_w, ours, w_ld, p + 16 + wr, k, inside);
        TILED(multiply_block)(sum, xs + ty, ws + tx);
        BARRIER;
    }
    UNROLL
    for (int i = 0; i < ITEM_ROWS; i++) {
        UNROLL
        for (int j = 0; j < 4; j++) {
            long at = y_at + (long)(row + i * ROW_LANES) * y_ld + col + j * 16;

            if (row + i * ROW_LANES < rows && col + j * 16 < n)
                y[at] = accumulate ? y[at] + sum[i * 4 + j] : sum[i * 4 + j];
        }
    }
}

/* ---- the kernel: the groups in direction y are the tiles of the first product, then those of the
 * second, and so on ---- */

#define PROBLEM(p)                                                                 \
    int rows##p, int k##p, int n##p, int accumulate##p, VIEW(x##p), VIEW(w##p), VIEW(y##p)

#define SELECT_FIRST                                                               \
    int tile = GROUP_Y, rows = rows0, k = k0, n = n0, accumulate = accumulate0;    \
    GLOBAL float *x = x0, *w = w0, *y = y0;                                        \
    long x_at = x0_at, w_at = w0_at, y_at = y0_at;                                 \
    int x_ld = x0_ld, x_ix = x0_ix, w_ld = w0_ld, y_ld = y0_ld;

#define OR_ELSE(p)                                                                 \
    if (tile >= (n + 63) / 64) {                                                   \
        tile -= (n + 63) / 64;                                                     \
        rows = rows##p, k = k##p, n = n##p, accumulate = accumulate##p;            \
        x = x##p, x_at = x##p##_at, x_ld = x##p##_ld, x_ix = x##p##_ix;            \
        w = w##p, w_at = w##p##_at, w_ld = w##p##_ld;                              \
        y = y##p, y_at = y##p##_at, y_ld = y##p##_ld;                              \
    }

KERNEL(ITEMS) TILED(cavs_products)(GLOBAL const int *index, PROBLEM(0), PROBLEM(1), PROBLEM(2),
                                   PROBLEM(3), PROBLEM(4), PROBLEM(5), PROBLEM(6), PROBLEM(7))
{
    LOCAL float xs[16 * X_PITCH], ws[16 * 64];

    SELECT_FIRST
    OR_ELSE(1) OR_ELSE(2) OR_ELSE(3) OR_ELSE(4) OR_ELSE(5) OR_ELSE(6) OR_ELSE(7)
    TILED(product)(index, rows, tile, k, n, accumulate, x, x_at, x_ld, x_ix, w, w_at, w_ld, -1, y,
                   y_at, y_ld, -1, xs, ws);
}

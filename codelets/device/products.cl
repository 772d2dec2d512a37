/* SPDX-License-Identifier: Apache-2.0 */
/*
 * products.cl - several products in one launch: x (rows, k), w (k, n), y (rows, n), y = x w or
 * y += x w, with rows, k and n of each. x may be read by index: nothing is packed.
 *
 * The library has this text once for each size of tiles (source.c). A group computes a tile of y,
 * TILE_ROWS x TILE_COLUMNS. Each item has ITEM_ROWS x 4 numbers of it: rows ROW_LANES apart, and
 * four columns side by side. The smaller a tile, the more slices the items of a group are, each of
 * which adds up its own part of k: so few rows, which are few tiles, are still much work at a time.
 * What slices have is added in a fixed order at the end.
 *
 * A slice takes STEPS steps of k at a time, a chunk: a block of x and one of w, which are copied to
 * local memory while earlier chunks are multiplied, STAGES - 1 chunks ahead. Copies go by four
 * numbers where all of a product lies at multiples of four. (The loops of other copies are left as
 * they are: unrolled they would take the registers that a second group on a unit needs.)
 *
 * y may be the sum of two products, x w + x2 w2, whose sums of k1 and of k2 terms are one of all
 * these (k1 is a multiple of STEPS). And the launch may copy rows, of up to two operands.
 */
#define ROW_LANES    (TILE_ROWS / ITEM_ROWS)
#define COLUMN_LANES (TILE_COLUMNS / 4)
#define SLICE_ITEMS  (ROW_LANES * COLUMN_LANES)
#define SLICES       (ITEMS / SLICE_ITEMS)
#define X_PITCH      (STEPS + 4) /* rows of neighbours fall into different banks */
#define X_FLOATS     (TILE_ROWS * X_PITCH)
#define CHUNK_FLOATS (X_FLOATS + STEPS * TILE_COLUMNS)
#define CHUNKS_ROOM  (SLICES * STAGES * CHUNK_FLOATS)
#define SUMS_ROOM    (SLICES / 2 * TILE_ROWS * TILE_COLUMNS)
#define ROOM_FLOATS  (CHUNKS_ROOM > SUMS_ROOM ? CHUNKS_ROOM : SUMS_ROOM)

#if ITEMS % SLICE_ITEMS || TILE_ROWS * STEPS / 4 % SLICE_ITEMS || STEPS * COLUMN_LANES % SLICE_ITEMS
#error "the items of a slice do not share its copies evenly"
#endif

/* ---- copies of chunks to local memory ---- */

/* By fours: an item copies the same columns of some rows of x, and of w, in each chunk. What does
 * not change from chunk to chunk is found once: else a chunk would take longer to address than to
 * multiply. */
#define X_LANES  (STEPS / 4)
#define X_COPIES (TILE_ROWS * X_LANES / SLICE_ITEMS)
#define X_STEP   (SLICE_ITEMS / X_LANES) /* rows between those of an item */
#define W_COPIES (STEPS * COLUMN_LANES / SLICE_ITEMS)
#define W_STEP   (SLICE_ITEMS / COLUMN_LANES)

#if SLICE_ITEMS % X_LANES || SLICE_ITEMS % COLUMN_LANES
#error "an item does not copy the same columns of all its rows"
#endif

struct TILED(fours) {
    GLOBAL const float *x[X_COPIES], *w; /* of the next chunk; those of x that are missing: any */
    unsigned there;                      /* bit i: row i of x is */
    long w_row;                          /* from one row of w to the next */
};

/* The chunk of steps from p on. */
EW_FN struct TILED(fours) TILED(find_fours)(GLOBAL const float *x, LOCAL_POINTER const long *from,
                                            GLOBAL const float *w, int w_ld, int p, int col)
{
    struct TILED(fours) f;
    int t = ITEM % SLICE_ITEMS;

    f.there = 0;
    UNROLL
    for (int i = 0; i < X_COPIES; i++) {
        long at = from[t / X_LANES + i * X_STEP];

        f.there |= at < 0 ? 0u : 1u << i;
        f.x[i] = x + (at < 0 ? 0 : at + p + t % X_LANES * 4);
    }
    f.w_row = w_ld;
    f.w = w + (long)(p + t / COLUMN_LANES) * w_ld + col + t % COLUMN_LANES * 4;
    return f;
}

/* Copies it, of which `left` steps are there, and goes on to the next one; zeros in the place of
 * others, and of columns beyond n. */
EW_FN void TILED(copy_fours)(LOCAL_POINTER float *to, PRIVATE_POINTER struct TILED(fours) *f,
                             int left, int col, int n)
{
    int t = ITEM % SLICE_ITEMS, xc = t % X_LANES * 4, wr = t / COLUMN_LANES;
    int wc = t % COLUMN_LANES * 4;

    UNROLL
    for (int i = 0; i < X_COPIES; i++) {
        copy_four(to + (t / X_LANES + i * X_STEP) * X_PITCH + xc, f->x[i],
                  (f->there >> i & 1) != 0 && xc < left);
        f->x[i] += STEPS;
    }
    UNROLL
    for (int i = 0; i < W_COPIES; i++) {
        int r = wr + i * W_STEP;

        copy_four(to + X_FLOATS + r * TILE_COLUMNS + wc, f->w + i * W_STEP * f->w_row,
                  r < left && col + wc < n);
    }
    f->w += STEPS * f->w_row;
}

/* One by one: steps [p, p + STEPS) of the rows that begin at from[]; zeros beyond k. */
EW_FN void TILED(copy_x)(LOCAL_POINTER float *to, GLOBAL const float *x,
                         LOCAL_POINTER const long *from, int p, int k)
{
    NO_UNROLL
    for (int e = ITEM % SLICE_ITEMS; e < TILE_ROWS * STEPS; e += SLICE_ITEMS) {
        int r = e / STEPS, c = e % STEPS;
        bool there = from[r] >= 0 && p + c < k;

        copy_one(to + r * X_PITCH + c, there ? x + from[r] + p + c : x, there);
    }
}

/* Rows [p, p + STEPS) of w, its columns from col on; zeros beyond k and n. */
EW_FN void TILED(copy_w)(LOCAL_POINTER float *to, GLOBAL const float *w, int w_ld, int p, int k,
                         int col, int n)
{
    NO_UNROLL
    for (int e = ITEM % SLICE_ITEMS; e < STEPS * TILE_COLUMNS; e += SLICE_ITEMS) {
        int r = e / TILE_COLUMNS, c = e % TILE_COLUMNS;
        bool there = p + r < k && col + c < n;

        copy_one(to + e, there ? w + (long)(p + r) * w_ld + col + c : w, there);
    }
}

/* ---- products ---- */

/* Adds the product of a chunk's block of x, from this item's first row on, and of w, from its first
 * column on. */
EW_FN void TILED(multiply_chunk)(float *sum, LOCAL_POINTER const float *xs,
                                 LOCAL_POINTER const float *ws)
{
    UNROLL
    for (int s = 0; s < STEPS; s += 4) {
        float4 x[ITEM_ROWS];

        UNROLL
        for (int i = 0; i < ITEM_ROWS; i++)
            x[i] = load_four(xs + i * ROW_LANES * X_PITCH + s);
#define ONE_STEP(u, part)                                                          \
    {                                                                              \
        float4 w = load_four(ws + (s + u) * TILE_COLUMNS);                         \
        UNROLL                                                                     \
        for (int i = 0; i < ITEM_ROWS; i++) {                                      \
            sum[i * 4] += x[i].part * w.x;                                         \
            sum[i * 4 + 1] += x[i].part * w.y;                                     \
            sum[i * 4 + 2] += x[i].part * w.z;                                     \
            sum[i * 4 + 3] += x[i].part * w.w;                                     \
        }                                                                          \
    }
        ONE_STEP(0, x)
        ONE_STEP(1, y)
        ONE_STEP(2, z)
        ONE_STEP(3, w)
#undef ONE_STEP
    }
}

/* The sums of all slices, in the first one: each time the second half of them is added to the
 * first. */
EW_FN void TILED(add_slices)(float *sum, LOCAL_POINTER float *room)
{
    int slice = ITEM / SLICE_ITEMS, t = ITEM % SLICE_ITEMS;

    for (int upper = SLICES / 2; upper > 0; upper /= 2) {
        BARRIER;
        if (slice >= upper && slice < 2 * upper) {
            UNROLL
            for (int i = 0; i < ITEM_ROWS * 4; i++)
                room[((slice - upper) * ITEM_ROWS * 4 + i) * SLICE_ITEMS + t] = sum[i];
        }
        BARRIER;
        if (slice < upper) {
            UNROLL
            for (int i = 0; i < ITEM_ROWS * 4; i++)
                sum[i] += room[(slice * ITEM_ROWS * 4 + i) * SLICE_ITEMS + t];
        }
    }
}

/* Columns [TILE_COLUMNS tile, TILE_COLUMNS (tile + 1)) of one product, or of a sum of two. */
EW_FN void TILED(product)(GLOBAL const int *index, int rows, int tile, int n, int k1, VIEW(x),
                          VIEW(w), int k2, VIEW(x2), VIEW(w2), VIEW(y), LOCAL_POINTER float *room,
                          LOCAL_POINTER long *from)
{
    float sum[ITEM_ROWS * 4];
    int slice = ITEM / SLICE_ITEMS, t = ITEM % SLICE_ITEMS;
    int tx = t % COLUMN_LANES, ty = t / COLUMN_LANES;
    int row = GROUP_X * TILE_ROWS, col = tile * TILE_COLUMNS, k = k1 + k2;
    int chunks = (k + STEPS * SLICES - 1) / (STEPS * SLICES), first = slice * chunks * STEPS;
    int end = first + chunks * STEPS < k ? first + chunks * STEPS : k;
    LOCAL_POINTER float *chunk = room + slice * STAGES * CHUNK_FLOATS;
    struct TILED(fours) next;
    bool fours = (k1 | k2 | n | x_ld | w_ld) % 4 == 0 && OF_FOURS(x, x_at) && OF_FOURS(w, w_at);

    if (k2 > 0)
        fours = fours && (x2_ld | w2_ld) % 4 == 0 && OF_FOURS(x2, x2_at) && OF_FOURS(w2, w2_at);
    if (ITEM < TILE_ROWS) {
        from[ITEM] = row + ITEM < rows ? ROW(x, row + ITEM) : -1;
        from[TILE_ROWS + ITEM] = k2 > 0 && row + ITEM < rows ? ROW(x2, row + ITEM) : -1;
    }
    UNROLL
    for (int i = 0; i < ITEM_ROWS * 4; i++)
        sum[i] = 0.0f;
    BARRIER;
#define COPY_CHUNK(c)                                                              \
    {                                                                              \
        LOCAL_POINTER float *to = chunk + (c) % STAGES * CHUNK_FLOATS;             \
        int p = first + (c) * STEPS;                                               \
        bool second = p >= k1 && k2 > 0;                                           \
        int before = second ? k1 : 0;                                              \
        GLOBAL const float *xs = second ? x2 : x, *ws = second ? w2 + w2_at : w + w_at; \
        LOCAL_POINTER const long *rows_from = second ? from + TILE_ROWS : from;    \
        if (fours) {                                                               \
            if ((c) == 0 || p == k1)                                               \
                next = TILED(find_fours)(xs, rows_from, ws, second ? w2_ld : w_ld, p - before, \
                                         col);                                     \
            TILED(copy_fours)(to, &next, end - p, col, n);                         \
        } else {                                                                   \
            TILED(copy_x)(to, xs, rows_from, p - before, end - before);            \
            TILED(copy_w)(to + X_FLOATS, ws, second ? w2_ld : w_ld, p - before, end - before, col, \
                          n);                                                      \
        }                                                                          \
        COPIES_BEGUN;                                                              \
    }
    for (int c = 0; c < STAGES - 1; c++)
        COPY_CHUNK(c)
    for (int c = 0; c < chunks; c++) {
        LOCAL_POINTER const float *now = chunk + c % STAGES * CHUNK_FLOATS;

        if (STAGES == 1) {
            BARRIER;
            COPY_CHUNK(c)
        }
        COPIES_WAIT(STAGES - 2);
        BARRIER;
        if (STAGES > 1)
            COPY_CHUNK(c + STAGES - 1)
        TILED(multiply_chunk)(sum, now + ty * X_PITCH, now + X_FLOATS + tx * 4);
    }
#undef COPY_CHUNK
    COPIES_WAIT(0);
    TILED(add_slices)(sum, room);
    if (slice > 0)
        return;
    UNROLL
    for (int i = 0; i < ITEM_ROWS; i++) {
        int r = row + ty + i * ROW_LANES;
        long at = y_at + (long)r * y_ld + col + tx * 4;

        UNROLL
        for (int j = 0; j < 4; j++)
            if (r < rows && col + tx * 4 + j < n)
                y[at + j] = sum[i * 4 + j];
    }
}

/* ---- copies ---- */

#define COPIED(p) int copied##p, VIEW(from##p), VIEW(to##p)

/* Columns [64 tile, 64 (tile + 1)) of the first operand that is copied, or after its last ones of
 * the second. */
EW_FN void TILED(copy)(GLOBAL const int *index, int rows, int tile, COPIED(0), COPIED(1))
{
    int tiles = (copied0 + 63) / 64;
    bool second = tile >= tiles;
    int n = second ? copied1 : copied0, ld = second ? to1_ld : to0_ld;
    GLOBAL const float *from = second ? from1 : from0;
    GLOBAL float *to = second ? to1 + to1_at : to0 + to0_at;

    UNROLL
    for (int e = 0; e < TILE_ROWS * 64; e += ITEMS) {
        int r = GROUP_X * TILE_ROWS + (e + ITEM) / 64;
        int c = (second ? tile - tiles : tile) * 64 + ITEM % 64;
        long at = r >= rows ? -1 : second ? ROW(from1, r) : ROW(from0, r);

        if (r < rows && c < n)
            to[(long)r * ld + c] = at < 0 ? 0.0f : from[at + c];
    }
}

/* ---- the kernel: the groups in direction y are the tiles of the first product, then those of the
 * second, and so on; then those of the copies ---- */

/* A product may be a sum with another one, p + 4, whose k, x and w are ok, ox and ow. */
#define PROBLEM(p)                                                                 \
    int rows##p, int k##p, int n##p, int sum##p, VIEW(x##p), VIEW(w##p), VIEW(y##p)

#define SELECT_FIRST                                                               \
    int tile = GROUP_Y, rows = rows0, k = k0, n = n0, sum = sum0, ok = k4;         \
    GLOBAL float *x = x0, *w = w0, *y = y0, *ox = x4, *ow = w4;                    \
    long x_at = x0_at, w_at = w0_at, y_at = y0_at, ox_at = x4_at, ow_at = w4_at;   \
    int x_ld = x0_ld, x_ix = x0_ix, w_ld = w0_ld, y_ld = y0_ld;                    \
    int ox_ld = x4_ld, ox_ix = x4_ix, ow_ld = w4_ld;

#define TILES_OF_ONE ((n + TILE_COLUMNS - 1) / TILE_COLUMNS)
#define OR_ELSE(p, more)                                                           \
    if (tile >= TILES_OF_ONE) {                                                    \
        tile -= TILES_OF_ONE;                                                      \
        rows = rows##p, k = k##p, n = n##p, sum = sum##p;                          \
        x = x##p, x_at = x##p##_at, x_ld = x##p##_ld, x_ix = x##p##_ix;            \
        w = w##p, w_at = w##p##_at, w_ld = w##p##_ld;                              \
        y = y##p, y_at = y##p##_at, y_ld = y##p##_ld;                              \
        more                                                                       \
    }
#define AND(p)                                                                     \
    ok = k##p, ox = x##p, ox_at = x##p##_at, ox_ld = x##p##_ld, ox_ix = x##p##_ix; \
    ow = w##p, ow_at = w##p##_at, ow_ld = w##p##_ld;

KERNEL(ITEMS) TILED(cavs_products)(GLOBAL const int *index, PROBLEM(0), PROBLEM(1), PROBLEM(2),
                                   PROBLEM(3), PROBLEM(4), PROBLEM(5), PROBLEM(6), PROBLEM(7),
                                   COPIED(0), COPIED(1))
{
    IN_TURN;
    LOCAL_OF_FOURS float room[ROOM_FLOATS];
    LOCAL long from[2 * TILE_ROWS];

    SELECT_FIRST
    OR_ELSE(1, AND(5)) OR_ELSE(2, AND(6)) OR_ELSE(3, AND(7))
    OR_ELSE(4, ) OR_ELSE(5, ) OR_ELSE(6, ) OR_ELSE(7, )
    if (tile >= TILES_OF_ONE) {
        TILED(copy)(index, rows0, tile - TILES_OF_ONE, copied0, PASS(from0), PASS(to0), copied1,
                    PASS(from1), PASS(to1));
        return;
    }
    TILED(product)(index, rows, tile, n, k, x, x_at, x_ld, x_ix, w, w_at, w_ld, -1, sum ? ok : 0,
                   ox, ox_at, ox_ld, ox_ix, ow, ow_at, ow_ld, -1, y, y_at, y_ld, -1, room, from);
}

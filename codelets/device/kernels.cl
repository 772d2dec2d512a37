/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.cl - the kernels of codelets/kernels/kernel.h and codelets/update.h on devices, in what
 * OpenCL C and CUDA share (dialect.cl). Names, shapes and order of operands are those of the CPU
 * kernels.
 *
 * Sums run in an order that depends on the shapes only, and there are no atomics: a device gives
 * the same bits every time.
 */

/* ---- sums and largest of the items that share a row: all of them get the result ---- */

#define LANE (ITEM & ((1 << lanes) - 1))

/* The number of the item whose lane differs in this bit. */
EW_FN float of_other(LOCAL_POINTER float *part, float mine, int bit)
{
    float other;

#ifdef SHUFFLE
    if (bit < 32)
        return SHUFFLE(mine, bit);
#endif
    part[ITEM] = mine;
    BARRIER;
    other = part[ITEM ^ bit];
    BARRIER;
    return other;
}

EW_FN float sum_of_lanes(LOCAL_POINTER float *part, int lanes, float mine)
{
    for (int bit = 1 << lanes >> 1; bit > 0; bit /= 2)
        mine += of_other(part, mine, bit);
    return mine;
}

EW_FN float largest_of_lanes(LOCAL_POINTER float *part, int lanes, float mine)
{
    for (int bit = 1 << lanes >> 1; bit > 0; bit /= 2) {
        float other = of_other(part, mine, bit);

        mine = other > mine ? other : mine;
    }
    return mine;
}

/* ---- moving rows ---- */

/* x (rows, n) -> y */
KERNEL(256) cavs_copy_rows(GLOBAL const int *index, ROWS, VIEW(x), VIEW(y))
{
    IN_TURN;
    float numbers[NUMBERS];

    TAKE_ROW
    if (r < rows) {
        load_numbers(numbers, x, ROW(x, r), column, step, n);
        store_numbers(y, y_at + (long)r * y_ld, numbers, column, step, n);
    }
}

/* x (rows, cols) -> y (cols, rows), a group each square of 32 */
KERNEL(256) cavs_transpose(int rows, int cols, GLOBAL const float *x, long x_at, int x_ld,
                           GLOBAL float *y, long y_at, int y_ld)
{
    IN_TURN;
    LOCAL float square[32 * 33];
    int r0 = GROUP_X * 32, c0 = GROUP_Y * 32, c = ITEM % 32;

    for (int r = ITEM / 32; r < 32; r += 8)
        if (r0 + r < rows && c0 + c < cols)
            square[r * 33 + c] = x[x_at + (long)(r0 + r) * x_ld + c0 + c];
    BARRIER;
    for (int r = ITEM / 32; r < 32; r += 8)
        if (c0 + r < cols && r0 + c < rows)
            y[y_at + (long)(c0 + r) * y_ld + r0 + c] = square[c * 33 + r];
}

/* ---- gradients of products, where there is no library for them; products: products.cl ----
 * A group computes 64 x 64 numbers, 16 steps of the sum at a time; an item 4 x 4 of them. */

#define STORE_4_BY_4(y, row, rows, col, cols, old)                                 \
    for (int i = 0; i < 4; i++)                                                    \
        for (int j = 0; j < 4; j++)                                                \
            if (row + i < rows && col + j < cols) {                                \
                long at = y##_at + (long)(row + i) * y##_ld + col + j;             \
                y[at] = old ? y[at] + sum[i * 4 + j] : sum[i * 4 + j];             \
            }

#define MULTIPLY_ADD(a, b)                                                         \
    for (int s = 0; s < 16; s++)                                                   \
        for (int i = 0; i < 4; i++)                                                \
            for (int j = 0; j < 4; j++)                                            \
                sum[i * 4 + j] += a[s * 64 + ty * 4 + i] * b[s * 64 + tx * 4 + j];

/* x (rows, k), dy (rows, n), dw (k, n): dw = or += x^T dy */
KERNEL(256) cavs_gemm_tn(GLOBAL const int *index, int rows, int k, int n, int accumulate, VIEW(x),
                         VIEW(dy), VIEW(dw))
{
    IN_TURN;
    LOCAL float xs[16 * 64], ds[16 * 64];
    float sum[16];
    int ty = ITEM / 16, tx = ITEM % 16, row = GROUP_X * 64 + ty * 4, col = GROUP_Y * 64 + tx * 4;
    int lr = ITEM / 16, lc = ITEM % 16 * 4; /* loads 4 numbers of a row of each */

    for (int i = 0; i < 16; i++)
        sum[i] = 0.0f;
    for (int r = 0; r < rows; r += 16) {
        long xf = r + lr < rows ? ROW(x, r + lr) : -1, df = r + lr < rows ? ROW(dy, r + lr) : -1;

        for (int i = 0; i < 4; i++) {
            int xc = GROUP_X * 64 + lc + i, dc = GROUP_Y * 64 + lc + i;

            xs[lr * 64 + lc + i] = xf >= 0 && xc < k ? x[xf + xc] : 0.0f;
            ds[lr * 64 + lc + i] = df >= 0 && dc < n ? dy[df + dc] : 0.0f;
        }
        BARRIER;
        MULTIPLY_ADD(xs, ds)
        BARRIER;
    }
    STORE_4_BY_4(dw, row, k, col, n, accumulate)
}

/* ---- sums ---- */

/* x (rows, n), y (parts, n): row p of y = or += the sum of part p of the rows, `size` of them; a
 * group each 16 columns of a part, 16 lanes of rows, each of which has 8 on their way at once */
KERNEL(256) cavs_column_sum(GLOBAL const int *index, int rows, int n, int size, int accumulate,
                            VIEW(x), VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];
    int c = GROUP_X * 16 + ITEM % 16, begin = GROUP_Y * size;
    int end = rows - begin < size ? rows : begin + size;
    float sum = 0.0f, numbers[8];

    for (int first = begin + ITEM / 16; first < end && c < n; first += 128) {
        UNROLL
        for (int k = 0; k < 8; k++) {
            int r = first + k * 16;
            long from = r < end ? ROW(x, r) : -1;

            numbers[k] = from < 0 ? 0.0f : x[from + c];
        }
        UNROLL
        for (int k = 0; k < 8; k++)
            sum += numbers[k];
    }
    part[ITEM] = sum;
    BARRIER;
    if (ITEM < 16 && c < n) {
        long to = y_at + (long)GROUP_Y * y_ld + c;

        sum = accumulate ? y[to] : 0.0f;
        for (int lane = 0; lane < 16; lane++)
            sum += part[lane * 16 + ITEM];
        y[to] = sum;
    }
}

/* x summed (rows, n), y (rows, n): y[r] = sum of the rows named for r */
KERNEL(256) cavs_sum_rows(GLOBAL const int *index, ROWS, VIEW(x), int x_ptr, VIEW(y))
{
    IN_TURN;
    TAKE_ROW
    if (r < rows)
        sum_rows(index, r, column, step, n, x_ptr, PASS(x), PASS(y));
}

/* x summed, y (rows, n): y[r] = sum of the pieces named for r, each a row, the first column of y
 * that it is added to, and how many */
KERNEL(256) cavs_sum_pieces(GLOBAL const int *index, ROWS, VIEW(x), int x_ptr, VIEW(y))
{
    IN_TURN;
    TAKE_ROW
    for (int c = column; c < n && r < rows; c += step) {
        float sum = 0.0f;

        for (int e = index[x_ptr + r]; e < index[x_ptr + r + 1]; e++) {
            int row = index[x_ix + 3 * e], from = index[x_ix + 3 * e + 1];

            if (c >= from && c < from + index[x_ix + 3 * e + 2])
                sum += x[x_at + (long)row * x_ld + c - from];
        }
        y[y_at + (long)r * y_ld + c] = sum;
    }
}

/* What an item of a whole row takes at once, and keeps where that is all that it has of it. Those
 * that compute exponentials or compare with a label take fewer: with as many a unit has no room for
 * so many items (64 registers each instead of 40 in softmax: 103 us instead of 91 of 2240 rows of
 * 10000 numbers on an H100). */
#define MANY 16
#define FEWER 8

/* x (rows, n), y (rows, 1): y[r] = sum of row r */
KERNEL(256) cavs_row_sum(GLOBAL const int *index, ROWS, VIEW(x), VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];

    TAKE_WHOLE_ROW
    long from = ROW(x, r);
    float sum = 0.0f, numbers[MANY];

    for (int c = column; c < n; c += MANY * step) {
        load_many(numbers, MANY, x, from, c, step, n);
        UNROLL
        for (int k = 0; k < MANY; k++)
            sum += numbers[k];
    }
    sum = sum_of_lanes(part, lanes, sum);
    if (here && column == 0)
        y[y_at + (long)r * y_ld] = sum;
}

/* ---- classifiers ---- */

#define NUMBER(z, from, c) number_at(z, from, c)

/* Below all numbers that are finite. */
#define LEAST -3.4028235e38f

EW_FN float largest_of_many(float largest, const float *numbers, int c, int step, int n)
{
    UNROLL
    for (int k = 0; k < FEWER; k++)
        largest = c + k * step < n && numbers[k] > largest ? numbers[k] : largest;
    return largest;
}

/* The largest number of a row and the sum of e^(x - largest), of a row that is read once: what an
 * item has summed shrinks as it finds larger ones. `numbers` are all that it has of a row of no
 * more than FEWER numbers an item. */
EW_FN float sum_of_exponentials(LOCAL_POINTER float *part, int lanes, GLOBAL const float *z,
                                long from, int n, float *numbers, float *largest)
{
    float mine = LEAST, sum = 0.0f;

    for (int c = LANE; c < n; c += FEWER << lanes) {
        float before = mine;

        load_many(numbers, FEWER, z, from, c, 1 << lanes, n);
        mine = largest_of_many(mine, numbers, c, 1 << lanes, n);
        sum *= ew_exp(before - mine);
        UNROLL
        for (int k = 0; k < FEWER; k++)
            sum += c + (k << lanes) < n ? ew_exp(numbers[k] - mine) : 0.0f;
    }
    *largest = largest_of_lanes(part, lanes, mine);
    return sum_of_lanes(part, lanes, sum * ew_exp(mine - *largest));
}

/* To take a row again, from column c on: it is there if an item has no more than `many`. */
#define LOAD_AGAIN(x, many)                                                        \
    if (n > many * step)                                                           \
        load_many(numbers, many, x, from, c, step, n);
#define STORE_MANY(y, many)                                                        \
    UNROLL                                                                         \
    for (int k = 0; k < many; k += NUMBERS)                                        \
        store_numbers(y, to, numbers + k, c + k * step, step, n);

/* z (rows, n), label ids, y (rows, 1): -log softmax(z)[label], 0 without a label */
KERNEL(256) cavs_softmax_xent(GLOBAL const int *index, ROWS, VIEW(z), int label_ix, VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];

    TAKE_WHOLE_ROW
    int label = index[label_ix + r];
    bool counts = label >= 0 && label < n;
    long from = ROW(z, r);
    float numbers[FEWER], largest;
    float sum = sum_of_exponentials(part, lanes, z, from, n, numbers, &largest);

    if (here && column == 0)
        y[y_at + (long)r * y_ld] =
            counts ? ew_log(sum) - (NUMBER(z, from, label) - largest) : 0.0f;
}

/* z (rows, n), label ids, g (rows, 1), dz (rows, n): g (softmax(z) - onehot(label)) */
KERNEL(256) cavs_softmax_xent_grad(GLOBAL const int *index, ROWS, VIEW(z), int label_ix, VIEW(g),
                                   VIEW(dz))
{
    IN_TURN;
    LOCAL float part[256];
    float numbers[FEWER], largest;

    TAKE_WHOLE_ROW
    int label = index[label_ix + r];
    bool counts = label >= 0 && label < n;
    long from = ROW(z, r), g_from = ROW(g, r), to = dz_at + (long)r * dz_ld;
    float share = 1.0f / sum_of_exponentials(part, lanes, z, from, n, numbers, &largest);
    float slope = counts ? NUMBER(g, g_from, 0) : 0.0f;

    for (int c = column; c < n && here; c += FEWER * step) {
        LOAD_AGAIN(z, FEWER)
        UNROLL
        for (int k = 0; k < FEWER; k++)
            numbers[k] = counts ? slope * (ew_exp(numbers[k] - largest) * share -
                                           (c + k * step == label ? 1.0f : 0.0f))
                                : 0.0f;
        STORE_MANY(dz, FEWER)
    }
}

/* z (rows, n), label ids, y (rows, 1): 1 if label is the first largest, else 0, as where z has a
 * NaN */
KERNEL(256) cavs_correct(GLOBAL const int *index, ROWS, VIEW(z), int label_ix, VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];

    TAKE_WHOLE_ROW
    int label = index[label_ix + r];
    bool counts = label >= 0 && label < n;
    long from = ROW(z, r);
    float own = counts ? NUMBER(z, from, label) : 0.0f, beaten = 0.0f, numbers[FEWER];

    for (int first = column; first < n; first += FEWER * step) {
        load_many(numbers, FEWER, z, from, first, step, n);
        UNROLL
        for (int k = 0; k < FEWER; k++) {
            int c = first + k * step;

            if (c < n && !(c < label ? numbers[k] < own : numbers[k] <= own))
                beaten = 1.0f;
        }
    }
    beaten = largest_of_lanes(part, lanes, beaten);
    if (here && column == 0)
        y[y_at + (long)r * y_ld] = counts && beaten == 0.0f ? 1.0f : 0.0f;
}

/* ---- rows ---- */

/* Where NaN is above all others. */
#define IS_ABOVE(a, b) ((b) == (b) && !((a) <= (b)))

/* Position of the first largest of a row, of the first NaN if there is one; all items get it. */
EW_FN int first_largest_of_row(LOCAL_POINTER float *part, int lanes, GLOBAL const float *x,
                               long from, int n)
{
    float largest = NUMBER(x, from, LANE < n ? LANE : 0), numbers[MANY];
    int at = LANE < n ? LANE : 0;

    for (int c = LANE; c < n; c += MANY << lanes) {
        load_many(numbers, MANY, x, from, c, 1 << lanes, n);
        UNROLL
        for (int k = 0; k < MANY; k++)
            if (c + (k << lanes) < n && IS_ABOVE(numbers[k], largest)) {
                largest = numbers[k];
                at = c + (k << lanes);
            }
    }
    for (int bit = 1 << lanes >> 1; bit > 0; bit /= 2) {
        float other = of_other(part, largest, bit);
        int other_at = (int)ew_bits(of_other(part, ew_float((unsigned)at), bit));

        if (IS_ABOVE(other, largest) || (!IS_ABOVE(largest, other) && other_at < at)) {
            largest = other;
            at = other_at;
        }
    }
    return at;
}

/* x (rows, n), y (rows, 1): y[r] = largest of row r */
KERNEL(256) cavs_row_max(GLOBAL const int *index, ROWS, VIEW(x), VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];

    TAKE_WHOLE_ROW
    long from = ROW(x, r);
    int at = first_largest_of_row(part, lanes, x, from, n);

    if (here && column == 0)
        y[y_at + (long)r * y_ld] = NUMBER(x, from, at);
}

/* x (rows, n), g (rows, 1), dx (rows, n): g at the first largest */
KERNEL(256) cavs_row_max_grad(GLOBAL const int *index, ROWS, VIEW(x), VIEW(g), VIEW(dx))
{
    IN_TURN;
    LOCAL float part[256];

    TAKE_WHOLE_ROW
    int at = first_largest_of_row(part, lanes, x, ROW(x, r), n);
    long g_from = ROW(g, r), to = dx_at + (long)r * dx_ld;

    for (int c = column; c < n && here; c += step)
        dx[to + c] = c == at ? NUMBER(g, g_from, 0) : 0.0f;
}

/* x (rows, n), y (rows, n): e^x / sum of e^x */
KERNEL(256) cavs_softmax(GLOBAL const int *index, ROWS, VIEW(x), VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];
    float numbers[FEWER], largest;

    TAKE_WHOLE_ROW
    long from = ROW(x, r), to = y_at + (long)r * y_ld;
    float share = 1.0f / sum_of_exponentials(part, lanes, x, from, n, numbers, &largest);

    for (int c = column; c < n && here; c += FEWER * step) {
        LOAD_AGAIN(x, FEWER)
        UNROLL
        for (int k = 0; k < FEWER; k++)
            numbers[k] = ew_exp(numbers[k] - largest) * share;
        STORE_MANY(y, FEWER)
    }
}

/* x (rows, n), y (rows, n): x - log(sum of e^x) */
KERNEL(256) cavs_log_softmax(GLOBAL const int *index, ROWS, VIEW(x), VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];
    float numbers[FEWER], largest;

    TAKE_WHOLE_ROW
    long from = ROW(x, r), to = y_at + (long)r * y_ld;
    float norm = ew_log(sum_of_exponentials(part, lanes, x, from, n, numbers, &largest));

    for (int c = column; c < n && here; c += FEWER * step) {
        LOAD_AGAIN(x, FEWER)
        UNROLL
        for (int k = 0; k < FEWER; k++)
            numbers[k] = (numbers[k] - largest) - norm;
        STORE_MANY(y, FEWER)
    }
}

/* x (rows, n), y (rows, n): x / sqrt(mean of the squares + 1e-5) */
KERNEL(256) cavs_rms_norm(GLOBAL const int *index, ROWS, VIEW(x), VIEW(y))
{
    IN_TURN;
    LOCAL float part[256];
    float numbers[MANY];

    TAKE_WHOLE_ROW
    long from = ROW(x, r), to = y_at + (long)r * y_ld;
    float sum = 0.0f, share;

    for (int c = column; c < n; c += MANY * step) {
        load_many(numbers, MANY, x, from, c, step, n);
        UNROLL
        for (int k = 0; k < MANY; k++)
            sum += numbers[k] * numbers[k];
    }
    share = 1.0f / ew_sqrt(sum_of_lanes(part, lanes, sum) / (float)n + 1e-5f);
    for (int c = column; c < n && here; c += MANY * step) {
        LOAD_AGAIN(x, MANY)
        UNROLL
        for (int k = 0; k < MANY; k++)
            numbers[k] *= share;
        STORE_MANY(y, MANY)
    }
}

/* ---- picking, dropout, masks ---- */

/* x (rows, n), ids, y (rows, 1): x[id] */
KERNEL(64) cavs_pick(GLOBAL const int *index, int rows, int n, VIEW(x), int ids_ix, VIEW(y))
{
    IN_TURN;
    int r = GROUP_X * 64 + ITEM;

    if (r < rows) {
        int id = index[ids_ix + r];
        long from = ROW(x, r);

        y[y_at + (long)r * y_ld] = id >= 0 && id < n ? NUMBER(x, from, id) : 0.0f;
    }
}

/* ids, g (rows, 1), dx (rows, n): g at the id */
KERNEL(256) cavs_pick_grad(GLOBAL const int *index, ROWS, int ids_ix, VIEW(g), VIEW(dx))
{
    IN_TURN;
    TAKE_ROW
    for (int c = column; c < n && r < rows; c += step) {
        long from = ROW(g, r);

        dx[dx_at + (long)r * dx_ld + c] = c == index[ids_ix + r] ? NUMBER(g, from, 0) : 0.0f;
    }
}

/* The words of codelets/kernels/philox.h that decide on four columns of a row with this key. */
EW_FN void philox_words(unsigned *words, unsigned counter, unsigned site, unsigned key0,
                        unsigned key1)
{
    unsigned c0 = counter, c1 = site, c2 = 0, c3 = 0;

    for (int i = 0; i < 10; i++) {
        unsigned p_high = MULTIPLY_HIGH(0xD2511F53u, c0), p_low = 0xD2511F53u * c0;
        unsigned q_high = MULTIPLY_HIGH(0xCD9E8D57u, c2), q_low = 0xCD9E8D57u * c2;

        c0 = q_high ^ c1 ^ key0;
        c2 = p_high ^ c3 ^ key1;
        c1 = q_low;
        c3 = p_low;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
}

/* x (rows, n), ids a and b (below 0: none), y (rows, n): factor x where the word is not below the
 * limit, x where the key is 0. n counts fours, which lie 16 apart in 64 of `cols` columns: a block
 * of Philox decides on one. */
KERNEL(256) cavs_dropout(GLOBAL const int *index, ROWS, int cols, int site, int limit, float factor,
                         VIEW(x), int a_ix, int b_ix, VIEW(y))
{
    IN_TURN;
    float numbers[NUMBERS];
    unsigned words[NUMBERS];

    TAKE_ROW
    for (int four = column; four < n && r < rows; four += step) {
        unsigned a = a_ix < 0 ? 0 : (unsigned)index[a_ix + r];
        unsigned b = b_ix < 0 ? 0 : (unsigned)index[b_ix + r];
        int c = four / 16 * 64 + four % 16;

        load_numbers(numbers, x, ROW(x, r), c, 16, cols);
        philox_words(words, (unsigned)four, (unsigned)site, a, b);
        UNROLL
        for (int k = 0; k < NUMBERS && (a != 0 || b != 0); k++)
            numbers[k] = words[k] >= (unsigned)limit ? factor * numbers[k] : 0.0f;
        store_numbers(y, y_at + (long)r * y_ld, numbers, c, 16, cols);
    }
}

/* ids, y (rows, 1): 1 where the id >= 0, else 0 */
KERNEL(64) cavs_mask(GLOBAL const int *index, int rows, int ids_ix, VIEW(y))
{
    IN_TURN;
    int r = GROUP_X * 64 + ITEM;

    if (r < rows)
        y[y_at + (long)r * y_ld] = index[ids_ix + r] >= 0 ? 1.0f : 0.0f;
}

/* ---- products with a selected block: an item each number ---- */

/* x (rows, k), ids, w: blocks (k, n), or (n, k) if they are transposed, below one another,
 * y (rows, n): y[r] = x[r] times its block, or the transpose of it; 0 where the id is negative */
KERNEL(64) cavs_gemm_select(GLOBAL const int *index, int rows, int k, int n, int transposed,
                            VIEW(x), int ids_ix, VIEW(w), VIEW(y))
{
    IN_TURN;
    long i = (long)GROUP_X * 64 + ITEM;
    int r = (int)(i / n), c = (int)(i % n);

    if (r < rows) {
        int id = index[ids_ix + r];
        long from = ROW(x, r), block = w_at + (long)id * (transposed ? n : k) * w_ld,
             column = transposed ? w_ld : 1, step = transposed ? 1 : w_ld;
        float sum = 0.0f;

        for (int p = 0; p < k && id >= 0 && from >= 0; p++)
            sum += x[from + p] * w[block + p * step + c * column];
        y[y_at + (long)r * y_ld + c] = sum;
    }
}

/* x (rows, k), dy (rows, n), ids, dw (dw_rows, n): rows [ids[r] k, + k) of dw = or += x[r]^T
 * dy[r] */
KERNEL(64) cavs_gemm_tn_select(GLOBAL const int *index, int rows, int k, int n, int dw_rows,
                               int accumulate, VIEW(x), VIEW(dy), int ids_ix, VIEW(dw))
{
    IN_TURN;
    long i = (long)GROUP_X * 64 + ITEM;
    int p = (int)(i / n), c = (int)(i % n);

    if (p < dw_rows) {
        long to = dw_at + (long)p * dw_ld + c;
        float sum = accumulate ? dw[to] : 0.0f;

        for (int r = 0; r < rows; r++)
            if (index[ids_ix + r] == p / k) {
                long xf = ROW(x, r), df = ROW(dy, r);

                sum += NUMBER(x, xf, p % k) * NUMBER(dy, df, c);
            }
        dw[to] = sum;
    }
}

/* a, b, y (rows, width), each row a matrix: y[r] = a[r] b[r], of n columns, sums of k terms; the
 * steps say where the next row (of a), column (of b) and term of each operand are; an item each
 * number */
KERNEL(64) cavs_gemm_rows(GLOBAL const int *index, int rows, int width, int n, int k, int a_row,
                          int a_term, int b_column, int b_term, VIEW(a), VIEW(b), VIEW(y))
{
    IN_TURN;
    long i = (long)GROUP_X * 64 + ITEM;
    int r = (int)(i / width), c = (int)(i % width);

    if (r < rows) {
        long af = ROW(a, r), bf = ROW(b, r);
        long at_a = af + (long)(c / n) * a_row, at_b = bf + (long)(c % n) * b_column;
        float sum = 0.0f;

        for (int p = 0; p < k && af >= 0 && bf >= 0; p++)
            sum += a[at_a + (long)p * a_term] * b[at_b + (long)p * b_term];
        y[y_at + (long)r * y_ld + c] = sum;
    }
}

/* ---- lists: the entries of a vertex are [FIRST, END) ---- */

/* The largest of column c, NaN if one is NaN, 0 without entries. */
EW_FN float largest_entry(GLOBAL const int *index, int first, int end, int c, VIEW(x))
{
    float largest = first < end ? NUMBER(x, ROW(x, first), c) : 0.0f;

    for (int e = first + 1; e < end; e++) {
        float number = NUMBER(x, ROW(x, e), c);

        largest = largest >= number || largest != largest ? largest : number;
    }
    return largest;
}

/* x listed (n), y (rows, n): sum of the entries */
KERNEL(256) cavs_list_sum(GLOBAL const int *index, ROWS, int ptr, VIEW(x), VIEW(y))
{
    IN_TURN;
    TAKE_ROW
    if (r < rows)
        list_sum(index, r, column, step, n, ptr, PASS(x), PASS(y));
}

/* x listed (n), y (rows, n): largest of the entries */
KERNEL(256) cavs_list_max(GLOBAL const int *index, ROWS, int ptr, VIEW(x), VIEW(y))
{
    IN_TURN;
    TAKE_ROW
    for (int c = column; c < n && r < rows; c += step)
        y[y_at + (long)r * y_ld + c] = largest_entry(index, FIRST, END, c, PASS(x));
}

/* x listed, g (rows, n), dx listed: g at the first largest, or NaN */
KERNEL(256) cavs_list_max_grad(GLOBAL const int *index, ROWS, int ptr, VIEW(x), VIEW(g), VIEW(dx))
{
    IN_TURN;
    TAKE_ROW
    for (int c = column; c < n && r < rows; c += step) {
        float largest = largest_entry(index, FIRST, END, c, PASS(x));
        float left = NUMBER(g, ROW(g, r), c);

        for (int e = FIRST; e < END; e++) {
            float number = NUMBER(x, ROW(x, e), c);
            bool here = number == largest || number != number;

            dx[dx_at + (long)e * dx_ld + c] = here ? left : 0.0f;
            left = here ? 0.0f : left;
        }
    }
}

/* x listed (n), y listed: per column, over the entries */
KERNEL(256) cavs_list_softmax(GLOBAL const int *index, ROWS, int ptr, VIEW(x), VIEW(y))
{
    IN_TURN;
    TAKE_ROW
    for (int c = column; c < n && r < rows; c += step) {
        float largest = largest_entry(index, FIRST, END, c, PASS(x)), sum = 0.0f;

        for (int e = FIRST; e < END; e++)
            sum += ew_exp(NUMBER(x, ROW(x, e), c) - largest);
        for (int e = FIRST; e < END; e++)
            y[y_at + (long)e * y_ld + c] = ew_exp(NUMBER(x, ROW(x, e), c) - largest) / sum;
    }
}

/* y listed, g listed, dx listed: y (g - sum over the entries of y g) */
KERNEL(256) cavs_list_softmax_grad(GLOBAL const int *index, ROWS, int ptr, VIEW(y), VIEW(g),
                                   VIEW(dx))
{
    IN_TURN;
    TAKE_ROW
    for (int c = column; c < n && r < rows; c += step) {
        float sum = 0.0f;

        for (int e = FIRST; e < END; e++)
            sum += NUMBER(y, ROW(y, e), c) * NUMBER(g, ROW(g, e), c);
        for (int e = FIRST; e < END; e++)
            dx[dx_at + (long)e * dx_ld + c] =
                NUMBER(y, ROW(y, e), c) * (NUMBER(g, ROW(g, e), c) - sum);
    }
}

/* y (rows, 1): 1 / number of entries, 0 without any */
KERNEL(64) cavs_list_share(GLOBAL const int *index, int rows, int ptr, VIEW(y))
{
    IN_TURN;
    int r = GROUP_X * 64 + ITEM;

    if (r < rows)
        y[y_at + (long)r * y_ld] = END > FIRST ? 1.0f / (float)(END - FIRST) : 0.0f;
}

/* ---- what is summed in double ---- */

#ifdef HAS_DOUBLE

EW_FN double double_sum256(LOCAL_POINTER double *part, double mine)
{
    double sum;

    part[ITEM] = mine;
    BARRIER;
    for (int width = 128; width > 0; width /= 2) {
        if (ITEM < width)
            part[ITEM] += part[ITEM + width];
        BARRIER;
    }
    sum = part[0];
    BARRIER;
    return sum;
}

/* x (rows, 1), where ids or nothing (below 0), acc as double[2]: = or += sum of x, count; one
 * group */
KERNEL(256) cavs_metric(GLOBAL const int *index, int rows, int accumulate, VIEW(x), int where_ix,
                        VIEW(acc))
{
    IN_TURN;
    LOCAL double part[256];
    GLOBAL double *total = (GLOBAL double *)(acc + acc_at);
    double sum = 0, count = 0;

    for (int first = ITEM; first < rows; first += 8 * 256) {
        float numbers[8];
        bool counts[8];

        UNROLL
        for (int k = 0; k < 8; k++) {
            int r = first + k * 256, last = r < rows ? r : rows - 1;

            counts[k] = r < rows && (where_ix < 0 ? 0 : index[where_ix + last]) >= 0;
            numbers[k] = NUMBER(x, ROW(x, last), 0);
        }
        UNROLL
        for (int k = 0; k < 8; k++) {
            sum += counts[k] ? numbers[k] : 0.0f;
            count += counts[k] ? 1 : 0;
        }
    }
    sum = double_sum256(part, sum);
    count = double_sum256(part, count);
    if (ITEM == 0) {
        total[0] = accumulate ? total[0] + sum : sum;
        total[1] = accumulate ? total[1] + count : count;
    }
}

#endif

/* ---- optimizers ----
 * The gradient is the sum of up to eight arrays, in their order. */

#define ARRAYS                                                                            \
    int ngrads, int g_ld, GLOBAL const float *g0, long g0_at, GLOBAL const float *g1,     \
        long g1_at, GLOBAL const float *g2, long g2_at, GLOBAL const float *g3,           \
        long g3_at, GLOBAL const float *g4, long g4_at, GLOBAL const float *g5,           \
        long g5_at, GLOBAL const float *g6, long g6_at, GLOBAL const float *g7, long g7_at

/* Array i, and where it begins. */
#define OF_ARRAYS(i, g0, g1, g2, g3, g4, g5, g6, g7)                                      \
    ((i) < 4 ? ((i) < 2 ? ((i) < 1 ? g0 : g1) : ((i) < 3 ? g2 : g3))                      \
             : ((i) < 6 ? ((i) < 5 ? g4 : g5) : ((i) < 7 ? g6 : g7)))
#define ARRAY(i) OF_ARRAYS(i, g0, g1, g2, g3, g4, g5, g6, g7)
#define ARRAY_AT(i) OF_ARRAYS(i, g0_at, g1_at, g2_at, g3_at, g4_at, g5_at, g6_at, g7_at)
#define ARRAY_NUMBER(i, at) ARRAY(i)[ARRAY_AT(i) + (at)]

/* out (rows, n): row r = or += the sum over e in [ptr[r], ptr[r+1]) of row row[e] of array
 * source[e], for the arrays first .. first + ngrads - 1 */
KERNEL(256) cavs_sparse_sum(GLOBAL const int *index, ROWS, int accumulate, int first, int ptr,
                            int source, int row, ARRAYS, GLOBAL float *out, long out_at, int out_ld)
{
    IN_TURN;
    float sum[NUMBERS];

    TAKE_ROW
    if (r < rows) {
        long to = out_at + (long)r * out_ld;

        load_numbers(sum, out, accumulate ? to : -1, column, step, n);
        for (int e = index[ptr + r]; e < index[ptr + r + 1]; e++) {
            int s = index[source + e] - first;

            if (s >= 0 && s < ngrads)
                add_numbers(sum, ARRAY(s), ARRAY_AT(s) + (long)index[row + e] * g_ld, column, step,
                            n);
        }
        store_numbers(out, to, sum, column, step, n);
    }
}

/* Row i of the gradient belongs to row ids[i] of values and states, or to row i if ids is below 0.
 * The rules are those of codelets/update.def, which says what they read. scaled: the scale is
 * there, not in `scale`. */
#define UPDATED                                                                           \
    RULE_NUMBERS, GLOBAL const float *scaled, long scaled_at, int ld, int states,         \
        GLOBAL float *values, long values_at, GLOBAL float *first, long first_at,         \
        GLOBAL float *second, long second_at, ARRAYS
/* Number c of row r, to whose gradient `add` adds its numbers. */
#define UPDATE(add)                                                                       \
    long at = (long)(ids < 0 ? r : index[ids + r]) * ld + c;                              \
    float sum = 0.0f, w = values[values_at + at], g, d;                                   \
    float s0 = states > 0 ? first[first_at + at] : 0.0f;                                  \
    float s1 = states > 1 ? second[second_at + at] : 0.0f;                                \
                                                                                          \
    add                                                                                   \
    g = (scaled ? scaled[scaled_at] : scale) * sum;                                       \
    d = g + weight_decay * w;                                                             \
    switch (rule) {                                                                       \
        RULE_STEPS                                                                        \
    }                                                                                     \
    values[values_at + at] = w;                                                           \
    if (states > 0)                                                                       \
        first[first_at + at] = s0;                                                        \
    if (states > 1)                                                                       \
        second[second_at + at] = s1;

KERNEL(256) cavs_update(GLOBAL const int *index, ROWS, int ids, UPDATED)
{
    IN_TURN;
    TAKE_ROW
    for (int c = column; c < n && r < rows; c += step) {
        long from = (long)r * g_ld + c;

        UPDATE(for (int j = 0; j < ngrads; j++) sum += ARRAY_NUMBER(j, from);)
    }
}

/* The gradient is what cavs_sparse_sum sums, of these arrays only. A kernel that also takes the
 * place of cavs_update is slower as that one: it does not know which array is the next. */
KERNEL(256) cavs_sparse_update(GLOBAL const int *index, ROWS, int ids, int ptr, int source, int row,
                               UPDATED)
{
    IN_TURN;
    TAKE_ROW
    int c = column; /* an item takes one number */

    if (c < n && r < rows) {
        int e = index[ptr + r], end = index[ptr + r + 1];

        UPDATE(
            for (; e < end; e++) {
                int j = index[source + e];
                long of = index[row + e];

                sum += ARRAY_NUMBER(j, of * g_ld + c);
            })
    }
}

#ifdef HAS_DOUBLE

/* The sum of squares of (rows, n), the part of each group; 2^lanes items share a row */
KERNEL(256) cavs_squares(ROWS, ARRAYS, GLOBAL float *out, long out_at)
{
    IN_TURN;
    LOCAL double part[256];
    double sum = 0;

    for (int r = (GROUP_X << (8 - lanes)) + (ITEM >> lanes); r < rows; r += GROUPS_X << (8 - lanes))
        for (int c = LANE; c < n; c += NUMBERS << lanes) {
            float d[NUMBERS] = {0.0f, 0.0f, 0.0f, 0.0f};

            for (int j = 0; j < ngrads; j++)
                add_numbers(d, ARRAY(j), ARRAY_AT(j) + (long)r * g_ld, c, 1 << lanes, n);
            UNROLL
            for (int k = 0; k < NUMBERS; k++)
                sum += (double)d[k] * d[k];
        }
    sum = double_sum256(part, sum);
    if (ITEM == 0)
        ((GLOBAL double *)(out + out_at))[GROUP_X] = sum;
}

/* norms[number] = or += the sum of n parts; one group */
KERNEL(256) cavs_norm(int n, int accumulate, GLOBAL const float *parts, long parts_at,
                      GLOBAL float *norms, long norms_at, int number)
{
    IN_TURN;
    LOCAL double part[256];
    GLOBAL double *norm = (GLOBAL double *)(norms + norms_at) + number;
    double sum = 0;

    for (int i = ITEM; i < n; i += 256)
        sum += ((GLOBAL const double *)(parts + parts_at))[i];
    sum = double_sum256(part, sum);
    if (ITEM == 0)
        *norm = accumulate ? *norm + sum : sum;
}

/* The factor of the gradient that keeps the norm of all n parameters to `clip`; one group, of which
 * one item works */
KERNEL(64) cavs_clip(int n, float scale, float clip, GLOBAL const float *norms, long norms_at,
                     GLOBAL float *scaled, long scaled_at)
{
    IN_TURN;
    if (ITEM == 0) {
        double sum = 0, norm;

        for (int i = 0; i < n; i++)
            sum += ((GLOBAL const double *)(norms + norms_at))[i];
        norm = sqrt(sum) * scale;
        scaled[scaled_at] = norm > clip ? (float)(scale * (double)clip / norm) : scale;
    }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.cl - sums that are a row of one vertex, four numbers at a time: for the kernels of
 * kernels.cl and for sequences (sequences.c), where a group takes a vertex.
 */
#define PASS(x) x, x##_at, x##_ld, x##_ix

/* The entries of vertex r. */
#define FIRST_OF(ptr) (index[ptr + r] - index[ptr])
#define END_OF(ptr) (index[ptr + r + 1] - index[ptr])
#define FIRST FIRST_OF(ptr)
#define END END_OF(ptr)

/* What an item takes at once: columns c, c + step, .. of n. All of them are on their way from the
 * memory at the same time. */
#define NUMBERS 4

/* Of the row that begins at `from`; below 0: it is zeros. */
EW_FN void load_numbers(float *to, GLOBAL const float *x, long from, int c, int step, int n)
{
    UNROLL
    for (int k = 0; k < NUMBERS; k++)
        to[k] = from >= 0 && c + k * step < n ? x[from + c + k * step] : 0.0f;
}

/* The same of so many at once, a multiple of them. */
EW_FN void load_many(float *to, int many, GLOBAL const float *x, long from, int c, int step, int n)
{
    UNROLL
    for (int k = 0; k < many; k += NUMBERS)
        load_numbers(to + k, x, from, c + k * step, step, n);
}

EW_FN void add_numbers(float *sum, GLOBAL const float *x, long from, int c, int step, int n)
{
    float numbers[NUMBERS];

    load_numbers(numbers, x, from, c, step, n);
    UNROLL
    for (int k = 0; k < NUMBERS; k++)
        sum[k] += numbers[k];
}

EW_FN void store_numbers(GLOBAL float *y, long to, const float *numbers, int c, int step, int n)
{
    UNROLL
    for (int k = 0; k < NUMBERS; k++)
        if (c + k * step < n)
            y[to + c + k * step] = numbers[k];
}

/* Number c of a row that begins at `from`. */
EW_FN float number_at(GLOBAL const float *x, long from, int c)
{
    return from < 0 ? 0.0f : x[from + c];
}

/* Rows of a sum that are on their way from the memory at once: it may be of hundreds (a word that
 * occurs in every sentence), and a row that waits for each of them is what all others wait for. */
#define ROWS_AT_ONCE 8

/* Sums of rows [e, end) of a view, of one column or of four. Most are of few rows: what is left
 * behind whole eights comes by four, two and one, since to ask for a row that is not there takes as
 * long as to ask for one that is. */
#define SUMS_OF(kind, type)                                                                       \
    EW_FN type add_rows_of_##kind##s(type sum, int rows, GLOBAL const int *index, int e, int c,   \
                                     VIEW(x))                                                     \
    {                                                                                             \
        type numbers[ROWS_AT_ONCE];                                                               \
                                                                                                  \
        UNROLL                                                                                    \
        for (int i = 0; i < rows; i++)                                                            \
            numbers[i] = kind##_at(x, ROW(x, e + i), c);                                          \
        UNROLL                                                                                    \
        for (int i = 0; i < rows; i++)                                                            \
            sum += numbers[i];                                                                    \
        return sum;                                                                               \
    }                                                                                             \
    EW_FN type sum_of_##kind##s(GLOBAL const int *index, int e, int end, int c, VIEW(x))          \
    {                                                                                             \
        type sum = kind##_at(x, -1, c);                                                           \
        int eights = (end - e) / ROWS_AT_ONCE, rest = (end - e) % ROWS_AT_ONCE;                   \
                                                                                                  \
        NO_UNROLL                                                                                 \
        for (int i = 0; i < eights; i++, e += ROWS_AT_ONCE)                                       \
            sum = add_rows_of_##kind##s(sum, ROWS_AT_ONCE, index, e, c, PASS(x));                 \
        if (rest & 4)                                                                             \
            sum = add_rows_of_##kind##s(sum, 4, index, e, c, PASS(x));                            \
        if (rest & 2)                                                                             \
            sum = add_rows_of_##kind##s(sum, 2, index, e + (rest & 4), c, PASS(x));               \
        if (rest & 1)                                                                             \
            sum = add_rows_of_##kind##s(sum, 1, index, e + (rest & 6), c, PASS(x));               \
        return sum;                                                                               \
    }
SUMS_OF(number, float)
SUMS_OF(four, float4)

#define HAS_FOURS(x) (OF_FOURS(x, x##_at) && x##_ld % 4 == 0)

/* Row r of y: the sum of rows [e, end) of x.  An item takes columns `column`, column + step, .. or
 * as many fours, where memory has them at once. */
EW_FN void sum_of_rows(GLOBAL const int *index, int r, int column, int step, int n, int e, int end,
                       VIEW(x), VIEW(y))
{
    GLOBAL float *to = y + y_at + (long)r * y_ld;

    if (n % 4 == 0 && HAS_FOURS(x) && HAS_FOURS(y))
        for (int c = 4 * column; c < n; c += 4 * step)
            put_four(to + c, sum_of_fours(index, e, end, c, PASS(x)));
    else
        for (int c = column; c < n; c += step)
            to[c] = sum_of_numbers(index, e, end, c, PASS(x));
}

/* x listed: sum of the entries */
EW_FN void list_sum(GLOBAL const int *index, int r, int column, int step, int n, int ptr, VIEW(x),
                    VIEW(y))
{
    sum_of_rows(index, r, column, step, n, FIRST, END, PASS(x), PASS(y));
}

/* x summed: sum of the rows named for r */
EW_FN void sum_rows(GLOBAL const int *index, int r, int column, int step, int n, int ptr, VIEW(x),
                    VIEW(y))
{
    sum_of_rows(index, r, column, step, n, index[ptr + r], index[ptr + r + 1], PASS(x), PASS(y));
}

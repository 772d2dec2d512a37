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

/* Rows of a sum that are on their way from the memory at once: it may be of hundreds (a word that
 * occurs in every sentence), and a row that waits for each of them is what all others wait for. */
#define ROWS_AT_ONCE 8

/* The sum of rows [first, end) of a view. */
EW_FN void sum_of_rows(GLOBAL const int *index, int first, int end, int c, int step, int n, VIEW(x),
                       GLOBAL float *y, long to)
{
    float sum[NUMBERS] = {0.0f, 0.0f, 0.0f, 0.0f};
    int e = first;

    NO_UNROLL
    for (; e + ROWS_AT_ONCE <= end; e += ROWS_AT_ONCE) {
        float numbers[ROWS_AT_ONCE][NUMBERS];

        UNROLL
        for (int i = 0; i < ROWS_AT_ONCE; i++)
            load_numbers(numbers[i], x, ROW(x, e + i), c, step, n);
        UNROLL
        for (int i = 0; i < ROWS_AT_ONCE; i++) {
            UNROLL
            for (int k = 0; k < NUMBERS; k++)
                sum[k] += numbers[i][k];
        }
    }
    NO_UNROLL
    for (; e < end; e++) /* most sums are of few rows */
        add_numbers(sum, x, ROW(x, e), c, step, n);
    store_numbers(y, to, sum, c, step, n);
}

/* x listed: sum of the entries */
EW_FN void list_sum(GLOBAL const int *index, int r, int c, int step, int n, int ptr, VIEW(x),
                    VIEW(y))
{
    sum_of_rows(index, FIRST, END, c, step, n, PASS(x), y, y_at + (long)r * y_ld);
}

/* x summed: sum of the rows named for r */
EW_FN void sum_rows(GLOBAL const int *index, int r, int c, int step, int n, int ptr, VIEW(x),
                    VIEW(y))
{
    sum_of_rows(index, index[ptr + r], index[ptr + r + 1], c, step, n, PASS(x), y,
                y_at + (long)r * y_ld);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.cl - sums that are a row of one vertex, number by number: for the kernels of kernels.cl, an
 * item each number, and for sequences (sequences.c), a group each vertex.
 */
#define PASS(x) x, x##_at, x##_ld, x##_ix

/* The entries of vertex r. */
#define FIRST_OF(ptr) (index[ptr + r] - index[ptr])
#define END_OF(ptr) (index[ptr + r + 1] - index[ptr])
#define FIRST FIRST_OF(ptr)
#define END END_OF(ptr)

/* x listed: sum of the entries */
EW_FN void list_sum(GLOBAL const int *index, int r, int c, int ptr, VIEW(x), VIEW(y))
{
    float sum = 0.0f;

    for (int e = FIRST; e < END; e++) {
        long from = ROW(x, e);

        sum += from < 0 ? 0.0f : x[from + c];
    }
    y[y_at + (long)r * y_ld + c] = sum;
}

/* x summed: sum of the rows named for r */
EW_FN void sum_rows(GLOBAL const int *index, int r, int c, int ptr, VIEW(x), VIEW(y))
{
    float sum = 0.0f;

    for (int e = index[ptr + r]; e < index[ptr + r + 1]; e++) {
        int row = index[x_ix + e];

        sum += row < 0 ? 0.0f : x[x_at + (long)row * x_ld + c];
    }
    y[y_at + (long)r * y_ld + c] = sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_rows.c - the largest of a row, the row over its root mean square, one entry of a row, each
 * with its reference.
 *
 * Not compiled as a kernel file: references keep strict arithmetic.  What has to vectorise is in
 * exponentials.c.
 */
#include "codelets/kernels/exponentials.h"
#include "codelets/kernels/kernel_reference.h"

#include <math.h>
#include <string.h>

/* Position of the first largest of x (n), n > 0; of the first NaN if there is one. */
static int first_largest(int n, const float *x)
{
    int at = 0;

    for (int j = 1; j < n && x[at] == x[at]; j++)
        if (x[j] > x[at] || x[j] != x[j])
            at = j;
    return at;
}

/* x (rows, n), y (rows, 1): y[r] = largest of row r */
static void row_max(const struct cavs__call *call, int rows, const struct cavs__view *v,
                    unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *x = cavs__row(&v[0], r);

        v[1].p[r * v[1].ld] = x ? x[first_largest(v[0].cols, x)] : 0;
    }
}

static void zero(const struct cavs__view *y, int r)
{
    memset(y->p + r * y->ld, 0, (size_t)y->cols * sizeof *y->p);
}

/* x (rows, n), g (rows, 1), dx (rows, n): g at the first largest */
static void row_max_grad(const struct cavs__call *call, int rows, const struct cavs__view *v,
                         unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *x = cavs__row(&v[0], r), *g = cavs__row(&v[1], r);

        zero(&v[2], r);
        v[2].p[r * v[2].ld + (x ? first_largest(v[0].cols, x) : 0)] = g ? *g : 0;
    }
}

static void row_max_reference(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        *out(&v[1], r, 0) = (float)at(&v[0], r, reference_largest(&v[0], r));
}

static void row_max_grad_reference(const struct cavs__call *call, int rows,
                                   const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[2].cols; j++)
            *out(&v[2], r, j) = j == reference_largest(&v[0], r) ? (float)at(&v[1], r, 0) : 0;
}

const struct cavs__kernel cavs__kernel_row_max = {
    .number = CAVS__KERNEL_row_max,
    .name = "row_max",
    .nviews = 2,
    .operands = "xn",
    .cpu = row_max,
    .reference = row_max_reference,
};

const struct cavs__kernel cavs__kernel_row_max_grad = {
    .number = CAVS__KERNEL_row_max_grad,
    .name = "row_max_grad",
    .nviews = 3,
    .operands = "xgw",
    .cpu = row_max_grad,
    .reference = row_max_grad_reference,
};

/* ---- root mean square ------------------------------------------------------------------------ */

/* Adds up in sixteen sums, which may be computed at once. */
static float sum_of_squares(int n, const float *x)
{
    float part[16] = {0}, sum = 0;
    int j = 0;

    for (; j + 16 <= n; j += 16)
        for (int i = 0; i < 16; i++)
            part[i] += x[j + i] * x[j + i];
    for (int i = 0; j + i < n; i++)
        part[i] += x[j + i] * x[j + i];
    for (int i = 0; i < 16; i++)
        sum += part[i];
    return sum;
}

/* x (rows, n), y (rows, n): x / sqrt(mean of the squares + 1e-5) */
static void rms_norm(const struct cavs__call *call, int rows, const struct cavs__view *v,
                     unsigned flags)
{
    const int n = v[0].cols;

    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *x = cavs__row(&v[0], r);

        if (x)
            cavs__scale(n, 1 / sqrtf(sum_of_squares(n, x) / (float)n + 1e-5f), x,
                        v[1].p + r * v[1].ld);
        else
            zero(&v[1], r);
    }
}

static void rms_norm_reference(const struct cavs__call *call, int rows, const struct cavs__view *v,
                               unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        double sum = 0;

        for (int j = 0; j < v[0].cols; j++)
            sum += at(&v[0], r, j) * at(&v[0], r, j);
        for (int j = 0; j < v[1].cols; j++)
            *out(&v[1], r, j) = (float)(at(&v[0], r, j) / sqrt(sum / v[0].cols + 1e-5));
    }
}

const struct cavs__kernel cavs__kernel_rms_norm = {
    .number = CAVS__KERNEL_rms_norm,
    .name = "rms_norm",
    .nviews = 2,
    .operands = "xw",
    .cpu = rms_norm,
    .reference = rms_norm_reference,
};

/* ---- one entry ------------------------------------------------------------------------------- */

/* x (rows, n), ids, y (rows, 1): x[id] */
static void pick(const struct cavs__call *call, int rows, const struct cavs__view *v,
                 unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *x = cavs__row(&v[0], r);
        const int id = cavs__label(&v[1], r, v[0].cols);

        v[2].p[r * v[2].ld] = x && id >= 0 ? x[id] : 0;
    }
}

/* ids, g (rows, 1), dx (rows, n): g at the id */
static void pick_grad(const struct cavs__call *call, int rows, const struct cavs__view *v,
                      unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *g = cavs__row(&v[1], r);
        const int id = cavs__label(&v[0], r, v[2].cols);

        zero(&v[2], r);
        if (id >= 0 && g)
            v[2].p[r * v[2].ld + id] = *g;
    }
}

static void pick_reference(const struct cavs__call *call, int rows, const struct cavs__view *v,
                           unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const int id = cavs__label(&v[1], r, v[0].cols);

        *out(&v[2], r, 0) = id < 0 ? 0 : (float)at(&v[0], r, id);
    }
}

static void pick_grad_reference(const struct cavs__call *call, int rows, const struct cavs__view *v,
                                unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const int id = cavs__label(&v[0], r, v[2].cols);

        for (int j = 0; j < v[2].cols; j++)
            *out(&v[2], r, j) = j == id ? (float)at(&v[1], r, 0) : 0;
    }
}

const struct cavs__kernel cavs__kernel_pick = {
    .number = CAVS__KERNEL_pick,
    .name = "pick",
    .nviews = 3,
    .operands = "xin",
    .cpu = pick,
    .reference = pick_reference,
};

const struct cavs__kernel cavs__kernel_pick_grad = {
    .number = CAVS__KERNEL_pick_grad,
    .name = "pick_grad",
    .nviews = 3,
    .operands = "igw",
    .cpu = pick_grad,
    .reference = pick_grad_reference,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_row_softmax.c - the softmax of a row and its logarithm, each with its reference.
 *
 * Not compiled as a kernel file: references keep strict arithmetic, and (x - largest) - log(sum)
 * has to be taken in this order, or large x lose digits.  What has to vectorise is in
 * exponentials.c.
 */
#include "codelets/kernels/exponentials.h"
#include "codelets/kernels/kernel_reference.h"

#include <math.h>

/* y of row r, from its exponentials e (which may stand in y), their sum and the row's largest */
typedef void finish(const struct cavs__view *v, int r, const float *e, float sum, float largest);

static void shares(const struct cavs__view *v, int r, const float *e, float sum, float largest)
{
    (void)largest;
    cavs__scale(v[0].cols, 1 / sum, e, v[1].p + r * v[1].ld);
}

static void log_shares(const struct cavs__view *v, int r, const float *e, float sum, float largest)
{
    const float *x = cavs__row(&v[0], r), norm = logf(sum);
    float *y = v[1].p + r * v[1].ld;

    (void)e;
    for (int j = 0; j < v[0].cols; j++)
        y[j] = (x ? x[j] - largest : 0) - norm;
}

static void long_row(const struct cavs__view *v, int r, finish *f)
{
    const float *x = cavs__row(&v[0], r);
    float *y = v[1].p + r * v[1].ld, largest = 0, sum = (float)v[0].cols;

    if (x)
        sum = cavs__exponentials_of_row(v[0].cols, x, &largest, y);
    else
        for (int j = 0; j < v[0].cols; j++)
            y[j] = 1;
    f(v, r, y, sum, largest);
}

static void each_row(int rows, const struct cavs__view *v, finish *f)
{
    struct cavs__group g;

    for (int r = 0; r < rows && v[0].cols > CAVS__GROUP_COLS; r++)
        long_row(v, r, f);
    for (int r = 0; r < rows && v[0].cols <= CAVS__GROUP_COLS; r += g.rows) {
        cavs__exponentials(&g, &v[0], r, rows - r);
        for (int i = 0; i < g.rows; i++)
            f(v, r + i, g.e + i * v[0].cols, g.sum[i], g.largest[i]);
    }
}

/* x (rows, n), y (rows, n): e^x / sum of e^x */
static void softmax(const struct cavs__call *call, int rows, const struct cavs__view *v,
                    unsigned flags)
{
    (void)call;
    (void)flags;
    each_row(rows, v, shares);
}

/* x (rows, n), y (rows, n): x - log(sum of e^x) */
static void log_softmax(const struct cavs__call *call, int rows, const struct cavs__view *v,
                        unsigned flags)
{
    (void)call;
    (void)flags;
    each_row(rows, v, log_shares);
}

/* log of the share of e^x[j]; only differences are taken of x, which may be large */
static double log_share(const struct cavs__view *x, int r, int j, double top)
{
    double sum = 0;

    for (int k = 0; k < x->cols; k++)
        sum += exp(at(x, r, k) - top);
    return at(x, r, j) - top - log(sum);
}

static void softmax_reference(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        double top = at(&v[0], r, reference_largest(&v[0], r));

        for (int j = 0; j < v[1].cols; j++)
            *out(&v[1], r, j) = (float)exp(log_share(&v[0], r, j, top));
    }
}

static void log_softmax_reference(const struct cavs__call *call, int rows,
                                  const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        double top = at(&v[0], r, reference_largest(&v[0], r));

        for (int j = 0; j < v[1].cols; j++)
            *out(&v[1], r, j) = (float)log_share(&v[0], r, j, top);
    }
}

const struct cavs__kernel cavs__kernel_softmax = {
    .number = CAVS__KERNEL_softmax,
    .name = "softmax",
    .nviews = 2,
    .operands = "xw",
    .cpu = softmax,
    .reference = softmax_reference,
};

const struct cavs__kernel cavs__kernel_log_softmax = {
    .number = CAVS__KERNEL_log_softmax,
    .name = "log_softmax",
    .nviews = 2,
    .operands = "xw",
    .cpu = log_softmax,
    .reference = log_softmax_reference,
};

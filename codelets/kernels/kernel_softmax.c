/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_softmax.c - cross entropy of a softmax with integer labels, and its gradient.
 *
 * Not compiled as a kernel file: log(sum) + (largest - z[label]) has to be added in this order, or
 * large z lose digits.
 */
#include "codelets/kernels/exponentials.h"
#include "codelets/kernels/kernel_table.h"

#include <math.h>
#include <string.h>

/* y of row r from the sum of its exponentials */
static void loss(const struct cavs__view *v, int r, float largest, float sum)
{
    const int label = cavs__label(&v[1], r, v[0].cols);
    const float *z = cavs__row(&v[0], r);

    v[2].p[r * v[2].ld] = label < 0 ? 0 : logf(sum) + (largest - (z ? z[label] : 0));
}

static void loss_of_long_row(const struct cavs__view *v, int r)
{
    const float *z = cavs__row(&v[0], r);
    float largest = 0, sum = (float)v[0].cols;

    if (cavs__label(&v[1], r, v[0].cols) >= 0 && z)
        sum = cavs__exponentials_of_row(v[0].cols, z, &largest, NULL);
    loss(v, r, largest, sum);
}

/* z (rows, n), label ids, y (rows, 1): -log softmax(z)[label]; 0 where there is no label */
static void softmax_xent(const struct cavs__call *call, int rows, const struct cavs__view *v,
                         unsigned flags)
{
    struct cavs__group g;

    (void)call;
    (void)flags;
    if (v[0].cols == 0 || v[0].cols > CAVS__GROUP_COLS) {
        for (int r = 0; r < rows; r++)
            loss_of_long_row(v, r);
        return;
    }
    for (int r = 0; r < rows; r += g.rows) {
        cavs__exponentials(&g, &v[0], r, rows - r);
        for (int i = 0; i < g.rows; i++)
            loss(v, r + i, g.largest[i], g.sum[i]);
    }
}

/* dz of row r from its exponentials, which may stand in dz already */
static void gradient(const struct cavs__view *v, int r, const float *e, float sum)
{
    const int n = v[0].cols, label = cavs__label(&v[1], r, n);
    const float *g = cavs__row(&v[2], r);
    const float up = g ? *g : 0;
    float *dz = v[3].p + r * v[3].ld;

    if (label < 0) { /* not 0 times e, which may be NaN */
        memset(dz, 0, (size_t)n * sizeof *dz);
        return;
    }
    cavs__scale(n, up / sum, e, dz);
    dz[label] -= up;
}

static void gradient_of_long_row(const struct cavs__view *v, int r)
{
    const float *z = cavs__row(&v[0], r);
    float *dz = v[3].p + r * v[3].ld, largest, sum = (float)v[0].cols;

    if (z)
        sum = cavs__exponentials_of_row(v[0].cols, z, &largest, dz);
    else
        for (int j = 0; j < v[0].cols; j++)
            dz[j] = 1;
    gradient(v, r, dz, sum);
}

/* z (rows, n), label ids, g (rows, 1), dz (rows, n): g (softmax(z) - onehot(label)); 0 where there
 * is no label */
static void softmax_xent_grad(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    struct cavs__group g;

    (void)call;
    (void)flags;
    if (v[0].cols > CAVS__GROUP_COLS)
        for (int r = 0; r < rows; r++)
            gradient_of_long_row(v, r);
    for (int r = 0; r < rows && v[0].cols > 0 && v[0].cols <= CAVS__GROUP_COLS; r += g.rows) {
        cavs__exponentials(&g, &v[0], r, rows - r);
        for (int i = 0; i < g.rows; i++)
            gradient(v, r + i, g.e + i * v[0].cols, g.sum[i]);
    }
}

const struct cavs__kernel cavs__kernel_softmax_xent = {
    .number = CAVS__KERNEL_softmax_xent,
    .name = "softmax_xent",
    .nviews = 3,
    .operands = "xin",
    .cpu = softmax_xent,
    .reference = cavs__reference_softmax_xent,
};

const struct cavs__kernel cavs__kernel_softmax_xent_grad = {
    .number = CAVS__KERNEL_softmax_xent_grad,
    .name = "softmax_xent_grad",
    .nviews = 4,
    .operands = "xigw",
    .cpu = softmax_xent_grad,
    .reference = cavs__reference_softmax_xent_grad,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_metric.c - right answers, and sums of per-row results.
 *
 * Not compiled as a kernel file: the sum has to keep the order of the rows, and these are a few
 * numbers a row.
 */
#include "codelets/kernels/kernel_table.h"

#include <string.h>

/* z (n): whether `label` is the first of the largest, which none is beside a NaN */
static bool first_largest(const float *z, int n, int label)
{
    for (int j = 0; j < label; j++)
        if (!(z[j] < z[label]))
            return false;
    for (int j = label; j < n; j++)
        if (!(z[j] <= z[label]))
            return false;
    return true;
}

/* z (rows, n), label ids, y (rows, 1): 1 if label is the first largest, else 0, as where z has a
 * NaN; a row of zeros is largest at 0 */
static void correct(const struct cavs__call *call, int rows, const struct cavs__view *v,
                    unsigned flags)
{
    const int n = v[0].cols;

    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++) {
        const float *z = cavs__row(&v[0], r);
        const int label = cavs__label(&v[1], r, n);
        v[2].p[r * v[2].ld] = label >= 0 && (z ? first_largest(z, n, label) : label == 0);
    }
}

/* x (rows, 1), where ids or nothing, acc (1, 4) as double[2]: += sum of x, += count, over rows with
 * where >= 0 */
static void metric(const struct cavs__call *call, int rows, const struct cavs__view *v,
                   unsigned flags)
{
    double sums[2] = {0, 0};

    (void)call;
    if (!(flags & CAVS__FIRST))
        memcpy(sums, v[2].p, sizeof(sums));
    for (int r = 0; r < rows; r++) {
        const float *x = cavs__row(&v[0], r);
        if (v[1].index && v[1].index[r] < 0)
            continue;
        sums[0] += x ? *x : 0;
        sums[1] += 1;
    }
    memcpy(v[2].p, sums, sizeof(sums));
}

/* ids, y (rows, 1): 1 where the id names something, else 0 */
static void mask(const struct cavs__call *call, int rows, const struct cavs__view *v,
                 unsigned flags)
{
    (void)call;
    (void)flags;
    for (int r = 0; r < rows; r++)
        v[1].p[r * v[1].ld] = v[0].index[r] >= 0;
}

const struct cavs__kernel cavs__kernel_correct = {
    .number = CAVS__KERNEL_correct,
    .name = "correct",
    .nviews = 3,
    .operands = "xin",
    .cpu = correct,
    .reference = cavs__reference_correct,
};

const struct cavs__kernel cavs__kernel_metric = {
    .number = CAVS__KERNEL_metric,
    .name = "metric",
    .nviews = 3,
    .reduces = true,
    .cpu = metric,
    .reference = cavs__reference_metric,
};

const struct cavs__kernel cavs__kernel_mask = {
    .number = CAVS__KERNEL_mask,
    .name = "mask",
    .nviews = 2,
    .operands = "in",
    .cpu = mask,
    .reference = mask, /* exact: nothing to round */
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_rows.c - the largest of a row, the softmax of a row and its logarithm, the row over its
 * root mean square, one entry of a row, each with its reference.
 *
 * Not compiled as a kernel file: references keep strict arithmetic, and (x - largest) - log(sum)
 * has to be taken in this order, or large x lose digits.  What has to vectorise is in
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

/* The first NaN, or else the first largest. */
static int reference_largest(const struct cavs__view *x, int r)
{
    int best = 0;

    for (int j = 0; j < x->cols; j++)
        if (isnan(at(x, r, j)))
            return j;
    for (int j = 1; j < x->cols; j++)
        if (at(x, r, j) > at(x, r, best))
            best = j;
    return best;
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

/* ---- softmax --------------------------------------------------------------------------------- */

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

/* ---- root mean square ------------------------------------------------------------------------ */

/* In sixteen sums, which may be taken at once. */
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

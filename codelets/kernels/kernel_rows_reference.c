/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_rows_reference.c - what the kernels of kernel_rows.c mean, in double.  Kept for ever.
 *
 * Not compiled as a kernel file: this is the oracle and keeps strict arithmetic.
 */
#include "codelets/kernels/kernel_reference.h"
#include "codelets/kernels/philox.h"

#include <math.h>

/* The first NaN, or else the first largest. */
static int largest(const struct cavs__view *x, int r)
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

void cavs__reference_row_max(const struct cavs__call *call, int rows, const struct cavs__view *v,
                             unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        *out(&v[1], r, 0) = (float)at(&v[0], r, largest(&v[0], r));
}

void cavs__reference_row_max_grad(const struct cavs__call *call, int rows,
                                  const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[2].cols; j++)
            *out(&v[2], r, j) = j == largest(&v[0], r) ? (float)at(&v[1], r, 0) : 0;
}

/* log of the share of e^x[j]; only differences are taken of x, which may be large */
static double log_share(const struct cavs__view *x, int r, int j, double top)
{
    double sum = 0;

    for (int k = 0; k < x->cols; k++)
        sum += exp(at(x, r, k) - top);
    return at(x, r, j) - top - log(sum);
}

void cavs__reference_softmax(const struct cavs__call *call, int rows, const struct cavs__view *v,
                             unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        double top = at(&v[0], r, largest(&v[0], r));

        for (int j = 0; j < v[1].cols; j++)
            *out(&v[1], r, j) = (float)exp(log_share(&v[0], r, j, top));
    }
}

void cavs__reference_log_softmax(const struct cavs__call *call, int rows,
                                 const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        double top = at(&v[0], r, largest(&v[0], r));

        for (int j = 0; j < v[1].cols; j++)
            *out(&v[1], r, j) = (float)log_share(&v[0], r, j, top);
    }
}

static bool kept(const struct cavs__call *call, uint32_t a, uint32_t b, int c)
{
    const uint32_t counter[4] = {(uint32_t)(c / 64 * 16 + c % 16), call->site, 0, 0};
    const uint32_t key[2] = {a, b};
    uint32_t word[4];

    cavs__philox(counter, key, word);
    return word[c % 64 / 16] >= cavs__dropout_limit(call->rate);
}

void cavs__reference_dropout(const struct cavs__call *call, int rows, const struct cavs__view *v,
                             unsigned flags)
{
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const uint32_t a = v[1].index ? (uint32_t)v[1].index[r] : 0;
        const uint32_t b = v[2].index ? (uint32_t)v[2].index[r] : 0;

        for (int j = 0; j < v[3].cols; j++)
            *out(&v[3], r, j) = !a && !b ? (float)at(&v[0], r, j)
                                : kept(call, a, b, j)
                                    ? (float)(at(&v[0], r, j) / (1 - (double)call->rate))
                                    : 0;
    }
}

void cavs__reference_pick(const struct cavs__call *call, int rows, const struct cavs__view *v,
                          unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const int id = cavs__label(&v[1], r, v[0].cols);

        *out(&v[2], r, 0) = id < 0 ? 0 : (float)at(&v[0], r, id);
    }
}

void cavs__reference_pick_grad(const struct cavs__call *call, int rows, const struct cavs__view *v,
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

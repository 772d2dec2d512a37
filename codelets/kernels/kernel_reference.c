/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_reference.c - what every kernel means: plain loops over plain elements, arithmetic in
 * double.  Kept for ever.
 *
 * Not compiled as a kernel file: this is the oracle and keeps strict arithmetic.
 */
#include "codelets/kernels/kernel_reference.h"
#include "codelets/kernels/philox.h"
#include "codelets/products/bf16.h"
#include "codelets/products/bf16_round.h"
#include "codelets/products/panels.h"

#include <math.h>
#include <string.h>

static double in_panels(const struct cavs__view *w, int r, int c)
{
    return w->p[c / CAVS__PANEL * w->ld + r * CAVS__PANEL + c % CAVS__PANEL];
}

static double in_pairs(const struct cavs__view *w, int r, int c)
{
    const uint32_t *pairs = (const uint32_t *)(const void *)w->p + c / CAVS__BF16_PANEL * w->ld;
    const uint32_t pair = pairs[r / 2 * CAVS__BF16_PANEL + c % CAVS__BF16_PANEL];

    return cavs__bf16_widened(r % 2 ? pair >> 16 : pair & 0xffff);
}

static double weight(const struct cavs__call *call, const struct cavs__view *w, int r, int c)
{
    return call->bf16 ? in_pairs(w, r, c) : call->panels ? in_panels(w, r, c) : at(w, r, c);
}

/* Element c of row r of an operand, rounded if the product's are. */
static double factor(const struct cavs__call *call, const struct cavs__view *v, int r, int c)
{
    const double x = at(v, r, c);

    return call->bf16 ? cavs__bf16_widened(cavs__bf16_rounded((float)x)) : x;
}

void cavs__reference_gemm(const struct cavs__call *call, int rows, const struct cavs__view *v,
                          unsigned flags)
{
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[2].cols; j++) {
            double sum = 0;
            for (int p = 0; p < v[0].cols; p++)
                sum += factor(call, &v[0], r, p) * weight(call, &v[1], p, j);
            *out(&v[2], r, j) = (float)sum;
        }
}

void cavs__reference_gemm_tn(const struct cavs__call *call, int rows, const struct cavs__view *v,
                             unsigned flags)
{
    for (int p = 0; p < v[0].cols; p++)
        for (int j = 0; j < v[2].cols; j++) {
            double sum = flags & CAVS__FIRST ? 0 : *out(&v[2], p, j);
            for (int r = 0; r < rows; r++)
                sum += factor(call, &v[0], r, p) * factor(call, &v[1], r, j);
            *out(&v[2], p, j) = (float)sum;
        }
}

void cavs__reference_column_sum(const struct cavs__call *call, int rows, const struct cavs__view *v,
                                unsigned flags)
{
    UNUSED(call);
    for (int j = 0; j < v[1].cols; j++) {
        double sum = flags & CAVS__FIRST ? 0 : *out(&v[1], 0, j);
        for (int r = 0; r < rows; r++)
            sum += at(&v[0], r, j);
        *out(&v[1], 0, j) = (float)sum;
    }
}

void cavs__reference_sum_rows(const struct cavs__call *call, int rows, const struct cavs__view *v,
                              unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[1].cols; j++) {
            double sum = 0;
            for (int e = v[0].ptr[r]; e < v[0].ptr[r + 1]; e++)
                sum += at(&v[0], e, j);
            *out(&v[1], r, j) = (float)sum;
        }
}

void cavs__reference_sum_pieces(const struct cavs__call *call, int rows, const struct cavs__view *v,
                                unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < v[1].cols; j++) {
            double sum = 0;
            for (int e = v[0].ptr[r]; e < v[0].ptr[r + 1]; e++) {
                const int32_t *piece = v[0].index + 3 * e;
                if (j >= piece[1] && j < piece[1] + piece[2])
                    sum += v[0].p[piece[0] * v[0].ld + j - piece[1]];
            }
            *out(&v[1], r, j) = (float)sum;
        }
}

void cavs__reference_row_sum(const struct cavs__call *call, int rows, const struct cavs__view *v,
                             unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int j = 0; j < v[0].cols; j++)
            sum += at(&v[0], r, j);
        *out(&v[1], r, 0) = (float)sum;
    }
}

/* The largest of row r, and the sum of exp(z - largest).  z may be large: only differences are
 * safe. */
static double sum_of_exponentials(const struct cavs__view *z, int r, double *largest)
{
    double sum = 0;

    *largest = -INFINITY;
    for (int j = 0; j < z->cols; j++)
        *largest = fmax(*largest, at(z, r, j));
    for (int j = 0; j < z->cols; j++)
        sum += exp(at(z, r, j) - *largest);
    return sum;
}

void cavs__reference_softmax_xent(const struct cavs__call *call, int rows,
                                  const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const int label = cavs__label(&v[1], r, v[0].cols);
        double largest, sum = sum_of_exponentials(&v[0], r, &largest);
        *out(&v[2], r, 0) = label < 0 ? 0 : (float)(log(sum) + (largest - at(&v[0], r, label)));
    }
}

void cavs__reference_softmax_xent_grad(const struct cavs__call *call, int rows,
                                       const struct cavs__view *v, unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const int label = cavs__label(&v[1], r, v[0].cols);
        double largest, sum = sum_of_exponentials(&v[0], r, &largest);
        for (int j = 0; j < v[0].cols; j++) {
            const double p = exp(at(&v[0], r, j) - largest) / sum - (j == label);
            *out(&v[3], r, j) = label < 0 ? 0 : (float)(at(&v[2], r, 0) * p);
        }
    }
}

void cavs__reference_correct(const struct cavs__call *call, int rows, const struct cavs__view *v,
                             unsigned flags)
{
    UNUSED(call);
    UNUSED(flags);
    for (int r = 0; r < rows; r++) {
        const int label = cavs__label(&v[1], r, v[0].cols), best = reference_largest(&v[0], r);

        *out(&v[2], r, 0) = label >= 0 && best == label && !isnan(at(&v[0], r, best));
    }
}

void cavs__reference_metric(const struct cavs__call *call, int rows, const struct cavs__view *v,
                            unsigned flags)
{
    double sums[2] = {0, 0};

    UNUSED(call);
    if (!(flags & CAVS__FIRST))
        memcpy(sums, v[2].p, sizeof(sums));
    for (int r = 0; r < rows; r++) {
        const bool counts = !v[1].index || v[1].index[r] >= 0;
        sums[0] += counts ? at(&v[0], r, 0) : 0;
        sums[1] += counts;
    }
    memcpy(v[2].p, sums, sizeof(sums));
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

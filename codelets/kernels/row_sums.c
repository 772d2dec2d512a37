/* SPDX-License-Identifier: Apache-2.0 */
#include "codelets/kernels/row_sums.h"

#include "codelets/products/simd.h"

CAVS__CLONES void cavs__add_row(int n, const float *x, float *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] += x[j];
}

CAVS__CLONES void cavs__add_two_rows(int n, const float *x, const float *y, float *sum)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        sum[j] = x[j] + y[j];
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * narrow_sums.h - sums over rows so narrow that what is summed up stays in registers.
 *
 * For rows of some 16 numbers, a call for each row and the way of the sum through memory cost more
 * than the additions.
 */
#ifndef CAVS_CODELETS_KERNELS_NARROW_SUMS_H
#define CAVS_CODELETS_KERNELS_NARROW_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CAVS__NARROW = 64 };

/* y (n) = or, with `more`, += sum of x + e ld over e in [0, count), or of x + index[e] ld, in that
 * order, skipping index[e] < 0; n <= CAVS__NARROW */
void cavs__narrow_sum(int n, int count, const float *x, ptrdiff_t ld, const int32_t *index,
                      bool more, float *y);

#endif

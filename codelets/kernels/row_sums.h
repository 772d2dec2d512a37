/* SPDX-License-Identifier: Apache-2.0 */
/* row_sums.h - rows of n numbers that are added to one another. Thread-safe. */
#ifndef CAVS_CODELETS_KERNELS_ROW_SUMS_H
#define CAVS_CODELETS_KERNELS_ROW_SUMS_H

/* y += x */
void cavs__add_row(int n, const float *x, float *y);
/* sum = x + y; sum may be x or y. */
void cavs__add_two_rows(int n, const float *x, const float *y, float *sum);

#endif

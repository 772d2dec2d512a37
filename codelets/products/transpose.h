/* SPDX-License-Identifier: Apache-2.0 */
/* transpose.h - matrices the other way round. */
#ifndef CAVS_CODELETS_PRODUCTS_TRANSPOSE_H
#define CAVS_CODELETS_PRODUCTS_TRANSPOSE_H

#include <stddef.h>

/* y (cols, rows) = x^T, x (rows, cols) */
void cavs__transpose(int rows, int cols, const float *x, ptrdiff_t ldx, float *y, ptrdiff_t ldy);

#endif

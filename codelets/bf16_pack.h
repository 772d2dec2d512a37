/* SPDX-License-Identifier: Apache-2.0 */
/* bf16_pack.h - float32 numbers as bfloat16: rows, and weights as codelets/products/bf16.h wants
 * them. */
#ifndef CAVS_CODELETS_BF16_PACK_H
#define CAVS_CODELETS_BF16_PACK_H

#include <stddef.h>
#include <stdint.h>

/* y[0..n) = x[0..n) rounded */
void cavs__bf16_round(int n, const float *x, uint16_t *y);
/* Brings rows [r, r + m) and columns [c, c + n) of w, which begin at `block`, up to date in packed
 * w.  Those that share a pair with other rows cost more. */
void cavs__bf16_pack(int r, int m, int c, int n, const float *block, ptrdiff_t ldw,
                     uint32_t *packed, ptrdiff_t ldp);
/* The same in packed w^T, where columns of w share pairs. */
void cavs__bf16_pack_transposed(int r, int m, int c, int n, const float *block, ptrdiff_t ldw,
                                uint32_t *packed, ptrdiff_t ldp);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_table.h - what the files that implement kernels share: views, the table's entries, the
 * reference functions. */
#ifndef CAVS_CODELETS_KERNELS_KERNEL_TABLE_H
#define CAVS_CODELETS_KERNELS_KERNEL_TABLE_H

#include "codelets/kernels/kernel.h"

#define CAVS__DECLARE(name) extern const struct cavs__kernel cavs__kernel_##name;
CAVS__KERNELS(CAVS__DECLARE)
#undef CAVS__DECLARE

/* kernel_gemm.c: n products "gemm" of weights in panels, up to CAVS__CLAIMED_PRODUCTS, all like
 * that call and none of which touches what another one writes: other workers may take part in
 * all. */
void cavs__gemm_together(const struct cavs__call *call, int n, int rows,
                         const struct cavs__view (*v)[3]);

/* kernel_reference.c: plain loops in double */
cavs__kernel_fn cavs__reference_gemm, cavs__reference_gemm_tn, cavs__reference_column_sum,
    cavs__reference_sum_rows, cavs__reference_sum_pieces, cavs__reference_row_sum,
    cavs__reference_softmax_xent, cavs__reference_softmax_xent_grad, cavs__reference_correct,
    cavs__reference_metric, cavs__reference_dropout;

/* kernel_lists_reference.c */
cavs__kernel_fn cavs__reference_gemm_select, cavs__reference_gemm_select_t,
    cavs__reference_gemm_tn_select, cavs__reference_gemm_rows, cavs__reference_list_sum,
    cavs__reference_list_max, cavs__reference_list_max_grad, cavs__reference_list_softmax,
    cavs__reference_list_softmax_grad, cavs__reference_list_share;

/* Row r of a direct or indexed view; NULL: it reads as zeros. */
static inline float *cavs__row(const struct cavs__view *v, ptrdiff_t r)
{
    if (!v->index)
        return v->p + r * v->ld;
    return v->index[r] < 0 ? NULL : v->p + v->index[r] * v->ld;
}

/* Label of row r if it names one of n classes, else -1: the row does not count. */
static inline int cavs__label(const struct cavs__view *labels, int r, int n)
{
    const int32_t label = labels->index[r];

    return label >= 0 && label < n ? label : -1;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - the table of kernels. */
#include "codelets/kernels/kernel.h"
#include "codelets/kernels/kernel_table.h"

#include <string.h>

static const struct cavs__kernel *const kernels[] = {
    &cavs__kernel_gemm,
    &cavs__kernel_gemm_tn,
    &cavs__kernel_column_sum,
    &cavs__kernel_sum_rows,
    &cavs__kernel_row_sum,
    &cavs__kernel_row_max,
    &cavs__kernel_row_max_grad,
    &cavs__kernel_softmax,
    &cavs__kernel_log_softmax,
    &cavs__kernel_dropout,
    &cavs__kernel_pick,
    &cavs__kernel_pick_grad,
    &cavs__kernel_softmax_xent,
    &cavs__kernel_softmax_xent_grad,
    &cavs__kernel_correct,
    &cavs__kernel_metric,
    &cavs__kernel_mask,
    &cavs__kernel_gemm_select,
    &cavs__kernel_gemm_select_t,
    &cavs__kernel_gemm_tn_select,
    &cavs__kernel_list_sum,
    &cavs__kernel_list_max,
    &cavs__kernel_list_max_grad,
    &cavs__kernel_list_softmax,
    &cavs__kernel_list_softmax_grad,
    &cavs__kernel_list_share,
    &cavs__kernel_elementwise,
};

const struct cavs__kernel *cavs__kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof(kernels) / sizeof(*kernels); i++)
        if (!strcmp(kernels[i]->name, name))
            return kernels[i];
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* device_kernels.h - the device implementations that the table of kernels names (kernel.h,
 * cavs__device_fn). */
#ifndef CAVS_CODELETS_DEVICE_DEVICE_KERNELS_H
#define CAVS_CODELETS_DEVICE_DEVICE_KERNELS_H

#include "codelets/groups/elementwise.h"
#include "codelets/kernels/kernel_table.h"

cavs__device_fn cavs__device_gemm, cavs__device_gemm_tn, cavs__device_column_sum,
    cavs__device_sum_rows, cavs__device_row_sum, cavs__device_softmax_xent,
    cavs__device_softmax_xent_grad, cavs__device_correct, cavs__device_metric, cavs__device_mask,
    cavs__device_row_max, cavs__device_row_max_grad, cavs__device_softmax, cavs__device_log_softmax,
    cavs__device_pick, cavs__device_pick_grad, cavs__device_dropout, cavs__device_gemm_select,
    cavs__device_gemm_select_t, cavs__device_gemm_tn_select, cavs__device_list_sum,
    cavs__device_list_max, cavs__device_list_max_grad, cavs__device_list_softmax,
    cavs__device_list_softmax_grad, cavs__device_list_share, cavs__device_elementwise;

#endif

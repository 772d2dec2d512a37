/* SPDX-License-Identifier: Apache-2.0 */
/* device_sums.h - sums of rows on a device: of all rows, and of those that an index names. */
#ifndef CAVS_CODELETS_DEVICE_SUMS_H
#define CAVS_CODELETS_DEVICE_SUMS_H

#include "codelets/device/device.h"

/* What device_kernels.c queues for the kernels of these names. */
int cavs__device_column_sum(const struct cavs__device_call *c);
int cavs__device_sum_rows(const struct cavs__device_call *c);
int cavs__device_sum_pieces(const struct cavs__device_call *c);

/* Launches of a sum of so many rows of n numbers, and floats a row that it needs as room. */
int cavs__device_column_sums(int rows, int n);
int cavs__device_column_sum_room(int n);

#endif

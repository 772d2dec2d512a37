/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sequences.h - steps that stand one after the other as one launch: a group of work-items takes
 * them for one vertex, its own row and those of its entries, and waits after each until all its
 * items are there. Which steps, core/compile/row_steps.c says.
 */
#ifndef CAVS_CODELETS_DEVICE_SEQUENCES_H
#define CAVS_CODELETS_DEVICE_SEQUENCES_H

#include <stdio.h>

#include "codelets/device/device.h"

/* The kernel of a sequence, "sequence<number>", and what it calls. */
void cavs__device_sequence_text(FILE *to, const struct cavs__sequence *q, int number);
/* Queues it: calls of its steps, in their order.  0, or -1: the device has failed. */
int cavs__device_sequence(int n, const struct cavs__device_call *const *calls);

#endif

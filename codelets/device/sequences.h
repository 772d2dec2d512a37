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

/* What the dialect of a group has in common with that of a step: an item takes some numbers of row
 * r at once, those in columns `column`, column + step and so on. First it asks the memory for all
 * that it reads: otherwise it would wait for what it has stored before, which might lie there. */
#define CAVS__DIALECT_OF_NUMBERS                                                                 \
    .parameter = ", VIEW(p$i)",                                                                  \
    .input = "    const long from$i = ROW(p$i, r);\n"                                            \
             "    float y$i[$n];\n",                                                             \
    .scalar = "    const long from$i = ROW(p$i, r);\n"                                           \
              "    const float x$i = from$i < 0 ? 0.0f : p$i[from$i];\n",                        \
    .output = "    const long to$i = p$i_at + (long)r * p$i_ld;\n", .chunk = 1, .far_input = "", \
    .far_output = "",                                                                            \
    .chunk_loop = "    UNROLL\n"                                                                 \
                  "    for (int k = 0; k < $n; k++) {\n"                                         \
                  "        const int c = column + k * step;\n\n",                                \
    .fetch_input = "        y$i[k] = from$i >= 0 && c < $w ? p$i[from$i + c] : 0.0f;\n",         \
    .fetch_output = "",                                                                          \
    .far_loop = "    }\n"                                                                        \
                "    UNROLL\n"                                                                   \
                "    for (int k = 0; k < $n; k++) {\n"                                           \
                "        const int c = column + k * step;\n\n"                                   \
                "        if (c < $w) {\n",                                                       \
    .load = "            const float x$i = y$i[k];\n", .load_scalar = "",                        \
    .store = "            p$i[to$i + c] = $x;\n", .inner_close = "        }\n    }\n}\n"

/* The kernel of a sequence, "sequence<number>", and what it calls. */
void cavs__device_sequence_text(FILE *to, const struct cavs__sequence *q, int number);
/* Queues it: calls of its steps, in their order.  0, or -1: the device has failed. */
int cavs__device_sequence(int n, const struct cavs__device_call *const *calls);

#endif

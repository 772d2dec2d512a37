/* SPDX-License-Identifier: Apache-2.0 */
/* worth.c - what rows of a part are worth in a task, at given rates. */
#include "core/compile/plan.h"

double cavs__part_seconds(const struct cavs__rates *r, const struct cavs__part *p, int rows,
                          const double entries[CAVS__PART_LISTS])
{
    double flops = p->flops, values = p->scratch;
    int size = 0;

    while (size + 1 < CAVS__RATE_SIZES && rows >= 2 << 2 * size)
        size++;
    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        flops += entries[i] * p->lists[i].flops;
        values += entries[i] * p->lists[i].scratch;
    }
    return rows * (flops * r->gemm[size] + values * r->value) + 1e-6;
}

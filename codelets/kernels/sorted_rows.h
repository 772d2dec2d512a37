/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sorted_rows.h - rows of a tile in the order of their ids, so that those of one id can be taken
 * together.
 */
#ifndef CAVS_CODELETS_KERNELS_SORTED_ROWS_H
#define CAVS_CODELETS_KERNELS_SORTED_ROWS_H

#include "codelets/kernels/kernel.h"

enum { CAVS__SORTED = 2048 }; /* at once */

/* Rows without an id, -1, come first; rows of one id keep their order. */
struct cavs__sorted {
    int n;
    int row[CAVS__SORTED];
    int32_t id[CAVS__SORTED]; /* by position */
};

/* Rows [first, first + rows), or as many of them as there is room for: s->n. */
void cavs__sort_rows(struct cavs__sorted *s, const struct cavs__view *ids, int first, int rows);

/* The position after the last of those with the id at position i. */
int cavs__end_of_run(const struct cavs__sorted *s, int i);

/* Columns [c, c + cols) of the rows at positions [from, end), copied to buffer side by side. */
void cavs__collect_rows(const struct cavs__view *v, const struct cavs__sorted *s, int from, int end,
                        int c, int cols, float *buffer);

#endif

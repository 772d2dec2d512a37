/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copies.h - copies of a parameter's values in the layouts that products read.
 *
 * The values themselves lie row by row.  Whoever writes them (the update of a parameter, a user who
 * sets them) writes the copies, too.
 */
#ifndef CAVS_CODELETS_COPIES_H
#define CAVS_CODELETS_COPIES_H

#include <stdbool.h>
#include <stddef.h>

/* What a copy of w (k, n) is, and what its `ld` counts. */
enum cavs__layout {
    CAVS__LAYOUT_ROWS,              /* w itself; no copy */
    CAVS__LAYOUT_TRANSPOSED,        /* w^T, rows ld apart */
    CAVS__LAYOUT_PANELS,            /* w in panels (products/panels.h) ld apart */
    CAVS__LAYOUT_PANELS_TRANSPOSED, /* w^T in panels ld apart */
    CAVS__LAYOUT_BF16,              /* w as bfloat16 (products/bf16.h), panels ld pairs apart */
    CAVS__LAYOUT_BF16_TRANSPOSED,   /* w^T likewise */
    CAVS__LAYOUTS
};

/* The columns and rows of a tensor that holds a copy of w (rows, cols). */
int cavs__layout_cols(enum cavs__layout layout, int rows, int cols);
int cavs__layout_rows(enum cavs__layout layout, int rows, int cols);

struct cavs__copy {
    enum cavs__layout layout;
    ptrdiff_t ld;
    float *p; /* of all of w */
    bool far; /* panels go to memory past the caches; cavs__copies_end() comes last */
};

/* Should a copy of so many numbers go past the caches, on this processor?  It has left those that
 * are a core's own before it is read, and then writing it must not wait for lines of it that other
 * cores may have. */
bool cavs__copy_is_far(int rows, int cols);

/* Brings rows [r, r + rows) and columns [c, c + cols) of w up to date in its copy; w(r, c) is the
 * first of `block`, whose rows are ldw apart. */
void cavs__copy_block(const struct cavs__copy *copy, int r, int c, int rows, int cols,
                      const float *block, ptrdiff_t ldw);

/* Called before anybody is told that these n copies are there: makes what was written past the
 * caches visible. */
void cavs__copies_end(int n, const struct cavs__copy *copies);

/* Fetches what cavs__copy_block() will write of such a block: the i-th of `parts` parts of it. */
void cavs__copy_fetch(const struct cavs__copy *copy, int r, int c, int rows, int cols, int i,
                      int parts);

#endif

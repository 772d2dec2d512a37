/* SPDX-License-Identifier: Apache-2.0 */
/*
 * panels.h - how copies of weights are laid out, so that products read them well.
 *
 * A product of few rows reads all of w (k, n) once, a few columns at a time.  Where rows of w are
 * some kilobytes apart, such a strip falls into few sets of the caches, needs a page for each row,
 * and no prefetcher follows it.  Panels are w cut into strips of CAVS__PANEL columns, each
 * contiguous from the first row to the last: what is read next lies next.
 *
 *     w(r, c) is p[c / CAVS__PANEL * pitch + r * CAVS__PANEL + c % CAVS__PANEL]
 *
 * with pitch >= k CAVS__PANEL.  The last panel has CAVS__PANEL columns, too, those from n on being
 * zeros.  A tensor of panels is a matrix with a panel a row.
 */
#ifndef CAVS_CODELETS_PRODUCTS_PANELS_H
#define CAVS_CODELETS_PRODUCTS_PANELS_H

enum { CAVS__PANEL = 32 };

static inline int cavs__panels(int cols)
{
    return (cols + CAVS__PANEL - 1) / CAVS__PANEL;
}

/* How many of the columns [c, c + n) are in the panel of the first, where panels have `width`. */
static inline int cavs__in_panel(int width, int c, int n)
{
    const int room = width - c % width;

    return room < n ? room : n;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bf16_pack.c - see bf16_pack.h.
 *
 * An update packs what it has just written, tile by tile, so these loops have to vectorise.
 */
#include "codelets/bf16_pack.h"
#include "codelets/products/simd.h"
#include "codelets/products/bf16.h"
#include "codelets/products/bf16_round.h"
#include "codelets/products/panels.h"
#include "codelets/products/transpose.h"

enum {
    PANEL = CAVS__BF16_PANEL,
    /* How many rows of w are transposed at a time, and how many pairs of rows these are. */
    ROWS = 16,
    PAIRS = 128,
};

CAVS__CLONES void cavs__bf16_round(int n, const float *x, uint16_t *y)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        y[j] = (uint16_t)cavs__bf16_rounded(x[j]);
}

CAVS__CLONES static void pack_pairs(int n, const float *upper, const float *lower, uint32_t *pairs)
{
#pragma omp simd
    for (int j = 0; j < n; j++)
        pairs[j] = cavs__bf16_rounded(upper[j]) | cavs__bf16_rounded(lower[j]) << 16;
}

/* Writes one number of a pair; the other one stays as it is. */
static void set_half(bool lower, float x, uint32_t *pair)
{
    const uint32_t bits = cavs__bf16_rounded(x);

    *pair = lower ? (*pair & 0xffff) | bits << 16 : (*pair & 0xffff0000) | bits;
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Where the pair of rows 2p and 2p + 1 in column c is. */
static uint32_t *pair_at(uint32_t *packed, ptrdiff_t ldp, int p, int c)
{
    return packed + c / PANEL * ldp + (ptrdiff_t)p * PANEL + c % PANEL;
}

static void pack_row(int r, int c, int n, const float *row, uint32_t *packed, ptrdiff_t ldp)
{
    for (int j = 0; j < n; j++)
        set_half(r % 2, row[j], pair_at(packed, ldp, r / 2, c + j));
}

static void pack_two_rows(int p, int c, int n, const float *upper, const float *lower,
                          uint32_t *packed, ptrdiff_t ldp)
{
    for (int j = 0, width; j < n; j += width) {
        width = cavs__in_panel(PANEL, c + j, n - j);
        pack_pairs(width, upper + j, lower + j, pair_at(packed, ldp, p, c + j));
    }
}

void cavs__bf16_pack(int r, int m, int c, int n, const float *block, ptrdiff_t ldw,
                     uint32_t *packed, ptrdiff_t ldp)
{
    for (int i = 0, rows; i < m; i += rows) {
        const float *row = block + i * ldw;

        rows = (r + i) % 2 || i + 1 == m ? 1 : 2;
        if (rows == 1)
            pack_row(r + i, c, n, row, packed, ldp);
        else
            pack_two_rows((r + i) / 2, c, n, row, row + ldw, packed, ldp);
    }
}

/* Writes column c of w, which is a row of w^T. */
static void pack_column(int r, int m, int c, const float *column, ptrdiff_t ldw, uint32_t *packed,
                        ptrdiff_t ldp)
{
    for (int i = 0; i < m; i++)
        set_half(c % 2, column[i * ldw], pair_at(packed, ldp, c / 2, r + i));
}

/* n columns of w, two of which make a row of pairs of w^T; its columns, rows of w, are in one
 * panel.  The transposition moves 32-bit words, which are no numbers. */
static void pack_square(int rows, int n, const float *block, ptrdiff_t ldw, uint32_t *panel)
{
    uint16_t numbers[ROWS * 2 * PAIRS] __attribute__((aligned(64)));
    void *words = numbers, *to = panel;

    for (int i = 0; i < rows; i++)
        cavs__bf16_round(n, block + i * ldw, numbers + i * 2 * PAIRS);
    cavs__transpose(rows, n / 2, words, PAIRS, to, PANEL);
}

/* c and n are even. */
static void pack_columns(int r, int m, int c, int n, const float *block, ptrdiff_t ldw,
                         uint32_t *packed, ptrdiff_t ldp)
{
    for (int i = 0, rows; i < m; i += rows) {
        rows = smaller(cavs__in_panel(PANEL, r + i, m - i), ROWS);
        for (int j = 0; j < n; j += 2 * PAIRS)
            pack_square(rows, smaller(n - j, 2 * PAIRS), block + i * ldw + j, ldw,
                        pair_at(packed, ldp, (c + j) / 2, r + i));
    }
}

void cavs__bf16_pack_transposed(int r, int m, int c, int n, const float *block, ptrdiff_t ldw,
                                uint32_t *packed, ptrdiff_t ldp)
{
    if (n > 0 && c % 2) {
        pack_column(r, m, c, block, ldw, packed, ldp);
        block++;
        c++;
        n--;
    }
    if (n % 2) {
        n--;
        pack_column(r, m, c + n, block + n, ldw, packed, ldp);
    }
    pack_columns(r, m, c, n, block, ldw, packed, ldp);
}

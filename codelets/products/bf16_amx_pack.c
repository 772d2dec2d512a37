/* SPDX-License-Identifier: Apache-2.0 */
/* bf16_amx_pack.c - operands of bfloat16 products in the order in which AMX loads them. */
#include "codelets/products/bf16_amx.h"

#if defined __x86_64__ && defined __linux__
#include "codelets/products/bf16_vectors.h"
#include "codelets/products/fetch.h"

#define TARGET CAVS__BF16_TARGET
#define OP     static inline __attribute__((always_inline)) TARGET

/* Rows of dy are fetched so far ahead: a slice is narrow, so that nobody else sees what comes. */
enum { AHEAD = 8 };

TARGET void cavs__amx_pack(int rows, int cols, const struct cavs__amx_rows *x, uint16_t *tiles)
{
    const ptrdiff_t depth = parts_of(cols, DEPTH) * (ptrdiff_t)NUMBERS;

    for (int i = 0; i < parts_of(rows, TILE) * TILE; i++) {
        uint16_t *to = tiles + i / TILE * depth + i % TILE * DEPTH;
        for (int p = 0; p < cols; p += DEPTH) {
            __m512i v = _mm512_setzero_si512();
            if (i < rows && x->x)
                v = cavs__bf16_numbers(x->x + i * x->ld + p, cols - p);
            else if (i < rows)
                v = cavs__bf16_rounded_numbers(x->rounded + i * x->ld + p, cols - p);
            _mm512_store_si512(to, v);
            to += NUMBERS;
        }
    }
}

/* Row i of a block; NULL: zeros, or no row of it. */
static inline const float *row_of(const struct cavs__amx_block *x, int i)
{
    const float *row = i < x->rows ? cavs__gemm_row(x->of, x->r + i) : NULL;

    return row ? row + x->c : NULL;
}

/* Columns from j on of two rows as pairs. */
OP __m512i pairs_at(const float *upper, const float *lower, int j, int cols)
{
    return cavs__bf16_pairs(upper ? upper + j : NULL, lower ? lower + j : NULL, cols - j);
}

TARGET void cavs__amx_pack_slice(const struct cavs__amx_block *y, uint32_t *slice)
{
    for (int i = 0; i < parts_of(y->rows, DEPTH) * DEPTH; i += 2, slice += CAVS__BF16_PANEL) {
        const float *upper = row_of(y, i), *lower = row_of(y, i + 1);

        cavs__fetch(y->cols, row_of(y, i + AHEAD));
        cavs__fetch(y->cols, row_of(y, i + AHEAD + 1));
        for (int j = 0; j < CAVS__BF16_PANEL; j += TILE)
            _mm512_store_si512(slice + j, j < y->cols ? pairs_at(upper, lower, j, y->cols)
                                                      : _mm512_setzero_si512());
    }
}

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Rows of 32-bit words become columns. */
OP void transpose(__m512i v[TILE])
{
    __m512i t[TILE];

    UNROLL
    for (int i = 0; i < TILE; i++)
        t[i] =
            i % 2 ? _mm512_unpackhi_epi32(v[i - 1], v[i]) : _mm512_unpacklo_epi32(v[i], v[i + 1]);
    /* group of 4: 0 lo01, 1 hi01, 2 lo23, 3 hi23 */
    UNROLL
    for (int i = 0; i < TILE; i++) {
        const int g = i / 4 * 4, q = i % 4;
        v[i] = q % 2 ? _mm512_unpackhi_epi64(t[g + q / 2], t[g + q / 2 + 2])
                     : _mm512_unpacklo_epi64(t[g + q / 2], t[g + q / 2 + 2]);
    }
    /* v[g + q]: in lane l, column 4 l + q of rows g .. g + 3 */
    UNROLL
    for (int i = 0; i < TILE; i++) {
        const int q = i % 4, h = i / 8 * 8, high = i / 4 % 2;
        t[i] = high ? _mm512_shuffle_i32x4(v[h + q], v[h + 4 + q], 0xdd)
                    : _mm512_shuffle_i32x4(v[h + q], v[h + 4 + q], 0x88);
    }
    /* t[h + q]: lanes 0 2 of rows h .., then of rows h + 4 ..; t[h + 4 + q]: lanes 1 3 */
    UNROLL
    for (int i = 0; i < TILE; i++) {
        const int q = i % 4, lane = i / 4;
        v[i] = lane / 2 ? _mm512_shuffle_i32x4(t[lane % 2 * 4 + q], t[8 + lane % 2 * 4 + q], 0xdd)
                        : _mm512_shuffle_i32x4(t[lane % 2 * 4 + q], t[8 + lane % 2 * 4 + q], 0x88);
    }
}

TARGET void cavs__amx_pack_transposed(const struct cavs__amx_block *x, uint16_t *tiles)
{
    const ptrdiff_t depth = parts_of(x->rows, DEPTH) * (ptrdiff_t)NUMBERS;

    for (int p = 0; p < x->rows; p += DEPTH) {
        const float *rows[DEPTH];

        for (int i = 0; i < DEPTH; i++)
            rows[i] = row_of(x, p + i);
        for (int j = 0; j < x->cols; j += TILE) {
            uint16_t *to = tiles + j / TILE * depth + p / DEPTH * NUMBERS;
            __m512i v[TILE];
            UNROLL
            for (int i = 0; i < TILE; i++)
                v[i] = pairs_at(rows[2 * i], rows[2 * i + 1], j, x->cols);
            transpose(v);
            UNROLL
            for (int i = 0; i < TILE; i++)
                _mm512_store_si512(to + i * DEPTH, v[i]);
        }
    }
}

#endif

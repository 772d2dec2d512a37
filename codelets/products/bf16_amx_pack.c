/* SPDX-License-Identifier: Apache-2.0 */
/* bf16_amx_pack.c - operands of bfloat16 products in the order in which AMX loads them. */
#include "codelets/products/bf16_amx.h"

#if defined __x86_64__ && defined __linux__
#include "codelets/products/bf16_vectors.h"

#define TARGET CAVS__BF16_TARGET
#define OP     static inline __attribute__((always_inline)) TARGET

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

TARGET void cavs__amx_pack_slice(int rows, int cols, const float *y, ptrdiff_t ldy, uint32_t *slice)
{
    for (int i = 0; i < parts_of(rows, DEPTH) * DEPTH; i += 2)
        for (int j = 0; j < CAVS__BF16_PANEL; j += TILE)
            _mm512_store_si512(slice + i / 2 * CAVS__BF16_PANEL + j,
                               cavs__bf16_pairs(y + i * ldy + j, ldy, cols > j ? rows - i : 0,
                                                cols > j ? cols - j : 0));
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

TARGET void cavs__amx_pack_transposed(int rows, int cols, const float *x, ptrdiff_t ldx,
                                      uint16_t *tiles)
{
    const ptrdiff_t depth = parts_of(rows, DEPTH) * (ptrdiff_t)NUMBERS;

    for (int p = 0; p < rows; p += DEPTH)
        for (int j = 0; j < cols; j += TILE) {
            uint16_t *to = tiles + j / TILE * depth + p / DEPTH * NUMBERS;
            __m512i v[TILE];
            UNROLL
            for (int i = 0; i < TILE; i++)
                v[i] = cavs__bf16_pairs(x + (p + 2 * i) * ldx + j, ldx, rows - p - 2 * i, cols - j);
            transpose(v);
            UNROLL
            for (int i = 0; i < TILE; i++)
                _mm512_store_si512(to + i * DEPTH, v[i]);
        }
}

#endif

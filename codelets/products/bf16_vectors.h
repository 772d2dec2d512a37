/* SPDX-License-Identifier: Apache-2.0 */
/* bf16_vectors.h - vectors of bfloat16 numbers, rounded by AVX512_BF16; for x86-64 only. */
#ifndef CAVS_CODELETS_PRODUCTS_BF16_VECTORS_H
#define CAVS_CODELETS_PRODUCTS_BF16_VECTORS_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define CAVS__BF16_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16")))

/* The next 32 numbers of a row, of which there are only `cols`. */
static inline CAVS__BF16_TARGET __m512i cavs__bf16_numbers(const float *x, int cols)
{
    const __mmask32 some = cols < 32 ? (1u << cols) - 1 : ~0u;
    const __m512 low = _mm512_maskz_loadu_ps((__mmask16)some, x);
    const __m512 high = _mm512_maskz_loadu_ps((__mmask16)(some >> 16), x + 16);

    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

static inline CAVS__BF16_TARGET __m512i cavs__bf16_rounded_numbers(const uint16_t *x, int cols)
{
    return _mm512_maskz_loadu_epi16(cols < 32 ? (1u << cols) - 1 : ~0u, x);
}

/* Columns [0, cols), cols <= 16, of two rows as pairs; NULL: a row of zeros. */
static inline CAVS__BF16_TARGET __m512i cavs__bf16_pairs(const float *upper, const float *lower,
                                                         int cols)
{
    const __m512i in_turn =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __mmask16 some = cols < 16 ? (__mmask16)((1u << cols) - 1) : (__mmask16)~0u;
    const __m512 first = upper ? _mm512_maskz_loadu_ps(some, upper) : _mm512_setzero_ps();
    const __m512 second = lower ? _mm512_maskz_loadu_ps(some, lower) : _mm512_setzero_ps();

    return _mm512_permutexvar_epi16(in_turn, (__m512i)_mm512_cvtne2ps_pbh(second, first));
}

#endif

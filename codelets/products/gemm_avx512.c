/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_avx512.c - register tiles for AVX-512: 32 registers of 16 float32 numbers.
 *
 * 6 rows x 4 vectors: 24 accumulators, 4 vectors of b and one number of a; 10 loads for 24
 * multiply-adds.  4 rows are enough for full speed: 8 loads for 16.  Masked loads cost nothing, so
 * a partial vector is as fast as a whole one.
 */
#include "codelets/products/gemm_providers.h"
#include "codelets/products/gemm_tile.h"

#ifdef __x86_64__
#include <immintrin.h>

#define TILE_TARGET __attribute__((target("avx512f"))) CAVS__TILE_UNCHECKED
#define LANES       16
#define OP          static inline __attribute__((always_inline)) TILE_TARGET

typedef __m512 vec;

OP vec vec_zero(void)
{
    return _mm512_setzero_ps();
}

OP vec vec_set(float x)
{
    return _mm512_set1_ps(x);
}

OP vec vec_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

OP vec vec_fma(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

OP void vec_store(float *p, vec x)
{
    _mm512_storeu_ps(p, x);
}

OP vec vec_load_part(const float *p, int n)
{
    return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}

OP void vec_store_part(float *p, int n, vec x)
{
    _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), x);
}

#define LOW(a, b)        _mm512_unpacklo_ps(a, b)
#define HIGH(a, b)       _mm512_unpackhi_ps(a, b)
#define AS_PAIRS(x)      _mm512_castps_pd(x)
#define LOW_PAIRS(a, b)  _mm512_castpd_ps(_mm512_unpacklo_pd(AS_PAIRS(a), AS_PAIRS(b)))
#define HIGH_PAIRS(a, b) _mm512_castpd_ps(_mm512_unpackhi_pd(AS_PAIRS(a), AS_PAIRS(b)))
/* Groups of four: the first and third of each, or the second and fourth. */
#define EVEN_FOURS(a, b) _mm512_shuffle_f32x4(a, b, 0x88)
#define ODD_FOURS(a, b)  _mm512_shuffle_f32x4(a, b, 0xdd)

#include "codelets/products/turn_fours.h"

OP void vec_turn(vec *r)
{
    vec t[LANES];

    turn_fours(r);
    for (int i = 0; i < 4; i++) {
        t[i] = EVEN_FOURS(r[i], r[i + 4]);
        t[i + 4] = ODD_FOURS(r[i], r[i + 4]);
        t[i + 8] = EVEN_FOURS(r[i + 8], r[i + 12]);
        t[i + 12] = ODD_FOURS(r[i + 8], r[i + 12]);
    }
    for (int i = 0; i < 4; i++) {
        r[i] = EVEN_FOURS(t[i], t[i + 8]);
        r[i + 4] = EVEN_FOURS(t[i + 4], t[i + 12]);
        r[i + 8] = ODD_FOURS(t[i], t[i + 8]);
        r[i + 12] = ODD_FOURS(t[i + 4], t[i + 12]);
    }
}

#define TILE_BODY
#include "codelets/products/gemm_tile.h"
#define FAR_ROWS 14
#include "codelets/products/gemm_far.h"
#include "codelets/products/gemm_few.h"

#define UP_TO_4(rows) INSTANCE(rows, 1) INSTANCE(rows, 2) INSTANCE(rows, 3) INSTANCE(rows, 4)
#define UP_TO_6(rows) UP_TO_4(rows) INSTANCE(rows, 5) INSTANCE(rows, 6)
#define UP_TO_8(rows) UP_TO_6(rows) INSTANCE(rows, 7) INSTANCE(rows, 8)

UP_TO_8(1)
UP_TO_8(2)
UP_TO_6(3)
UP_TO_4(4)
UP_TO_4(5)
UP_TO_4(6)

#define LIST_4(f) f##_1, f##_2, f##_3, f##_4
#define LIST_6(f) LIST_4(f), f##_5, f##_6
#define LIST_8(f) LIST_6(f), f##_7, f##_8

WIDE_INSTANCES(1)
WIDE_INSTANCES(2)
WIDE_INSTANCES(3)
WIDE_INSTANCES(4)
WIDE_INSTANCES(5)
WIDE_INSTANCES(6)
NARROW_INSTANCES(7)
NARROW_INSTANCES(8)
NARROW_INSTANCES(9)
NARROW_INSTANCES(10)
NARROW_INSTANCES(11)
NARROW_INSTANCES(12)
NARROW_INSTANCES(13)
NARROW_INSTANCES(14)

static const struct cavs__tiles tiles = {
    .lanes = LANES,
    .vecs = {8, 8, 6, 4, 4, 4},
    .fn = {{{LIST_8(whole_1)},
            {LIST_8(whole_2)},
            {LIST_6(whole_3)},
            {LIST_4(whole_4)},
            {LIST_4(whole_5)},
            {LIST_4(whole_6)}},
           {{LIST_8(part_1)},
            {LIST_8(part_2)},
            {LIST_6(part_3)},
            {LIST_4(part_4)},
            {LIST_4(part_5)},
            {LIST_4(part_6)}}},
    .panel_rows = 14,
    .panel_vecs = {4, 4, 4, 4, 4, 4, 2, 2, 2, 2, 2, 2, 2, 2},
    .panel_fn = {{{WIDE(panel_whole, 1)},
                  {WIDE(panel_whole, 2)},
                  {WIDE(panel_whole, 3)},
                  {WIDE(panel_whole, 4)},
                  {WIDE(panel_whole, 5)},
                  {WIDE(panel_whole, 6)},
                  {NARROW(panel_whole, 7)},
                  {NARROW(panel_whole, 8)},
                  {NARROW(panel_whole, 9)},
                  {NARROW(panel_whole, 10)},
                  {NARROW(panel_whole, 11)},
                  {NARROW(panel_whole, 12)},
                  {NARROW(panel_whole, 13)},
                  {NARROW(panel_whole, 14)}},
                 {{WIDE(panel_part, 1)},
                  {WIDE(panel_part, 2)},
                  {WIDE(panel_part, 3)},
                  {WIDE(panel_part, 4)},
                  {WIDE(panel_part, 5)},
                  {WIDE(panel_part, 6)},
                  {NARROW(panel_part, 7)},
                  {NARROW(panel_part, 8)},
                  {NARROW(panel_part, 9)},
                  {NARROW(panel_part, 10)},
                  {NARROW(panel_part, 11)},
                  {NARROW(panel_part, 12)},
                  {NARROW(panel_part, 13)},
                  {NARROW(panel_part, 14)}}},
};

static bool available(void)
{
    return __builtin_cpu_supports("avx512f");
}

const struct cavs__gemm_provider cavs__gemm_avx512 = {
    .name = "avx512",
    .available = available,
    .gemm = gemm,
    .gemm_panels = gemm_panels,
    .gemm_near = gemm_near,
    .gemm_far = gemm_far,
    .gemm_far_t = gemm_far_t,
    .gemm_tn = gemm_tn,
    .gemm_tn_rows = gemm_tn_few,
};
#endif

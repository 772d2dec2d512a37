/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gemm_avx2.c - register tiles for AVX2 with FMA: 16 registers of 8 float32 numbers.
 *
 * 6 rows x 2 vectors: 12 accumulators, 2 vectors of b and one number of a; 8 loads for 12
 * multiply-adds.
 */
#include "codelets/products/gemm_providers.h"
#include "codelets/products/gemm_tile.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <stdint.h>

#define TILE_TARGET __attribute__((target("avx2,fma"))) CAVS__TILE_UNCHECKED
#define LANES       8
#define OP          static inline __attribute__((always_inline)) TILE_TARGET

typedef __m256 vec;

OP vec vec_zero(void)
{
    return _mm256_setzero_ps();
}

OP vec vec_set(float x)
{
    return _mm256_set1_ps(x);
}

OP vec vec_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

OP vec vec_fma(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

OP void vec_store(float *p, vec x)
{
    _mm256_storeu_ps(p, x);
}

/* All bits of the first n lanes. */
OP __m256i first(int n)
{
    static const int32_t mask[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};

    return _mm256_loadu_si256((const __m256i *)(mask + LANES - n));
}

OP vec vec_load_part(const float *p, int n)
{
    return _mm256_maskload_ps(p, first(n));
}

OP void vec_store_part(float *p, int n, vec x)
{
    _mm256_maskstore_ps(p, first(n), x);
}

#define LOW(a, b)        _mm256_unpacklo_ps(a, b)
#define HIGH(a, b)       _mm256_unpackhi_ps(a, b)
#define LOW_PAIRS(a, b)  _mm256_shuffle_ps(a, b, 0x44)
#define HIGH_PAIRS(a, b) _mm256_shuffle_ps(a, b, 0xee)

#include "codelets/products/turn_fours.h"

OP void vec_turn(vec *r)
{
    vec t[LANES];

    turn_fours(r);
    for (int i = 0; i < 4; i++) {
        t[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        t[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
    for (int i = 0; i < LANES; i++)
        r[i] = t[i];
}

#define TILE_BODY
#include "codelets/products/gemm_tile.h"
#define FAR_ROWS 6
#include "codelets/products/gemm_far.h"
#include "codelets/products/gemm_few.h"

#define UP_TO_2(rows) INSTANCE(rows, 1) INSTANCE(rows, 2)
#define UP_TO_3(rows) UP_TO_2(rows) INSTANCE(rows, 3)
#define UP_TO_4(rows) UP_TO_3(rows) INSTANCE(rows, 4)

UP_TO_4(1)
UP_TO_4(2)
UP_TO_3(3)
UP_TO_3(4)
UP_TO_2(5)
UP_TO_2(6)

#define LIST_2(f) f##_1, f##_2
#define LIST_3(f) LIST_2(f), f##_3
#define LIST_4(f) LIST_3(f), f##_4

WIDE_INSTANCES(1)
WIDE_INSTANCES(2)
NARROW_INSTANCES(3)
NARROW_INSTANCES(4)
NARROW_INSTANCES(5)
NARROW_INSTANCES(6)

static const struct cavs__tiles tiles = {
    .lanes = LANES,
    .vecs = {4, 4, 3, 3, 2, 2},
    .fn = {{{LIST_4(whole_1)},
            {LIST_4(whole_2)},
            {LIST_3(whole_3)},
            {LIST_3(whole_4)},
            {LIST_2(whole_5)},
            {LIST_2(whole_6)}},
           {{LIST_4(part_1)},
            {LIST_4(part_2)},
            {LIST_3(part_3)},
            {LIST_3(part_4)},
            {LIST_2(part_5)},
            {LIST_2(part_6)}}},
    .panel_rows = 6,
    .panel_vecs = {4, 4, 2, 2, 2, 2},
    .panel_fn = {{{WIDE(panel_whole, 1)},
                  {WIDE(panel_whole, 2)},
                  {NARROW(panel_whole, 3)},
                  {NARROW(panel_whole, 4)},
                  {NARROW(panel_whole, 5)},
                  {NARROW(panel_whole, 6)}},
                 {{WIDE(panel_part, 1)},
                  {WIDE(panel_part, 2)},
                  {NARROW(panel_part, 3)},
                  {NARROW(panel_part, 4)},
                  {NARROW(panel_part, 5)},
                  {NARROW(panel_part, 6)}}},
};

static bool available(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

const struct cavs__gemm_provider cavs__gemm_avx2 = {
    .name = "avx2",
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

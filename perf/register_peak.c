/* SPDX-License-Identifier: Apache-2.0 */
/* register_peak.c - see register_peak.h. */
#include "perf/register_peak.h"

#include "perf/bench_products.h"

/* As many sums are under way as hide how long an addition takes, and they have registers. */
enum { SUMS = 12, STEPS = 20000 };

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

static volatile float seen; /* so that nobody leaves the sums out */

/* Each sum is s b + c again and again: it depends on itself, so the loop cannot be shortened. */
#define PEAK(name, target, bytes)                                                     \
    target static double name(void)                                                   \
    {                                                                                 \
        typedef float vec __attribute__((vector_size(bytes)));                        \
        vec s[SUMS], b = seen - (vec){} + 0.5f, c = b - 0.25f;                        \
        double start;                                                                 \
                                                                                      \
        UNROLL                                                                        \
        for (int i = 0; i < SUMS; i++)                                                \
            s[i] = b + (float)i;                                                      \
        start = bench_now();                                                          \
        for (int p = 0; p < STEPS; p++) {                                             \
            UNROLL                                                                    \
            for (int i = 0; i < SUMS; i++)                                            \
                s[i] = s[i] * b + c;                                                  \
        }                                                                             \
        start = bench_now() - start;                                                  \
        UNROLL                                                                        \
        for (int i = 1; i < SUMS; i++)                                                \
            s[0] += s[i];                                                             \
        seen = s[0][0] * 0;                                                           \
        return 2.0 * (double)STEPS * SUMS * ((bytes) / sizeof(float)) / start * 1e-9; \
    }

PEAK(peak_anywhere, , 16)
#ifdef __x86_64__
PEAK(peak_avx512, __attribute__((target("avx512f"))), 64)
PEAK(peak_avx2, __attribute__((target("avx2,fma"))), 32)
#endif

static double once(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f"))
        return peak_avx512();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return peak_avx2();
#endif
    return peak_anywhere();
}

/* The better of two: what interrupts one of them makes it seem slower than the core is. */
double register_peak(void)
{
    double a = once(), b = once();

    return a > b ? a : b;
}

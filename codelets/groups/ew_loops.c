/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_loops.c - one vector loop for every expression of elementwise.def.
 *
 * A kernel file, except that ew_math.def needs sums in the order in which they are written. gcc's
 * jump threading follows the two ends of a clamp separately, which costs more mask operations than
 * it saves (tanh 15 %).
 */
#if defined __clang__
#pragma clang fp reassociate(off)
#elif defined __GNUC__
#pragma GCC optimize("no-associative-math", "no-tree-pre", "no-thread-jumps")
#endif

#include <string.h>

#include "codelets/groups/ew_internal.h"
#include "codelets/products/simd.h"

#define EW_FN __attribute__((always_inline)) static inline

EW_FN unsigned ew_bits(float x)
{
    unsigned bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

EW_FN float ew_float(unsigned bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

EW_FN float ew_sqrt(float x)
{
    return sqrtf(x);
}

EW_FN float ew_abs(float x)
{
    return fabsf(x);
}

#define CAVS_EW_TEXT(...) __VA_ARGS__
#include "codelets/groups/ew_math.def"

#define LOOP(name, expression)                                                          \
    CAVS__CLONES static void name(int n, float *restrict out, const float *restrict a_, \
                                  const float *restrict b_, const float *restrict y_,   \
                                  const float *restrict g_, float s)                    \
    {                                                                                   \
        (void)s;                                                                        \
        _Pragma("omp simd") for (int i = 0; i < n; i++)                                 \
        {                                                                               \
            const float a = a_[i], b = b_[i], y = y_[i], g = g_[i];                     \
                                                                                        \
            (void)a, (void)b, (void)y, (void)g;                                         \
            out[i] = expression;                                                        \
        }                                                                               \
    }

#define CAVS_EW1(name, y, grad_a)         LOOP(name##_y, y) LOOP(name##_grad_a, grad_a)
#define CAVS_EW2(name, y, grad_a, grad_b) CAVS_EW1(name, y, grad_a) LOOP(name##_grad_b, grad_b)
#include "codelets/groups/elementwise.def"
#undef CAVS_EW1
#undef CAVS_EW2

static cavs__ew_loop *const loops[][3] = {
#define CAVS_EW1(name, y, grad_a)         {name##_y, name##_grad_a, NULL},
#define CAVS_EW2(name, y, grad_a, grad_b) {name##_y, name##_grad_a, name##_grad_b},
#include "codelets/groups/elementwise.def"
};

cavs__ew_loop *cavs__ew_loop_of(int op, int which)
{
    return loops[op][which];
}

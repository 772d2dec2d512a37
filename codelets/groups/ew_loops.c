/* SPDX-License-Identifier: Apache-2.0 */
/* ew_loops.c - one vector loop for every expression of elementwise.def. */
#include "codelets/kernels/vector_math.h"

#include "codelets/groups/ew_internal.h"
#include "codelets/products/simd.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector_math.h - the functions of ew_math.def, for the loops of a kernel file.
 *
 * They want sums in the order in which they are written; all of the file that includes this
 * header is compiled so.  gcc's jump threading follows the two ends of a clamp separately, which
 * costs more mask operations than it saves (tanh 15 %).
 */
#ifndef CAVS_CODELETS_KERNELS_VECTOR_MATH_H
#define CAVS_CODELETS_KERNELS_VECTOR_MATH_H

#if defined __clang__
#pragma clang fp reassociate(off)
#elif defined __GNUC__
#pragma GCC optimize("no-associative-math", "no-tree-pre", "no-thread-jumps")
#endif

#include <math.h>
#include <string.h>

/* A file need not use them all. */
#define EW_FN __attribute__((always_inline, unused)) static inline

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
#include "codelets/kernels/ew_math.def"
#undef CAVS_EW_TEXT

/* e^x of x <= 0, as a softmax takes it: relative error 2.1e-7, 0 below -87.7.  This is ew_exp() for
 * a loop that does nothing else, which waits for results and not for units: the polynomial is that
 * of ew_sigmoid(), taken by pairs of terms, and there is one clamp. */
EW_FN float cavs__exp_of_negative(float x)
{
    x = x < -88.0f ? -88.0f : x;
    const float t = x * 1.44269504f + 12583039.0f, k = t - 12583039.0f;
    const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f, square = r * r;
    const float high =
        (8.290297351e-3f * r + 4.189802157e-2f) * square + (0.1666763697f * r + 0.4999914885f);
    const float p = high * square + (0.9999997068f * r + 1.0f);

    return p * ew_float(ew_bits(t) << 23);
}

#endif

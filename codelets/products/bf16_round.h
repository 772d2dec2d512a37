/* SPDX-License-Identifier: Apache-2.0 */
/* bf16_round.h - one number as bfloat16 and back, in operations that compilers vectorise. */
#ifndef CAVS_CODELETS_PRODUCTS_BF16_ROUND_H
#define CAVS_CODELETS_PRODUCTS_BF16_ROUND_H

#include <stdint.h>
#include <string.h>

/* As the processor's own instruction does it: to the nearest, ties to even, NaN made quiet, numbers
 * below 2^-126 to zero. */
static inline uint32_t cavs__bf16_rounded(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    const uint32_t size = bits & 0x7fffffff, top = bits >> 16;
    const uint32_t nearest = (bits + 0x7fff + (top & 1)) >> 16;
    const uint32_t finite = size < 0x800000 ? top & 0x8000 : nearest;
    return size > 0x7f800000 ? top | 0x40 : finite;
}

static inline float cavs__bf16_widened(uint32_t number)
{
    float x;

    number <<= 16;
    memcpy(&x, &number, sizeof(x));
    return x;
}

#endif

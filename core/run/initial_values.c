/* SPDX-License-Identifier: Apache-2.0 */
/*
 * initial_values.c - the numbers that parameters start with: of a counter-based generator keyed by
 * seed and parameter name, so that a parameter's values do not depend on the others.
 */
#include <math.h>

#include "core/base/splitmix.h"
#include "core/run/window.h"

static uint64_t name_key(const char *name, uint64_t seed)
{
    uint64_t h = cavs__splitmix(seed ^ 0x632be59bd9b4e019u);

    for (; *name; name++)
        h = cavs__splitmix(h ^ (uint64_t)(unsigned char)*name);
    return h;
}

static double uniform01(uint64_t key, uint64_t i)
{
    return ((double)(cavs__splitmix(key ^ cavs__splitmix(i)) >> 11) + 0.5) * 0x1p-53;
}

/* Turns u into a number in [a, b), which rounding must not make b. */
static float uniform(float a, float b, double u)
{
    float x = (float)(a + ((double)b - a) * u);

    return x < b ? x : nextafterf(b, a);
}

static float initial_value(const struct cavs_init *init, uint64_t key, uint64_t i)
{
    double u = uniform01(key, 2 * i);

    switch (init->kind) {
    case CAVS_INIT_UNIFORM: return uniform(init->a, init->b, u);
    case CAVS_INIT_NORMAL: /* Box-Muller */
        return (float)(init->a +
                       init->b * sqrt(-2 * log(u)) * cos(2 * M_PI * uniform01(key, 2 * i + 1)));
    default: return init->a;
    }
}

void cavs__draw_initial(const struct cavs_param *p, uint64_t seed, float *values, ptrdiff_t ld)
{
    uint64_t key = name_key(p->name, seed);

    for (int r = 0; r < p->rows; r++) {
        for (int c = 0; c < p->cols; c++)
            values[r * ld + c] =
                initial_value(&p->init, key, (uint64_t)r * (uint64_t)p->cols + (uint64_t)c);
    }
}

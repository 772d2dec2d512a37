/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - small repeatable random numbers for tests (splitmix64), the same on every machine. */
#ifndef CAVS_TESTS_RANDOM_H
#define CAVS_TESTS_RANDOM_H

#include <stdint.h>

static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* An int in [lo, hi]. */
static inline int random_int(uint64_t *state, int lo, int hi)
{
    return lo + (int)(random_next(state) % (uint64_t)((int64_t)hi - lo + 1));
}

/* A double in [lo, hi). */
static inline double random_double(uint64_t *state, double lo, double hi)
{
    return lo + (hi - lo) * (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif

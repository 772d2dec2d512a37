/* SPDX-License-Identifier: Apache-2.0 */
/* xoshiro256** 1.0 and splitmix64 by D. Blackman and S. Vigna (public domain).  The library has a
 * splitmix64, too (core/base/splitmix.h), which is not part of its interface. */
#include "apps/common/random.h"

static uint64_t splitmix(uint64_t *x)
{
    uint64_t z = *x += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed, uint64_t stream)
{
    uint64_t x = splitmix(&seed) ^ stream;

    for (int i = 0; i < 4; i++)
        r->s[i] = splitmix(&x);
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(struct rng *r)
{
    uint64_t *s = r->s, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
    uint32_t unfair = -n % n; /* 2^32 mod n: this many values would come up once more often */
    uint64_t product;

    do
        product = (rng_next(r) >> 32) * n;
    while ((uint32_t)product < unfair);
    return product >> 32;
}

void rng_shuffle(struct rng *r, int *values, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = rng_below(r, i + 1), v = values[i];

        values[i] = values[j];
        values[j] = v;
    }
}

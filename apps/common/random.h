/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - the programs' random numbers: xoshiro256**, the same on every machine. */
#ifndef CAVS_APPS_RANDOM_H
#define CAVS_APPS_RANDOM_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

/* Streams of one seed are independent: one for each epoch's order, one for what is drawn in it. */
void rng_seed(struct rng *r, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *r);
/* Uniform in 0 .. n-1, without bias; n > 0. */
uint32_t rng_below(struct rng *r, uint32_t n);
/* Fisher-Yates. */
void rng_shuffle(struct rng *r, int *values, int n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * philox.h - the counter-based random numbers of dropout: Philox4x32-10 (Salmon, Moraes, Dror,
 * Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
 *
 * A counter and a key give four words; there is no state, so any number can be drawn anywhere,
 * again, in any order.  Column c of a row takes word (c mod 64) / 16 of counter ((c / 64) 16 + c
 * mod 16, site, 0, 0) with the row's key: 16 counters side by side serve 64 columns, vector by
 * vector.  The column is kept if the word is not below rate 2^32.
 */
#ifndef CAVS_CODELETS_KERNELS_PHILOX_H
#define CAVS_CODELETS_KERNELS_PHILOX_H

#include <stdint.h>

#define CAVS__PHILOX_M0 0xD2511F53u
#define CAVS__PHILOX_M1 0xCD9E8D57u
#define CAVS__PHILOX_W0 0x9E3779B9u
#define CAVS__PHILOX_W1 0xBB67AE85u

enum { CAVS__PHILOX_ROUNDS = 10 };

static inline void cavs__philox(const uint32_t counter[4], const uint32_t key[2], uint32_t word[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];

    for (uint32_t i = 0; i < CAVS__PHILOX_ROUNDS; i++) {
        const uint64_t p = (uint64_t)CAVS__PHILOX_M0 * c0, q = (uint64_t)CAVS__PHILOX_M1 * c2;

        c0 = (uint32_t)(q >> 32) ^ c1 ^ (key[0] + i * CAVS__PHILOX_W0);
        c2 = (uint32_t)(p >> 32) ^ c3 ^ (key[1] + i * CAVS__PHILOX_W1);
        c1 = (uint32_t)q;
        c3 = (uint32_t)p;
    }
    word[0] = c0;
    word[1] = c1;
    word[2] = c2;
    word[3] = c3;
}

/* Words below this drop their column. */
static inline uint32_t cavs__dropout_limit(float rate)
{
    return (uint32_t)((double)rate * 0x1p32);
}

#endif

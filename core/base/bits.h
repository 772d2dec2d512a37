/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bits.h - sets of small numbers as words, a bit for each.  A set that is compared with many places
 * of a longer one is kept from its own first number on: it is shifted to the place word by word.
 */
#ifndef CAVS_CORE_BASE_BITS_H
#define CAVS_CORE_BASE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CAVS__BITS_A_WORD = 64 };

/* How many words a set has of numbers below n. */
static inline size_t cavs__bit_words(size_t n)
{
    return (n + CAVS__BITS_A_WORD - 1) / CAVS__BITS_A_WORD;
}

static inline uint64_t cavs__bit(size_t i)
{
    return (uint64_t)1 << i % CAVS__BITS_A_WORD;
}

static inline void cavs__bits_add(uint64_t *set, size_t i)
{
    set[i / CAVS__BITS_A_WORD] |= cavs__bit(i);
}

/* Are all numbers of `part`, which has n words, in the set, each larger by `from`?  The set has the
 * words that these are in. */
static inline bool cavs__bits_include(const uint64_t *set, size_t from, const uint64_t *part,
                                      size_t n)
{
    const unsigned shift = from % CAVS__BITS_A_WORD;
    const uint64_t *at = set + from / CAVS__BITS_A_WORD;
    uint64_t missing = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t low = part[i] << shift, high = part[i] >> 1 >> (CAVS__BITS_A_WORD - 1 - shift);

        missing |= low & ~at[i];
        if (high)
            missing |= high & ~at[i + 1];
    }
    return missing == 0;
}

/* Takes the same numbers out of the set. */
static inline void cavs__bits_remove(uint64_t *set, size_t from, const uint64_t *part, size_t n)
{
    const unsigned shift = from % CAVS__BITS_A_WORD;
    uint64_t *at = set + from / CAVS__BITS_A_WORD;

    for (size_t i = 0; i < n; i++) {
        uint64_t high = part[i] >> 1 >> (CAVS__BITS_A_WORD - 1 - shift);

        at[i] &= ~(part[i] << shift);
        if (high)
            at[i + 1] &= ~high;
    }
}

#endif

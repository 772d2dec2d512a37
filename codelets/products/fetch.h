/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.h - numbers are on their way into the nearest cache before they are needed.
 *
 * A processor sees by itself what comes next in one array, not in the many short rows that a step
 * reads and writes: beyond the second-level cache (Intel Xeon with AMX, 64 MB) 19 GB/s are read and
 * 14 written so, and 28 where rows are fetched 2 KB ahead.
 */
#ifndef CAVS_CODELETS_PRODUCTS_FETCH_H
#define CAVS_CODELETS_PRODUCTS_FETCH_H

#include <stdbool.h>
#include <string.h>

#include "core/base/fetches.h"

enum { CAVS__FETCH_LINE = 16 }; /* float32 numbers in a cache line */

static inline bool cavs__is_amd(void)
{
#if defined __x86_64__
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

/* Whether a few arrays that are walked side by side, from their begin to their end, should be
 * fetched.  AMD's processors follow so many by themselves, and what is fetched beside is in their
 * way (Zen 4, five arrays from memory: 29 GB/s read, 9 with fetching; an update with Adam of 256 x
 * 1024, two copies of it included, 0.4 ms by whole rows, 0.7 ms with fetching). */
static inline bool cavs__streams_want_fetching(void)
{
    return !cavs__is_amd();
}

/* Whether much that is read later had better be written past the caches.  On AMD's processors other
 * cores' copies of a line are slow to take back.  Intel's write slowly past their caches, and have
 * room for it in the third one (a Xeon with AMX, that update of 256 x 1024: 0.55 ms in place of
 * 0.31; Tree-LSTM h 256, K 16, two workers: 0.34 ms an update in place of 0.23). */
static inline bool cavs__past_caches_pays(void)
{
    return cavs__is_amd();
}

/* n numbers that will be read; p may be NULL. */
CAVS__FETCHES void cavs__fetch(int n, const float *p)
{
    for (int j = 0; j < n && p; j += CAVS__FETCH_LINE)
        __builtin_prefetch(p + j, 0, 3);
}

/* n numbers that will be written. */
CAVS__FETCHES void cavs__fetch_to_write(int n, const float *p)
{
    for (int j = 0; j < n && p; j += CAVS__FETCH_LINE)
        __builtin_prefetch(p + j, 1, 3);
}

/* A row of n numbers.  Of memcpy() with a size that it knows not to be large gcc makes a
 * `rep movs`, which takes longer to begin than a short row to copy. */
static inline void cavs__copy_row(int n, const float *from, float *to)
{
    int j = 0;

    for (; j + CAVS__FETCH_LINE <= n; j += CAVS__FETCH_LINE)
        memcpy(to + j, from + j, CAVS__FETCH_LINE * sizeof *to);
    for (; j < n; j++)
        to[j] = from[j];
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stopwatch.h - how long a worker takes for something, where somebody asks. */
#ifndef CAVS_CORE_BASE_STOPWATCH_H
#define CAVS_CORE_BASE_STOPWATCH_H

#include <stdint.h>
#include <time.h>

static inline uint64_t cavs__nanoseconds_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* sum: of nanoseconds, that several workers add to; NULL: nobody asks. */
static inline uint64_t cavs__stopwatch_start(const uint64_t *sum)
{
    return sum ? cavs__nanoseconds_now() : 0;
}

static inline void cavs__stopwatch_stop(uint64_t *sum, uint64_t start)
{
    if (sum)
        __atomic_add_fetch(sum, cavs__nanoseconds_now() - start, __ATOMIC_RELAXED);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - growing arrays, for things that are built once. */
#ifndef CAVS_CORE_BASE_ARRAY_H
#define CAVS_CORE_BASE_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>

/* Bytes for one more element behind n, where there is no room for it; capacities are the powers of
 * two. */
static inline size_t cavs__array_bytes(int n, size_t size)
{
    return (n ? 2 * (size_t)n : 1) * size;
}

/* Makes room for one more element behind n. */
static inline bool cavs__array_room(void **array, int n, size_t size)
{
    void *p;

    if (*array && (n & (n - 1)) != 0)
        return true; /* n is no power of two: there is room up to the next one */
    p = realloc(*array, cavs__array_bytes(n, size));
    if (!p)
        return false;
    *array = p;
    return true;
}

/* Appends to `array` of `n` elements; false when out of memory. */
#define CAVS__APPEND(array, n, element)                        \
    (cavs__array_room((void **)&(array), (n), sizeof *(array)) \
         ? ((array)[(n)++] = (element), true)                  \
         : false)

#endif

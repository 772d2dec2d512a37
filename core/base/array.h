/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - arrays that grow by doubling. */
#ifndef CAVS_CORE_BASE_ARRAY_H
#define CAVS_CORE_BASE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The capacity that an array gets which has to have room for n elements: doubled as often as need
 * be. */
static inline size_t cavs__array_capacity(size_t capacity, size_t n)
{
    size_t want = capacity ? capacity : 1;

    while (want < n)
        want *= 2;
    return want;
}

/*
 * Makes room for n elements in the array that *array_pointer points to (NULL at first) and that has
 * room for *capacity of them.  Call it as cavs__array_reserve(&p, &cap, n, sizeof *p).  False when
 * memory is short: the array is then as it was.
 */
static inline bool cavs__array_reserve(void *array_pointer, size_t *capacity, size_t n, size_t size)
{
    size_t want;
    void *old, *grown;

    if (n <= *capacity)
        return true;
    if (n > SIZE_MAX / 2 / size)
        return false;
    want = cavs__array_capacity(*capacity, n);
    /* memcpy, because a pointer to int * must not be read as a void ** */
    memcpy(&old, array_pointer, sizeof old);
    grown = realloc(old, want * size);
    if (!grown)
        return false;
    memcpy(array_pointer, &grown, sizeof grown);
    *capacity = want;
    return true;
}

/* Bytes for one more element behind n, where there is no room for it: what a message says. */
static inline size_t cavs__array_bytes(int n, size_t size)
{
    return (n ? 2 * (size_t)n : 1) * size;
}

/* Makes room for one more element behind n that were appended one by one: n is then also the
 * capacity whenever there is no room. */
static inline bool cavs__array_room(void *array_pointer, int n, size_t size)
{
    size_t capacity = (size_t)n;

    return (n & (n - 1)) != 0 || cavs__array_reserve(array_pointer, &capacity, capacity + 1, size);
}

/* Appends to `array` of `n` elements; false when out of memory. */
#define CAVS__APPEND(array, n, element) \
    (cavs__array_room(&(array), (n), sizeof *(array)) ? ((array)[(n)++] = (element), true) : false)

#endif

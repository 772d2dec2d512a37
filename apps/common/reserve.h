/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.h - arrays that grow by doubling: every one of the programs'.  The library has its own
 * (core/base/array.h), which is not part of its interface. */
#ifndef CAVS_APPS_RESERVE_H
#define CAVS_APPS_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Makes room for n elements in the array that *array_pointer points to (NULL at first) and that has
 * room for *capacity of them.  Call it as array_reserve(&p, &cap, n, sizeof *p).  False when memory
 * is short: the array is then as it was.
 */
bool array_reserve(void *array_pointer, size_t *capacity, size_t n, size_t element_size);

#endif

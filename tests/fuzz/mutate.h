/* SPDX-License-Identifier: Apache-2.0 */
/* mutate.h - inputs that are a little different, the same ones every time. */
#ifndef CAVS_TESTS_FUZZ_MUTATE_H
#define CAVS_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Changes data, which has room for `room` bytes; returns the new size.  Equal seeds, equal
 * changes. */
size_t fuzz_mutate(uint8_t *data, size_t size, size_t room, uint64_t seed);

#endif

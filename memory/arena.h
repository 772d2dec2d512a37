/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory handed out piecemeal and taken back all at once, kept for the next use. */
#ifndef CAVS_MEMORY_ARENA_H
#define CAVS_MEMORY_ARENA_H

#include <stddef.h>

/* All zero at first. */
struct cavs__arena {
    struct cavs__arena_block *blocks, *current;
};
/* 16-byte aligned, not cleared; NULL when out of memory. */
void *cavs__arena_alloc(struct cavs__arena *a, size_t bytes);
/* Everything handed out is taken back. */
void cavs__arena_reset(struct cavs__arena *a);
void cavs__arena_free(struct cavs__arena *a);

#endif

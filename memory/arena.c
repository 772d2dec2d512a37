/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - see arena.h. */
#include "memory/arena.h"

#include <stdlib.h>

struct cavs__arena_block {
    struct cavs__arena_block *next;
    size_t used, size;
    _Alignas(16) char bytes[];
};

static struct cavs__arena_block *new_block(size_t bytes)
{
    size_t size = bytes > 65536 ? bytes : 65536;
    struct cavs__arena_block *b = malloc(sizeof *b + size);

    if (b) {
        b->next = NULL;
        b->used = 0;
        b->size = size;
    }
    return b;
}

void *cavs__arena_alloc(struct cavs__arena *a, size_t bytes)
{
    struct cavs__arena_block **link = a->current ? &a->current : &a->blocks;
    void *p;

    bytes = (bytes + 15) & ~(size_t)15;
    while (*link && (*link)->size - (*link)->used < bytes)
        link = &(*link)->next;
    if (!*link && !(*link = new_block(bytes)))
        return NULL;
    a->current = *link;
    p = a->current->bytes + a->current->used;
    a->current->used += bytes;
    return p;
}

void cavs__arena_reset(struct cavs__arena *a)
{
    for (struct cavs__arena_block *b = a->blocks; b; b = b->next)
        b->used = 0;
    a->current = a->blocks;
}

void cavs__arena_free(struct cavs__arena *a)
{
    while (a->blocks) {
        struct cavs__arena_block *next = a->blocks->next;

        free(a->blocks);
        a->blocks = next;
    }
    a->current = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* distinct.c - numbers rows so that equal ones get the same number. */
#include "scheduler/schedule.h"

#include <stdlib.h>
#include <string.h>

static uint32_t hash_keys(const int32_t *keys, int nkeys)
{
    uint32_t h = 0x9e3779b9u;

    for (int k = 0; k < nkeys; k++) {
        h = (h ^ (uint32_t)keys[k]) * 0x85ebca6bu;
        h ^= h >> 15;
    }
    return h;
}

static int reserve(struct cavs__distinct_scratch *scratch, int n)
{
    size_t cap = 64;
    int32_t *p;

    while (cap < 2 * (size_t)n)
        cap *= 2;
    if (cap > scratch->cap) {
        p = realloc(scratch->table, cap * sizeof *p);
        if (!p)
            return -1;
        scratch->table = p;
        scratch->cap = cap;
    }
    scratch->mask = cap - 1;
    memset(scratch->table, 0, cap * sizeof *scratch->table);
    return 0;
}

int cavs__distinct(int n, int nkeys, const int32_t *keys, int32_t *number, int32_t *first,
                   struct cavs__distinct_scratch *scratch)
{
    size_t size = (size_t)nkeys * sizeof *keys;
    int found = 0;

    if (reserve(scratch, n) != 0)
        return -1;
    for (int i = 0; i < n; i++) {
        const int32_t *key = keys + (ptrdiff_t)i * nkeys;
        size_t at = hash_keys(key, nkeys) & scratch->mask;
        int32_t *place;

        while (*(place = &scratch->table[at]) &&
               memcmp(keys + (ptrdiff_t)first[*place - 1] * nkeys, key, size) != 0)
            at = (at + 1) & scratch->mask;
        if (!*place) {
            first[found] = i;
            *place = ++found;
        }
        number[i] = *place - 1;
    }
    return found;
}

void cavs__distinct_scratch_free(struct cavs__distinct_scratch *scratch)
{
    free(scratch->table);
    *scratch = (struct cavs__distinct_scratch){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* distinct.c - numbers rows so that equal ones get the same number. */
#include "scheduler/schedule.h"

static uint32_t hash_keys(const int32_t *keys, int nkeys)
{
    uint64_t h = (uint64_t)nkeys;

    for (int k = 0; k < nkeys; k++)
        h = cavs__mix(h, (uint32_t)keys[k]);
    return cavs__mixed(h);
}

int cavs__distinct(int n, int nkeys, const int32_t *keys, int32_t *number, int32_t *first,
                   struct cavs__table *scratch)
{
    size_t size = (size_t)nkeys * sizeof *keys;
    int found = 0;

    if (!cavs__table_begin(scratch, (size_t)n))
        return -1;
    for (int i = 0; i < n; i++) {
        const int32_t *key = keys + (ptrdiff_t)i * nkeys;
        struct cavs__probe p = cavs__table_probe(scratch, hash_keys(key, nkeys));
        int32_t d;

        while ((d = cavs__probe_at(&p)) >= 0 &&
               memcmp(keys + (ptrdiff_t)first[d] * nkeys, key, size) != 0)
            cavs__probe_step(&p);
        if (d < 0) {
            d = found++;
            first[d] = i;
            cavs__probe_put(&p, d);
        }
        number[i] = d;
    }
    return found;
}

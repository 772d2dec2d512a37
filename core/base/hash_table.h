/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_table.h - hash tables, by open addressing, of things that lie elsewhere: a table keeps their
 * numbers and hashes, and whoever looks for one compares:
 *
 *     struct cavs__probe p = cavs__table_probe(&table, hash);
 *     int32_t i;
 *
 *     for (; (i = cavs__probe_at(&p)) >= 0; cavs__probe_step(&p))
 *         if (equal(i, wanted))
 *             return i;
 *     cavs__probe_put(&p, number of the wanted one);
 *
 * All of it is inline, because schedules look up every vertex of a batch.
 */
#ifndef CAVS_CORE_BASE_HASH_TABLE_H
#define CAVS_CORE_BASE_HASH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct cavs__table_entry {
    uint32_t hash;  /* spares most comparisons of what is not equal */
    int32_t number; /* -1: free */
};

/* All zero at first. */
struct cavs__table {
    struct cavs__table_entry *entries; /* [mask + 1], at most half of them used */
    size_t mask;
    int shift;    /* an entry's place is the upper bits of its hash */
    size_t bytes; /* of memory at `entries` */
};

/* ---- hashes ---- */

/* The hash of what was mixed before, h, or of nothing, 0, and x. */
static inline uint64_t cavs__mix(uint64_t h, uint64_t x)
{
    return ((h << 26 | h >> 38) ^ x) * UINT64_C(0x9e3779b97f4a7c15);
}

/* For a table: the upper bits depend on all that was mixed. */
static inline uint32_t cavs__mixed(uint64_t h)
{
    return (uint32_t)(h >> 32);
}

/* ---- memory ---- */

static inline int cavs__table_bits(size_t n)
{
    int bits = 4;

    while ((size_t)1 << bits < 2 * n)
        bits++;
    return bits;
}

/* What a table of n things takes. */
static inline size_t cavs__table_bytes(size_t n)
{
    return sizeof(struct cavs__table_entry) << cavs__table_bits(n);
}

/* Empties a table that has memory enough for n things. */
static inline void cavs__table_empty(struct cavs__table *t, size_t n)
{
    int bits = cavs__table_bits(n);

    t->mask = ((size_t)1 << bits) - 1;
    t->shift = 32 - bits;
    memset(t->entries, -1, cavs__table_bytes(n));
}

static inline void cavs__table_free(struct cavs__table *t)
{
    free(t->entries);
    *t = (struct cavs__table){0};
}

/* Empties a table and makes room for n things.  False when memory is short: it has none then. */
static inline bool cavs__table_begin(struct cavs__table *t, size_t n)
{
    size_t bytes = cavs__table_bytes(n);

    if (bytes > t->bytes) {
        cavs__table_free(t);
        t->entries = malloc(bytes);
        if (!t->entries)
            return false;
        t->bytes = bytes;
    }
    cavs__table_empty(t, n);
    return true;
}

/* Makes it have what another one has.  False when memory is short: it is then as it was. */
static inline bool cavs__table_become(struct cavs__table *t, const struct cavs__table *as)
{
    size_t bytes = as->entries ? (as->mask + 1) * sizeof *as->entries : 0;

    if (bytes > t->bytes) {
        struct cavs__table_entry *entries = malloc(bytes);

        if (!entries)
            return false;
        free(t->entries);
        t->entries = entries;
        t->bytes = bytes;
    }
    if (bytes > 0)
        memcpy(t->entries, as->entries, bytes);
    t->mask = as->mask;
    t->shift = as->shift;
    return true;
}

/* ---- looking ---- */

struct cavs__probe {
    struct cavs__table_entry *entries;
    size_t at, mask;
    uint32_t hash;
};

static inline struct cavs__probe cavs__table_probe(const struct cavs__table *t, uint32_t hash)
{
    return (struct cavs__probe){t->entries, hash >> t->shift, t->mask, hash};
}

/* Whoever will look for many of known hashes has their places fetched first. */
static inline void cavs__table_fetch(const struct cavs__table *t, uint32_t hash)
{
    __builtin_prefetch(&t->entries[hash >> t->shift], 1);
}

static inline void cavs__probe_step(struct cavs__probe *p)
{
    p->at = (p->at + 1) & p->mask;
}

/* The number of the thing of that hash here or next, in the order in which they were put; -1: there
 * is no more. */
static inline int32_t cavs__probe_at(struct cavs__probe *p)
{
    const struct cavs__table_entry *e;

    while ((e = &p->entries[p->at])->number >= 0 && e->hash != p->hash)
        cavs__probe_step(p);
    return e->number;
}

/* Puts a thing where there was no more. */
static inline void cavs__probe_put(const struct cavs__probe *p, int32_t number)
{
    p->entries[p->at] = (struct cavs__table_entry){p->hash, number};
}

/* Puts a thing behind all of its hash. */
static inline void cavs__table_put(const struct cavs__table *t, uint32_t hash, int32_t number)
{
    struct cavs__probe p = cavs__table_probe(t, hash);

    while (cavs__probe_at(&p) >= 0)
        cavs__probe_step(&p);
    cavs__probe_put(&p, number);
}

/* Makes room for n things; those in the table stay, but those of one hash may come in another
 * order.  False when memory is short: the table is then as it was. */
static inline bool cavs__table_grow(struct cavs__table *t, size_t n)
{
    struct cavs__table grown = {0};

    if (t->entries && 2 * n <= t->mask + 1)
        return true;
    if (!cavs__table_begin(&grown, n))
        return false;
    for (size_t i = 0; t->entries && i <= t->mask; i++) {
        if (t->entries[i].number >= 0)
            cavs__table_put(&grown, t->entries[i].hash, t->entries[i].number);
    }
    cavs__table_free(t);
    *t = grown;
    return true;
}

#endif

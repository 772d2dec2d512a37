/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.c - numbers equal rows of pulled floats alike, once when samples are added, so that
 * schedules can tell equal vertices by comparing integers.  Open addressing; a row's number is the
 * position of the first row equal to it.
 */
#include <stdlib.h>
#include <string.h>

#include "core/data/adding.h"
#include "core/base/error.h"

static uint64_t hash_row(const void *row, size_t size)
{
    const unsigned char *p = row;
    uint64_t h = 0x9e3779b97f4a7c15u, word;

    for (; size >= sizeof word; size -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = (h ^ word) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    for (; size > 0; size--, p++)
        h = (h ^ *p) * 0x100000001b3u;
    return h ^ (h >> 29);
}

static const char *row_at(const struct cavs__column *rows, size_t i)
{
    return (const char *)rows->p + i * rows->size;
}

/* The place of row i in the table: where an equal row is, or the free place for it. */
static int32_t *lookup(const struct cavs__intern *t, const struct cavs__column *rows, size_t i)
{
    size_t at = hash_row(row_at(rows, i), rows->size) & (t->cap - 1);

    while (t->table[at] &&
           memcmp(row_at(rows, (size_t)t->table[at] - 1), row_at(rows, i), rows->size) != 0)
        at = (at + 1) & (t->cap - 1);
    return &t->table[at];
}

static int grow(struct cavs__intern *t, const struct cavs__column *rows)
{
    struct cavs__intern old = *t;

    t->cap = old.cap ? 2 * old.cap : 1024;
    t->table = calloc(t->cap, sizeof *t->table);
    if (!t->table) {
        *t = old;
        return cavs__fail_nomem("equal rows", (old.cap ? 2 * old.cap : 1024) * sizeof *t->table);
    }
    for (size_t i = 0; i < old.cap; i++) {
        if (old.table[i])
            *lookup(t, rows, (size_t)old.table[i] - 1) = old.table[i];
    }
    free(old.table);
    return CAVS_OK;
}

/* In the table if no row before it is equal to it. */
static int32_t *add_row(struct cavs__intern *t, const struct cavs__column *rows, size_t i)
{
    int32_t *place = lookup(t, rows, i);

    if (!*place) {
        *place = (int32_t)i + 1;
        t->n++;
    }
    return place;
}

int cavs__intern_row(struct cavs__intern *t, const struct cavs__column *rows, size_t i,
                     int32_t *number)
{
    if (2 * (t->n + 1) > t->cap) {
        int rc = grow(t, rows);

        if (rc)
            return rc;
    }
    *number = *add_row(t, rows, i) - 1;
    return CAVS_OK;
}

void cavs__intern_again(struct cavs__intern *t, const struct cavs__column *rows, size_t n)
{
    if (!t->table)
        return;
    memset(t->table, 0, t->cap * sizeof *t->table);
    t->n = 0;
    for (size_t i = 0; i < n; i++)
        add_row(t, rows, i);
}

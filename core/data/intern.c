/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intern.c - numbers equal rows of pulled floats alike, once when samples are added, so that
 * schedules can tell equal vertices by comparing integers.  A row's number is the position of the
 * first row equal to it.
 */
#include <string.h>

#include "core/base/error.h"
#include "core/data/adding.h"

static uint32_t hash_row(const void *row, size_t size)
{
    const unsigned char *p = row;
    uint64_t h = size, word;

    for (; size >= sizeof word; size -= sizeof word, p += sizeof word) {
        memcpy(&word, p, sizeof word);
        h = cavs__mix(h, word);
    }
    for (; size > 0; size--, p++)
        h = cavs__mix(h, *p);
    return cavs__mixed(h);
}

static const char *row_at(const struct cavs__column *rows, size_t i)
{
    return (const char *)rows->p + i * rows->size;
}

/* Puts row i into the table if no row there is equal to it; returns its number. */
static int32_t look_up(struct cavs__intern *t, const struct cavs__column *rows, size_t i)
{
    const char *row = row_at(rows, i);
    struct cavs__probe p = cavs__table_probe(&t->table, hash_row(row, rows->size));
    int32_t other;

    for (; (other = cavs__probe_at(&p)) >= 0; cavs__probe_step(&p)) {
        if (memcmp(row_at(rows, (size_t)other), row, rows->size) == 0)
            return other;
    }
    cavs__probe_put(&p, (int32_t)i);
    t->n++;
    return (int32_t)i;
}

int cavs__intern_row(struct cavs__intern *t, const struct cavs__column *rows, size_t i,
                     int32_t *number)
{
    if (!cavs__table_grow(&t->table, t->n + 1))
        return cavs__fail_nomem("equal rows", cavs__table_bytes(t->n + 1));
    *number = look_up(t, rows, i);
    return CAVS_OK;
}

void cavs__intern_again(struct cavs__intern *t, const struct cavs__column *rows, size_t n)
{
    if (!t->table.entries)
        return;
    cavs__table_empty(&t->table, t->n);
    t->n = 0;
    for (size_t i = 0; i < n; i++)
        look_up(t, rows, i);
}

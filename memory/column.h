/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column.h - an array that grows by appending: the columns that samples consist of.
 *
 * Its elements are in memory, or in a temporary file that is mapped and grows with it (so that
 * columns may be larger than memory), or in pages of somebody else's mapped file, which do not
 * grow: one after the other, or in records, between elements of other columns.
 */
#ifndef CAVS_MEMORY_COLUMN_H
#define CAVS_MEMORY_COLUMN_H

#include <stddef.h>

enum cavs__storage { CAVS__IN_MEMORY, CAVS__IN_FILE, CAVS__IN_PAGES, CAVS__IN_RECORDS };

/* A zeroed one with its size set is empty and in memory. */
struct cavs__column {
    void *p;
    size_t n, cap, size; /* elements, and bytes of one */
    enum cavs__storage storage;
    int fd;           /* of the temporary file */
    const char *path; /* of what the file becomes a part of, for messages; not owned */
    int number;       /* among those that records consist of */
};

/* Room for n more elements; append copies them there, or zeros if values is NULL.  0 or a
 * cavs_error. */
int cavs__column_room(struct cavs__column *c, size_t n);
int cavs__column_append(struct cavs__column *c, const void *values, size_t n);
/* Element i, or what lies behind the last one, of a column that is not in records.  One that never
 * had an element has no memory: NULL. */
static inline const void *cavs__column_at(const struct cavs__column *c, size_t i)
{
    return c->p ? (const char *)c->p + i * c->size : NULL;
}
/* Moves a column from memory into a temporary file in the folder of `path`, without a name; `path`
 * has to last as long as the column. */
int cavs__column_to_file(struct cavs__column *c, const char *path);
void cavs__column_free(struct cavs__column *c);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h - pieces of text one behind another, found by their number: words or lines as they were
 * written. */
#ifndef CAVS_APPS_TEXTS_H
#define CAVS_APPS_TEXTS_H

#include <stdbool.h>
#include <stddef.h>

/* Start from a zeroed struct. */
struct texts {
    size_t n;
    size_t *at;  /* [n]: where each begins in bytes */
    char *bytes; /* each with a NUL behind it */
    size_t used, at_cap, bytes_cap;
};

/* Adds a piece without NUL bytes; false when memory is short, and nothing is added. */
bool texts_add(struct texts *t, const char *text, size_t length);
/* Forgets all but the first n (at most as many as there are); their memory is used again. */
void texts_keep(struct texts *t, size_t n);
void texts_clear(struct texts *t);

/* Valid until the next call that adds to them. */
static inline const char *texts_get(const struct texts *t, size_t i)
{
    return t->bytes + t->at[i];
}

#endif

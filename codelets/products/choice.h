/* SPDX-License-Identifier: Apache-2.0 */
/*
 * choice.h - which of several sources of products this process uses: the one that a variable of the
 * environment names, or else the first that works here.
 */
#ifndef CAVS_CODELETS_PRODUCTS_CHOICE_H
#define CAVS_CODELETS_PRODUCTS_CHOICE_H

#include <stdatomic.h>
#include <stdbool.h>

struct cavs__choice {
    const char *variable;
    const char *what;           /* they are sources of, for the notice about a name that is none */
    const char *(*name)(int i); /* NULL behind the last, which works everywhere */
    bool (*available)(int i);
    atomic_int made; /* its number + 1; 0: not yet */
};

int cavs__make_choice(struct cavs__choice *c);

/* The number of the chosen one. */
static inline int cavs__choice(struct cavs__choice *c)
{
    int made = atomic_load_explicit(&c->made, memory_order_acquire);

    return made ? made - 1 : cavs__make_choice(c);
}

#endif

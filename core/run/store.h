/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store.h - parameters as they are stored: values, copies in other layouts, and what the optimizer
 * keeps.  Sessions that share parameters have one store; any of them may be destroyed first.
 */
#ifndef CAVS_CORE_RUN_STORE_H
#define CAVS_CORE_RUN_STORE_H

#include "codelets/copies.h"
#include "core/declare/model.h"
#include "memory/tensor.h"

/* A parameter, or several that are stored side by side. */
struct cavs__store_entry {
    char *names; /* names of all parameters that it holds, in order */
    int users;   /* how many sessions have it */
    int rows, cols;
    bool filled; /* it has been given its first values */
    struct cavs__tensor value, state[2];
    int states_from; /* the first row of the states, of which each of several ranks has some rows */
    uint64_t layout; /* who has which, see cavs__layout_of_shares(); 0: there are no states */
    struct cavs__tensor copies[CAVS__LAYOUTS]; /* that some session reads; without chunks: none */
};

struct cavs__store {
    int users; /* how many sessions use the store */
    int n;
    struct cavs__store_entry **all;
    long step;    /* updates done, Adam's t */
    bool lost;    /* some parameters were updated and some not */
    bool trained; /* some session has an optimizer, by this */
    int rule;     /* rule */
};

/* Has this copy or state been made? */
static inline bool cavs__is_there(const struct cavs__tensor *t)
{
    return t->chunks && t->chunks[0].rows > 0;
}

/* Opens a store of its own for a session, or the store of another one. */
int cavs__store_open(struct cavs__store *other, struct cavs__store **out);
void cavs__store_close(struct cavs__store *s);
/* All sessions of a store that train have one rule: that of the first one that could be made. */
int cavs__store_check_rule(const struct cavs__store *s, int rule);
void cavs__store_set_rule(struct cavs__store *s, int rule);
/* Takes the entry of p, which may hold several others, by their names; it is made if there is
 * none. */
int cavs__store_take(struct cavs__store *s, const struct cavs_param *p,
                     struct cavs__store_entry **out);
/* Gives back an entry, once for each time that it was taken.  NULL: does nothing. */
void cavs__store_give_back(struct cavs__store *s, struct cavs__store_entry *p);

#endif

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
    char *names; /* of all that it holds, in order */
    int users;   /* sessions that have it */
    int rows, cols;
    bool filled; /* it has its first values */
    struct cavs__tensor value, state[2];
    int states_from; /* the first row that the states have: of several ranks, each has some */
    uint64_t layout; /* who has which, see cavs__layout_of_shares(); 0: there are no states */
    struct cavs__tensor copies[CAVS__LAYOUTS]; /* that some session reads; without chunks: none */
};

struct cavs__store {
    int users; /* sessions */
    int n;
    struct cavs__store_entry **all;
    long step;    /* updates done, Adam's t */
    bool lost;    /* some parameters were updated and some not */
    bool trained; /* some session has an optimizer: */
    int rule;     /* which */
};

/* Has a copy or state been made? */
static inline bool cavs__is_there(const struct cavs__tensor *t)
{
    return t->chunks && t->chunks[0].rows > 0;
}

/* A store of its own for a session, or that of another one. */
int cavs__store_open(struct cavs__store *other, struct cavs__store **out);
void cavs__store_close(struct cavs__store *s);
/* Sessions that train have one rule. */
int cavs__store_set_rule(struct cavs__store *s, int rule);
/* p, which may hold several others: by their names, made if there is none of them. */
int cavs__store_take(struct cavs__store *s, const struct cavs_param *p,
                     struct cavs__store_entry **out);
/* Once for each that was taken; NULL: nothing. */
void cavs__store_give_back(struct cavs__store *s, struct cavs__store_entry *p);

#endif

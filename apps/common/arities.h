/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arities.h - which numbers of children occur in trees, and so which vertex functions the stage
 * "tree" has.
 *
 * There is a function for each number of children that occurs: leaf, inner1, inner2, ...  From
 * ARITY_MANY children on they share one, which reads its children all alike (cavs_each_child):
 * "many".  A function that names each of its children grows with them, and so does the time to
 * compile it.
 */
#ifndef CAVS_APPS_ARITIES_H
#define CAVS_APPS_ARITIES_H

#include <stdbool.h>

#include "apps/common/forest.h"

enum { ARITY_MANY = 9 };

struct arities {
    int n;         /* vertex functions */
    int *children; /* [n] how many children the vertices of each have, increasing */
    size_t cap;    /* room in children */
    bool many;     /* the last is for ARITY_MANY children and more */
};

#define ARITY_NAME_SIZE 32

/* Start from a zeroed struct. */
void arities_clear(struct arities *a);
/* There are vertices with so many children.  0, or CAVS_ENOMEM. */
int arities_note(struct arities *a, int children);
/* The same for all vertices of a tree. */
int arities_note_tree(struct arities *a, const struct tree *t);
/* Number of the function for so many children; -1: none. */
int arities_function(const struct arities *a, int children);
/* What function i is called. */
const char *arities_name(const struct arities *a, int i, char name[ARITY_NAME_SIZE]);
/* Appends the function of that name, which may also be one for a number of children from ARITY_MANY
 * on.  0, CAVS_ENOMEM, or CAVS_EDATA: it is none of these names, or not for more children than the
 * one before. */
int arities_append(struct arities *a, const char *name);

#endif

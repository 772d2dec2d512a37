/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/arities.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"
#include "core/cavs.h"

void arities_clear(struct arities *a)
{
    free(a->children);
    *a = (struct arities){0};
}

static int insert(struct arities *a, int at, int children)
{
    if (!array_reserve(&a->children, &a->cap, (size_t)a->n + 1, sizeof *a->children))
        return CAVS_ENOMEM;
    memmove(a->children + at + 1, a->children + at, (size_t)(a->n - at) * sizeof *a->children);
    a->children[at] = children;
    a->n++;
    return 0;
}

int arities_note(struct arities *a, int children)
{
    int at = 0;

    if (children > ARITY_MANY)
        children = ARITY_MANY;
    while (at < a->n && a->children[at] < children)
        at++;
    a->many |= children == ARITY_MANY;
    return at < a->n && a->children[at] == children ? 0 : insert(a, at, children);
}

int arities_note_tree(struct arities *a, const struct tree *t)
{
    int rc = 0;

    for (int v = 0; v < t->n && rc == 0; v++)
        rc = arities_note(a, tree_arity(t, v));
    return rc;
}

int arities_function(const struct arities *a, int children)
{
    for (int i = 0; i < a->n && a->children[i] <= children; i++)
        if (a->children[i] == children || (a->many && i == a->n - 1))
            return i;
    return -1;
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *arities_name(const struct arities *a, int i, char name[ARITY_NAME_SIZE])
{
    if (a->many && i == a->n - 1)
        return "many";
    if (a->children[i] == 0)
        return "leaf";
    snprintf(name, ARITY_NAME_SIZE, "inner%d", a->children[i]);
    return name;
}

/* 3 for "inner3", 0 for "leaf", -1 for what is no name of a function. */
static int children_of(const char *function)
{
    int children, end = 0;

    if (strcmp(function, "leaf") == 0)
        return 0;
    if (strcmp(function, "many") == 0)
        return ARITY_MANY;
    return sscanf(function, "inner%d%n", &children, &end) == 1 && !function[end] && children > 0
               ? children
               : -1;
}

int arities_append(struct arities *a, const char *name)
{
    int children = children_of(name), last = a->n > 0 ? a->children[a->n - 1] : -1;

    if (children <= last || a->many || (a->n == 0 && children != 0))
        return CAVS_EDATA;
    a->many = strcmp(name, "many") == 0;
    return insert(a, a->n, children);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * forest.h - labelled trees in memory, as the readers deliver them.
 *
 * Vertices of a tree are numbered from 0 so that children come before their parent: the root is the
 * last one.  Leaves carry a word, inner vertices children; every vertex carries a label.  The
 * arrays of a tree have the form which cavs_data_graph() and cavs_data_ids() take.
 */
#ifndef CAVS_APPS_FOREST_H
#define CAVS_APPS_FOREST_H

#include <stddef.h>
#include <stdint.h>

#include "apps/common/app_error.h"
#include "apps/common/texts.h"

struct forest {
    int trees;
    size_t vertices;
    size_t *first;  /* [trees + 1]: tree t has the vertices first[t] .. first[t+1] of all */
    size_t *line;   /* [trees]: where in its file the tree began */
    int *label;     /* [vertices]; -1: unknown */
    int *word;      /* [vertices]: -1 at inner vertices */
    int *child_ptr; /* [vertices + trees]: n + 1 numbers a tree */
    int *children;  /* [vertices - trees]: every vertex but the root is somebody's child */
    /* [vertices]: words as they were written, "" at inner vertices; or empty, if not wanted */
    struct texts texts;
    size_t first_cap, line_cap, label_cap, word_cap, ptr_cap, children_cap;
};

/* One tree of it; the arrays belong to the forest. */
struct tree {
    int n;
    size_t line;
    const int *label, *word;
    const int *child_ptr, *children;
};

struct forest_stats {
    int64_t leaves, vertices;
    int max_leaves, max_vertices;
    int max_levels; /* vertices on the longest path from a leaf to its root; 1 for a lone leaf */
    int max_word;   /* -1 without words */
};

/* Is given one tree after the other, instead of a forest that holds all; what is negative ends the
 * reading. */
struct tree_visitor {
    int (*each)(void *context, const struct tree *tree, struct app_error *e);
    void *context;
};

/* Start from a zeroed struct. */
void forest_clear(struct forest *f);
/* No trees are left; their memory is used again. */
void forest_empty(struct forest *f);
/* Forgets the tree under construction. */
void forest_drop_vertices(struct forest *f);

/* Adds the next vertex of the tree under construction and returns its number in that tree, or a
 * negative code.  The children have been added before; word is -1 for an inner vertex. */
int forest_add_vertex(struct forest *f, int label, int word, int n, const int *children,
                      struct app_error *e);
/* The vertices added since the last call are a tree that began on that line; 0 or a negative
 * code. */
int forest_end_tree(struct forest *f, size_t line, struct app_error *e);

struct tree forest_tree(const struct forest *f, int t);
/* The word of a leaf as it was written, if the reader was asked to keep it. */
static inline const char *forest_text(const struct forest *f, int t, int v)
{
    return texts_get(&f->texts, f->first[t] + v);
}
/* Gives each tree to the visitor and empties the forest; 0, or the first negative number it
 * returned. */
int forest_visit(struct forest *f, const struct tree_visitor *visitor, struct app_error *e);
static inline int tree_arity(const struct tree *t, int v)
{
    return t->child_ptr[v + 1] - t->child_ptr[v];
}

/* 0, or CAVS_ENOMEM. */
int forest_measure(const struct forest *f, struct forest_stats *out, struct app_error *e);

#endif

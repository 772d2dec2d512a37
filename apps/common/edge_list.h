/* SPDX-License-Identifier: Apache-2.0 */
/*
 * edge_list.h - a graph of named nodes with features and classes, in the text files of Cora:
 *
 *     content   a node a line: its name, its features (numbers), its class
 *     cites     an edge a line: the names of two nodes, as "to from": the second cites the first
 *     split     the numbers of some nodes, from 0 in the order of content, one a line
 *
 * between spaces or tabs.  In content that is to be classified the class may be missing.  A split
 * may have headings, which end with ':'; numbers under a heading are nodes if it says "Indices",
 * and under one that says "Number" how many nodes there are to be; others are skipped.
 */
#ifndef CAVS_APPS_EDGE_LIST_H
#define CAVS_APPS_EDGE_LIST_H

#include <stdbool.h>

#include "apps/common/app_error.h"
#include "apps/common/vocab.h"

/* What a model expects of a graph; all zero: nothing. */
struct edge_list_form {
    int width;                   /* features of a node; 0: as many as the first one has */
    const struct vocab *classes; /* there are no others; NULL: they are numbered as they come */
    bool unlabelled;             /* with a width: classes may be missing, and are not looked at */
};

struct edge_list {
    struct edge_list_form form;
    int n, width;         /* nodes, and features of each */
    float *feature;       /* [n][width] */
    int *label;           /* [n]: classes from 0, class c is the word c + 1; -1: unlabelled */
    struct vocab *names;  /* node v is the word v + 1: 0 is <unk>, as in all vocabularies */
    struct vocab *labels; /* of form.classes, if these are there, none is kept here */
    int nedges;
    int *from, *to; /* [nedges] */
    size_t feature_cap, label_cap, from_cap, to_cap;
};

/*
 * Reads content and cites.  0, or a negative code with a message that says file, line and column,
 * what was expected there and what was found: every node once and with as many features as the
 * first, edges between nodes that are there.  Start from a struct that is zero but for its form,
 * and clear it in both cases.
 */
int edge_list_load(const char *content, const char *cites, struct edge_list *out,
                   struct app_error *e);
void edge_list_clear(struct edge_list *g);

/* Reads a split of a graph with n nodes: *count of them in *nodes, to be freed by the caller. */
int edge_list_split(const char *path, int n, int **nodes, int *count, struct app_error *e);

#endif

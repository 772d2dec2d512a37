/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conllu.h - sentences in the CoNLL-U format of Universal Dependencies: a word a line, ten columns between tabs, an
 * empty line after each sentence, comments that begin with '#'.
 *
 *     ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
 *
 * Words are numbered 0 .. n-1 in the order of the sentence (their ID less one).  HEAD and DEPREL make them a tree.
 * DEPS makes the words and the empty nodes (ID 5.1) a graph, in which a node may have several heads and which may have
 * cycles; empty nodes are numbered n, n + 1, ... in the order of the file.  Lines of multi-word tokens (ID 3-4) only
 * say how words are written: they are checked and left out.
 */
#ifndef CAVS_APPS_CONLLU_H
#define CAVS_APPS_CONLLU_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/common/error.h"
#include "apps/common/vocab.h"

enum { CONLLU_ROOT = -1 }; /* in place of a head */

/* An entry of DEPS: node `head` (or the root) has node `node` as its dependent. */
struct conllu_edge {
    int node, head, relation;
};

struct conllu_sentence {
    size_t line;         /* where its first word stands */
    int n, nodes;        /* words; words and empty nodes */
    const int *form;     /* [nodes] */
    const int *upos;     /* [nodes] */
    const int *head;     /* [n]: a word, or CONLLU_ROOT for exactly one */
    const int *relation; /* [n] */
    const struct conllu_edge
        *edges; /* [nedges], nodes in ascending order (empty nodes where they stand) */
    int nedges;
};

struct conllu_options {
    struct vocab *forms, *upos, *relations, *deps; /* NULL: not wanted, and 0 in the sentence */
    bool grow_forms,
        grow_tags; /* new ones are added to the vocabulary; without it they become <unk> */
    bool lower;    /* forms with ASCII capitals made small */
};

/* Is given one sentence after the other; the arrays are the reader's.  What is negative ends the reading. */
struct conllu_visitor {
    int (*each)(void *context, const struct conllu_sentence *s, struct app_error *e);
    void *context;
};

/*
 * Reads a file to its end, one sentence at a time.  0, what the visitor returned, or a negative code with a message that
 * says file, line and column, what was expected there and what was found.
 */
int conllu_read(const char *path, const struct conllu_options *options,
                const struct conllu_visitor *visitor, struct app_error *e);

/* Trees and graphs in the form of cavs_data_graph(), children of a node in ascending order: head -> dependents.
 * child_ptr has room for n + 1 (nodes + 1) numbers, child for n (nedges); `relation` of conllu_graph(), for as many,
 * gets the relation of each entry of `child`; it may be NULL. */
void conllu_tree(const struct conllu_sentence *s, int *child_ptr, int *child);
void conllu_graph(const struct conllu_sentence *s, int *child_ptr, int *child, int *relation);
/* Whether the graph of DEPS has no cycle.  Scratch: nodes + 1 + nodes + nedges + nodes ints. */
bool conllu_is_acyclic(const struct conllu_sentence *s, int *scratch);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conllu.h - sentences in the CoNLL-U format of Universal Dependencies: a word a line, ten columns
 * between tabs, a line without words after each sentence, comments that begin with '#'.
 *
 *     ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
 *
 * Words are numbered 0 .. n-1 in the order of the sentence (their ID less one).  HEAD and DEPREL
 * make them a tree.  DEPS makes the words and the empty nodes (ID 5.1) a graph, in which a node may
 * have several heads and which may have cycles; empty nodes are numbered n, n + 1, ... in the order
 * of the file.  Lines of multi-word tokens (ID 3-4) only say how words are written: they are
 * checked and left out.
 */
#ifndef CAVS_APPS_CONLLU_H
#define CAVS_APPS_CONLLU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apps/common/app_error.h"
#include "apps/common/texts.h"
#include "apps/common/vocab.h"

/* in place of a head: of the root, and of a word that has '_' there */
enum { CONLLU_ROOT = -1, CONLLU_NO_HEAD = -2 };

/* An entry of DEPS: node `head` (or the root) has node `node` as its dependent. */
struct conllu_edge {
    int node, head, relation;
};

struct conllu_sentence {
    size_t line;         /* where its first word stands */
    int n, nodes;        /* words; words and empty nodes */
    const int *form;     /* [nodes] */
    const int *upos;     /* [nodes] */
    const int *head;     /* [n]: a word, or CONLLU_ROOT for exactly one; or CONLLU_NO_HEAD */
    const int *relation; /* [n] */
    /* [nedges], nodes in ascending order (empty nodes where they stand) */
    const struct conllu_edge *edges;
    int nedges;
};

/* Columns that a program may not be able to do without. */
enum conllu_column { CONLLU_HEAD = 1, CONLLU_DEPREL = 2, CONLLU_DEPS = 4 };

struct conllu_options {
    struct vocab *forms, *upos, *relations, *deps; /* NULL: not wanted, and 0 in the sentence */
    bool grow_forms,
        grow_tags; /* new ones are added to the vocabulary; without it they become <unk> */
    bool lower;    /* forms with ASCII capitals made small */
    /* '_' in the columns UPOS, HEAD and DEPREL of a word is what is not known: -1 and
     * CONLLU_NO_HEAD. */
    bool partial;
    /* Columns (enum conllu_column, added up) where '_' is an error: of a word; of an empty node in
     * DEPS. */
    unsigned wanted;
    /* gets the lines of all sentences as they stand in the file; NULL: not wanted */
    struct conllu_text *text;
};

/* Sentences as they stand in their file: all lines behind the sentence before, comments and empty
 * ones too. */
struct conllu_text {
    int n;
    /* [n + 1]: sentence s has the lines first[s] .. first[s+1]; what follows has none */
    size_t *first;
    struct texts lines; /* with their ends */
    size_t first_cap;
};

/*
 * Sentences from a file, one at a time.  `in` stays the caller's; NULL: the file `name`, or
 * standard input if that is "-".  The options are copied; what they point to and the name have to
 * live as long.  0 or a negative code.
 */
struct conllu_stream;
int conllu_open(struct conllu_stream **out, FILE *in, const char *name,
                const struct conllu_options *options, struct app_error *e);
void conllu_close(struct conllu_stream *s); /* NULL is fine */

/*
 * The next sentence; its arrays are the stream's, until the next call.  1, 0 at the end of the
 * file, or a negative code with a message that says file, line and column, what was expected there
 * and what was found; nothing more can be read then.
 */
int conllu_next(struct conllu_stream *s, struct conllu_sentence *out, struct app_error *e);

/* Is given one sentence after the other; the arrays are the reader's.  What is negative ends the
 * reading. */
struct conllu_visitor {
    int (*each)(void *context, const struct conllu_sentence *s, struct app_error *e);
    void *context;
};

/* All sentences to the end of the file: 0, what the visitor returned, or as above. */
int conllu_read(const char *path, const struct conllu_options *options,
                const struct conllu_visitor *visitor, struct app_error *e);

/* Start from a zeroed struct.  Emptied, its memory is used again. */
void conllu_text_empty(struct conllu_text *t);
void conllu_text_clear(struct conllu_text *t);
/* For the reader: the lines since the last call are a sentence; false when memory is short. */
bool conllu_text_end(struct conllu_text *t);

/* The column FORM of the words of sentence i, one after the other: from *at = 0 on, which goes on
 * with each call; NULL behind the last.  It is as long as *length says. */
const char *conllu_text_form(const struct conllu_text *t, int i, size_t *at, size_t *length);

/* What is put in place of the columns of a sentence: NULL leaves one as it was, -1 (CONLLU_NO_HEAD)
 * writes '_'. */
struct conllu_columns {
    const int *upos, *head, *relation; /* [words], as in conllu_sentence */
    const struct vocab *upos_names, *relation_names;
};

/* Writes sentence i as it was read but for these columns of its words.  Errors are those of the
 * file (ferror()). */
void conllu_write(FILE *out, const struct conllu_text *t, int i, const struct conllu_columns *c);
/* Writes the lines behind the last sentence: none before the end of the file was read. */
void conllu_write_rest(FILE *out, const struct conllu_text *t);

/* Trees and graphs in the form of cavs_data_graph(), children of a node in ascending order: head ->
 * dependents. child_ptr has room for n + 1 (nodes + 1) numbers, child for n (nedges); `relation` of
 * conllu_graph(), for as many, gets the relation of each entry of `child`; it may be NULL. */
void conllu_tree(const struct conllu_sentence *s, int *child_ptr, int *child);
/* The relation of each word to its head: -1 for the root, which has none. */
void conllu_tree_relations(const struct conllu_sentence *s, int *relation);
void conllu_graph(const struct conllu_sentence *s, int *child_ptr, int *child, int *relation);
/*
 * Takes edges out of the graph of DEPS, as conllu_graph() made it, until it has no cycle, and says
 * how many: none if there was none.  From the dependents of the root, then from what these do not
 * reach, a walk goes down to the children of each node in their order; an edge back to a node that
 * the walk is on its way down from closes a cycle and is taken out.  `relation` may be NULL.
 * Scratch: 3 * nodes ints.
 */
int conllu_cut_cycles(const struct conllu_sentence *s, int *child_ptr, int *child, int *relation,
                      int *scratch);

#endif

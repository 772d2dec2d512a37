/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conllu_stream.h - a CoNLL-U file that is being read; for the files of the reader alone.
 *
 *     conllu.c           streams: opened, read sentence by sentence, closed
 *     conllu_line.c      a line becomes a node of the open sentence and its edges
 *     conllu_sentence.c  an open sentence is complete: numbered, checked, handed over
 */
#ifndef CAVS_APPS_CONLLU_STREAM_H
#define CAVS_APPS_CONLLU_STREAM_H

#include "apps/common/conllu.h"
#include "apps/common/lines.h"

/* A head as it is written: word.empty, and where. */
struct conllu_reference {
    int word, empty; /* word -1: '_' */
    size_t line, column;
};

/* A node of the sentence being read. */
struct conllu_node {
    int word, empty; /* its ID: 5, 0 or 5, 1 */
    int form, upos, relation;
    struct conllu_reference head;
};

struct conllu_raw_edge {
    int node, relation; /* position among the nodes in the order of the file */
    struct conllu_reference head;
};

struct conllu_stream {
    struct lines lines; /* first: lines_stream() makes it */
    struct conllu_options options;
    struct app_error *error; /* of the present call */
    int failed;              /* what ended the reading, or 0 */
    int words;               /* of this sentence so far */
    int empty;               /* empty nodes behind the last word */
    int covered;             /* last word of the present multi-word token */
    size_t first_line;       /* of this sentence; 0: none is open */
    struct conllu_node *nodes;
    struct conllu_raw_edge *raw;
    int nnodes, nraw;
    size_t nodes_cap, raw_cap;
    char *lower;
    size_t lower_cap;
    /* the sentence as it is handed over */
    int *form, *upos, *head, *relation, *number;
    struct conllu_edge *edges;
    size_t form_cap, upos_cap, head_cap, relation_cap, number_cap, edges_cap;
};

/* Says that there is no memory for the sentence; its code. */
int conllu_no_memory(struct conllu_stream *r);
/* The line of a word, of an empty node, or of a multi-word token.  0 or a negative code. */
int conllu_take_line(struct conllu_stream *r);
/* The sentence that is open, if one is: 1, 0 if no words have been read, or a negative code. */
int conllu_end_sentence(struct conllu_stream *r, struct conllu_sentence *out);

#endif

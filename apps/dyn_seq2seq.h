/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dyn_seq2seq.h - the encoder and decoder of seq2seq as ordinary code, recorded on a tape:
 * parameters, options, files and losses are those of seq2seq.
 *
 * Reading is a loop over the source, answering one over the symbols so far.  So an answer is
 * searched for where it is computed: a beam of prefixes grows by what their scores say, and what is
 * tried and dropped is forgotten (cavs_tape_rewind()).
 */
#ifndef CAVS_APPS_DYN_SEQ2SEQ_H
#define CAVS_APPS_DYN_SEQ2SEQ_H

#include "apps/common/tape_rows.h"
#include "apps/seq2seq.h"

/* A beginning of an answer. */
struct prefix {
    struct guess answer;
    double logarithm;          /* of its probability */
    struct cavs_symbol *state; /* of the decoder, behind its last symbol but one */
};

/* Prefixes of one answer, the likeliest first. */
struct beam {
    int n;
    struct prefix *prefix; /* [n] of `width` */
};

/* A source as it was read. */
struct reading {
    struct cavs_symbol *state; /* of the encoder, at its end */
    struct cavs_symbol *rows;  /* its outputs, one below the other; NULL: the source is empty */
    int n;
};

struct dyn_seq2seq {
    struct seq2seq shared; /* first: the frame hands it over */
    int width;             /* of beams */
    struct cavs_param *embedding, *W_score, *W_attend, *b_attend, *W_out, *b_out;
    struct tape_rows right, scores;
    size_t *first[APP_SETS]; /* [examples + 1] symbols of the answers before */
    /* of the search: */
    struct reading *reading; /* [n] */
    struct beam *beams;      /* [n] */
    struct prefix *prefixes; /* [2][n][width]: as they are, and as they are going to be */
    size_t reading_room, beams_room, prefixes_room;
};

struct reading dyn_seq2seq_read(struct dyn_seq2seq *s, struct cavs_function *f,
                                const struct example *x);
/* The decoder's next state, when it has read a symbol; scores of the next symbol. */
struct cavs_symbol *dyn_seq2seq_next(struct dyn_seq2seq *s, int symbol, struct cavs_symbol *state);
struct cavs_symbol *dyn_seq2seq_scores(struct dyn_seq2seq *s, const struct reading *r,
                                       struct cavs_symbol *state);

/* dyn_seq2seq_search.c: seq2seq.h's answer_all(). */
int dyn_seq2seq_search(struct seq2seq *shared, int n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dyn_tagger.h - the bidirectional LSTM of tagger.h as ordinary code, recorded on a tape:
 * parameters, options, files and losses are those of bilstm_tagger and bilstm_char_tagger.
 *
 * A sentence is two loops over its words, which may be empty or as long as they like; a rare word,
 * if they are spelt, is two loops over its characters in the middle of that.
 */
#ifndef CAVS_APPS_DYN_TAGGER_H
#define CAVS_APPS_DYN_TAGGER_H

#include "apps/common/tape_rows.h"
#include "apps/tagger.h"

struct dyn_tagger {
    struct tagger shared; /* first: the frame hands it over */
    int char_embed;       /* 0: rare words are <unk> */
    struct cavs_param *embedding, *char_embedding, *W_tag, *b_tag;
    struct cavs_cell lstm[2], chars[2]; /* by enum cavs_way */
    struct tape_rows logits;            /* of all words that are recorded for their tags */
};

struct dyn_tagger dyn_tagger_defaults(void);
/* All of the program but its name, doc, options and twin. */
struct program dyn_tagger_program(struct dyn_tagger *t);
void dyn_tagger_clear(struct dyn_tagger *t);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* parser_text.h - sentences with their trees, as the parser wants them: the root is word 0 of
 * each. */
#ifndef CAVS_APPS_PARSER_TEXT_H
#define CAVS_APPS_PARSER_TEXT_H

#include <stddef.h>

#include "apps/common/app_error.h"
#include "apps/common/conllu.h"
#include "apps/common/vocab.h"

struct parser_text {
    int n;
    size_t words;  /* of all sentences, roots counted */
    size_t *first; /* [n + 1]: sentence s has the words first[s] .. first[s+1] of all */
    int *word;     /* [words]: row of its small letters; 0: rare or unknown */
    int *shape;    /* [words]: row of its last three bytes and of whether it has a capital letter */
    int *head;     /* [words]: within the sentence; -1 for roots, and where it is not known */
    int *relation; /* [words]; likewise */
    size_t first_cap, word_cap, shape_cap, head_cap, relation_cap;
};

/* What has a row in a table of the model. */
struct parser_words {
    struct vocab *words, *shapes, *relations;
    char *small; /* scratch */
    size_t small_cap;
};

enum { PARSER_ROOT_WORD = 1 }; /* row of the root, in both tables */

/* Fills the empty vocabularies with the words of a CoNLL-U file that are there min_count times at
 * least, their endings, and all relations. */
int parser_words_choose(struct parser_words *w, const char *path, int min_count,
                        struct app_error *e);
void parser_words_clear(struct parser_words *w);

/* Reads a CoNLL-U file.  Start from a zeroed struct, clear it in any case. */
int parser_text_load(const char *path, struct parser_words *w, struct parser_text *out,
                     struct app_error *e);
/* Adds the sentence, whose lines are those of sentence i of `lines`. */
int parser_text_add(struct parser_text *t, struct parser_words *w, const struct conllu_sentence *s,
                    const struct conllu_text *lines, int i, struct app_error *e);
/* Emptied, its memory is used again. */
void parser_text_empty(struct parser_text *t);
void parser_text_clear(struct parser_text *t);

#endif

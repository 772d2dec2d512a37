/* SPDX-License-Identifier: Apache-2.0 */
/* parser_text.h - sentences with their trees, as the parser wants them: the root is word 0 of each. */
#ifndef CAVS_APPS_PARSER_TEXT_H
#define CAVS_APPS_PARSER_TEXT_H

#include <stddef.h>

#include "apps/common/error.h"
#include "apps/common/vocab.h"

struct parser_text {
    int n;
    size_t words;  /* of all sentences, roots counted */
    size_t *first; /* [n + 1]: sentence s has the words first[s] .. first[s+1] of all */
    int *form;     /* [words]: forms as they are written; 0 for roots */
    int *head;     /* [words]: within the sentence; -1 for roots */
    int *relation; /* [words] */
    size_t first_cap, form_cap, head_cap, relation_cap;
};

/* What is known of a form. */
struct parser_form {
    int word;   /* row of its small letters; 0: rare or unknown */
    int shape;  /* row of its last three bytes and of whether it has a capital letter */
    long count; /* how often the word is in the training set */
};

struct parser_words {
    struct vocab *forms, *relations;
    struct vocab *words, *shapes; /* of the training set */
    struct parser_form *form;     /* [vocab_size(forms)] */
};

enum { PARSER_ROOT_WORD = 1 }; /* row of the root, in both tables */

/* Reads a CoNLL-U file; relations that are not in the training set (read first) become <unk>.  Start from zeroed structs,
 * clear them in any case. */
int parser_text_load(const char *path, struct parser_words *w, struct parser_text *out,
                     struct app_error *e);
void parser_text_clear(struct parser_text *t);
/* After the training set was read: the rows of its words, of those seen min_count times at least. */
int parser_words_choose(struct parser_words *w, int min_count, struct app_error *e);
/* After all sets were read: fills w->form. */
int parser_words_look_up(struct parser_words *w, struct app_error *e);
void parser_words_clear(struct parser_words *w);

#endif

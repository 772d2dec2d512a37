/* SPDX-License-Identifier: Apache-2.0 */
/* tag_baseline.h - how many tags are right without a model: guessed from what the training set has
 * most often. */
#ifndef CAVS_APPS_TAG_BASELINE_H
#define CAVS_APPS_TAG_BASELINE_H

#include <stdbool.h>
#include <stddef.h>

/* Start from a zeroed struct. */
struct tag_baseline {
    int commonest; /* tag of all words */
    int words;
    int *of_word; /* [words]: the commonest tag of a word, -1 for one that was not seen */
};

/* Learns from n words (ids below `words`) and their tags, of which <unk> is none; of tags that are
 * equally common, the one with the smallest id. False when memory is short. */
bool tag_baseline_learn(struct tag_baseline *b, size_t n, const int *word, const int *tag,
                        int words);
void tag_baseline_clear(struct tag_baseline *b);

/* The commonest tag of that word; of all words, for one that was not seen. */
int tag_baseline_guess(const struct tag_baseline *b, int word);

/* The share of n words for which the commonest tag of all is right; and the guess for that word.
 * NaN of none. */
double tag_baseline_majority(const struct tag_baseline *b, size_t n, const int *tag);
double tag_baseline_by_word(const struct tag_baseline *b, size_t n, const int *word,
                            const int *tag);

#endif

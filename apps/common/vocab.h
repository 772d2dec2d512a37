/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vocab.h - words and their ids.
 *
 * Id 0 is <unk>, the word for every unknown one; the others are numbered from 1 in the order in
 * which they were first added.  Words are bytes: no encoding is assumed and nothing is folded.
 */
#ifndef CAVS_APPS_VOCAB_H
#define CAVS_APPS_VOCAB_H

#include <stddef.h>

#define VOCAB_UNKNOWN 0

struct vocab;

/* NULL when memory is short. */
struct vocab *vocab_create(void);
void vocab_destroy(struct vocab *v);

/* The id of the word, new or not, which has now been seen once more; -1 when memory is short. */
int vocab_add(struct vocab *v, const char *word, size_t length);
/* Counts the word with that id as seen n times more. */
void vocab_seen(struct vocab *v, int id, long n);
/* The id of the word, VOCAB_UNKNOWN if it was never added. */
int vocab_find(const struct vocab *v, const char *word, size_t length);

int vocab_size(const struct vocab *v); /* <unk> counts */
const char *vocab_word(const struct vocab *v, int id);
long vocab_count(const struct vocab *v, int id); /* how often it was seen */

/* Forgets words seen less than min_count times.  Returns the new id of every old one, to be freed
 * by the caller, or NULL when memory is short. */
int *vocab_trim(struct vocab *v, long min_count);
/* Forgets all but the n commonest words (of equally common ones the earlier stay), likewise. */
int *vocab_keep(struct vocab *v, int n);

#endif

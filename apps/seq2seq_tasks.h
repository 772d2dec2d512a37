/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seq2seq_tasks.h - what there is to learn: sequences of symbols and their answers, drawn at
 * random.
 *
 *     reverse   "stare" -> "erats"
 *     add       "128+95" -> "322": the sum, 223, from its last digit on, as one adds on paper
 */
#ifndef CAVS_APPS_SEQ2SEQ_TASKS_H
#define CAVS_APPS_SEQ2SEQ_TASKS_H

#include <stdbool.h>
#include <stddef.h>

#include "apps/common/random.h"

enum task { TASK_REVERSE, TASK_ADD };
extern const char *const task_names[];

/* Symbol 0 ends every answer, and stands before its first symbol; the others are these characters,
 * from 1. */
const char *task_symbols(enum task task);

enum { EXAMPLE_MOST = 64 };

struct example {
    int nsource, nanswer; /* the end counted */
    int source[EXAMPLE_MOST], answer[EXAMPLE_MOST];
};

/* The largest length that examples have room for. */
int task_most(enum task task);
/* Draws an example of at most `length` letters, or numbers of at most so many digits.  Every tenth
 * source, by a hash of it, is for the development set; training examples are drawn from the others,
 * so that nothing is tested that was trained on. */
void task_draw(enum task task, int length, bool dev, struct rng *r, struct example *out);

/* The source that the text is, to *x: 0, or the column from 1 of the first character that does not
 * belong there. */
int task_read(enum task task, const char *text, size_t n, struct example *x);
/* What task_read() wants, for messages. */
const char *task_sources(enum task task);

/* Symbols as text, up to the end or n; `text` has room for n + 1. */
void task_spell(enum task task, const int *symbols, int n, char *text);

#endif

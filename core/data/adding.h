/* SPDX-License-Identifier: Apache-2.0 */
/* adding.h - a sample that is being added: it is appended column by column, and cut off again if
 * anything fails. */
#ifndef CAVS_CORE_DATA_ADDING_H
#define CAVS_CORE_DATA_ADDING_H

#include "core/data/data.h"

static inline int64_t cavs__last_start(const struct cavs__column *c)
{
    return ((const int64_t *)c->p)[c->n - 1];
}

/* Any failure inside a sample closes it. Gives rc back. */
int cavs__drop_sample(struct cavs_data *d, int rc);
/* The stage that `call` is about, in the open sample. */
int cavs__open_stage(struct cavs_data *d, const struct cavs_stage *stage, const char *call,
                     struct cavs__stage_data **out);

/* intern.c */
/* *number: position of the first row equal to row i.  0 or CAVS_ENOMEM. */
int cavs__intern_row(struct cavs__intern *t, const struct cavs__column *rows, size_t i,
                     int32_t *number);
/* Keeps only the first n rows in the table, which have been interned before, with their numbers. */
void cavs__intern_again(struct cavs__intern *t, const struct cavs__column *rows, size_t n);

/* pulled.c: of the sample being completed, whose graph is there.  Values (lists) of an input that
 * vertices have whose function pulls it. */
size_t cavs__count_pulled(const struct cavs_data *d, const struct cavs__stage_data *s, int input);
/* Only the values of those vertices were given: puts values between them for the other vertices. */
int cavs__spread_pulled(const struct cavs_data *d, struct cavs__stage_data *s, int input,
                        size_t missing);

#endif

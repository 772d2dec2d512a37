/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sets.h - the training, development and test set of a program, and runs over some of their
 * samples.
 *
 * Where a program declares its networks, a set is a struct cavs_data of samples.  Where it records
 * them on a tape (struct program's `record`), a set is what the program has read, and the frame
 * knows how many samples there are and how large each is.
 */
#ifndef CAVS_APPS_SETS_H
#define CAVS_APPS_SETS_H

#include "apps/common/program.h"

/* Whether the set has been filled. */
bool set_is_there(const struct app *a, enum app_set set);
int set_size(const struct app *a, enum app_set set);
/* Vertices of the stage a->graph, or what app_record_set() says. */
int64_t set_vertices(const struct app *a, enum app_set set);
int64_t set_sample_vertices(const struct app *a, enum app_set set, int sample);
/* As cavs_data_fingerprint(). */
int set_fingerprint(const struct app *a, enum app_set set, uint64_t *out);
/* Forward alone, for metrics; and forward, backward and an update.  0 or a negative code. */
int set_evaluate(struct app *a, enum app_set set, const int *samples, int n);
int set_train(struct app *a, const int *samples, int n);
void sets_clear(struct app *a);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* start.h - workers and a session for the program's model, where its parameters start, and the end
 * of both. */
#ifndef CAVS_APPS_START_H
#define CAVS_APPS_START_H

#include "apps/common/program.h"

/* Starts the workers, makes the session, and fills its parameters from --init, --partial or
 * --vectors. */
int app_start(struct app *a);
/* --roofline, --save, the report, the trace. */
int app_finish(struct app *a);
void app_stop(struct app *a);

/* by_name.c: parameters of another model's file, by their names.  --partial: what has the same name
 * and shape, and of parameters whose rows or columns stand for words those of the same words.  Says
 * on stderr what was taken and what not. */
int app_take_partial(struct app *a);
/* vectors.c: rows of the embedding from a text of word vectors. */
int app_take_vectors(struct app *a);

#endif

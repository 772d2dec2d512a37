/* SPDX-License-Identifier: Apache-2.0 */
/* predict.h - --predict: a batch is read, predicted and written, then the next, so that memory does
 * not grow with the input. */
#ifndef CAVS_APPS_PREDICT_H
#define CAVS_APPS_PREDICT_H

#include "apps/common/program.h"

/* Opens what --predict reads; what it writes is opened when there is something. */
int predictions_open(struct app *a);
int predictions_make(struct app *a);
void predictions_close(struct app *a);
/* Writes one of them as an object on a line of its own, and takes it; NULL: memory was short for
 * it, an error. */
int predictions_write_json(struct app *a, json_t *object);
/* Where each line of the input has one of its own in the output: that of line `line` (from 1) is
 * written next, those between it and the last one are empty there, too.  In JSON there are none. */
void predictions_at_line(struct app *a, size_t line);
/* Whether predictions go to standard output, so that nothing else may. */
bool predictions_take_stdout(const struct app *a);

#endif

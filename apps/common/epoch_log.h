/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_log.h - --log: the numbers of each epoch in a file, a JSON object a line. */
#ifndef CAVS_APPS_EPOCH_LOG_H
#define CAVS_APPS_EPOCH_LOG_H

#include "apps/common/program.h"

struct epoch_log {
    FILE *to; /* NULL: nothing is written */
};

/* Begins with the epochs that the report of a resumed run has already.  Fine without --log. */
int epoch_log_open(struct epoch_log *l, struct app *a);
/* Adds an epoch.  What cannot be written is said once, and shows in the program's status. */
void epoch_log_add(struct epoch_log *l, struct app *a, const json_t *epoch);
void epoch_log_close(struct epoch_log *l);

#endif

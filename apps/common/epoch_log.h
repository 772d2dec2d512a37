/* SPDX-License-Identifier: Apache-2.0 */
/* epoch_log.h - --log: the numbers of each epoch in a file, a JSON object a line.  An older file
 * stays until the first line is on the disk. */
#ifndef CAVS_APPS_EPOCH_LOG_H
#define CAVS_APPS_EPOCH_LOG_H

#include "apps/common/program.h"

struct epoch_log {
    struct cavs_file *file; /* NULL: nothing is written */
    bool is_there;          /* under its name */
    int claim;              /* on the name, for this run; where there is a file */
};

/* Begins with the epochs that the report of a resumed run has already.  Fine without --log. */
int epoch_log_open(struct epoch_log *l, struct app *a);
/* Adds an epoch.  What cannot be written is said once, and shows in the program's status. */
void epoch_log_add(struct epoch_log *l, struct app *a, const json_t *epoch);
void epoch_log_close(struct epoch_log *l);
/* For a run without epochs: an empty file, which is said. */
int epoch_log_leave_empty(struct app *a);

#endif

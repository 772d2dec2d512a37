/* SPDX-License-Identifier: Apache-2.0 */
/* trace_folder.h - the folder that the record of a run goes to. */
#ifndef CAVS_CORE_RUN_TRACE_FOLDER_H
#define CAVS_CORE_RUN_TRACE_FOLDER_H

#include "core/ranks/ranks.h"

/* Makes it on every rank, unless it is there and empty; 0 or a cavs_error, of which the others of
 * `ranks` (NULL: there is one process) know.  It belongs to one run at a time: as long as *fd, the
 * caller's, is open. */
int cavs__trace_folder_open(const char *dir, struct cavs__ranks *ranks, int *fd);

#endif

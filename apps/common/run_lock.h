/* SPDX-License-Identifier: Apache-2.0 */
/* run_lock.h - a file or a folder that results go to belongs to one run at a time. */
#ifndef CAVS_APPS_RUN_LOCK_H
#define CAVS_APPS_RUN_LOCK_H

#include <stdbool.h>

/* Takes it for this run, until the descriptor is closed; false: another run has it.  Pipes and
 * devices belong to nobody, and where a file system has no locks nothing is known of others. */
bool run_lock(int fd);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* data_files.h - where a program's training and development sets are. */
#ifndef CAVS_APPS_DATA_FILES_H
#define CAVS_APPS_DATA_FILES_H

#include "apps/common/error.h"

struct data_files {
    const char *train, *dev;                 /* as the user named them; NULL: not named */
    const char *default_train, *default_dev; /* below $CAVS_DATA */
    char *train_path, *dev_path;             /* the result; dev_path NULL: there is no such set */
};

/* Chooses and checks both paths.  The default development set goes with the default training set only.
 * 0, or a negative code with a message that says what to do; clear *f in both cases. */
int data_files_find(struct data_files *f, struct app_error *e);
void data_files_clear(struct data_files *f);

#endif

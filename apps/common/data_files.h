/* SPDX-License-Identifier: Apache-2.0 */
/* data_files.h - where a program's data sets lie: what the user named, or a place below
 * $CAVS_DATA. */
#ifndef CAVS_APPS_DATA_FILES_H
#define CAVS_APPS_DATA_FILES_H

#include "apps/common/app_error.h"

/* *path, to be freed by the caller, is `given`, or if that is NULL `fallback` in the folder of all
 * sets.  What cannot be read is an error that names the option. */
int data_file_find(const char *given, const char *fallback, const char *option, char **path,
                   struct app_error *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* clashes.h - results are not written over what they come from, or over one another. */
#ifndef CAVS_APPS_CLASHES_H
#define CAVS_APPS_CLASHES_H

#include <stdbool.h>

#include "apps/common/option_table.h"

/* Whether both paths lead to one regular file; of files that are not there, whether they are the
 * same text. */
bool same_file(const char *a, const char *b);

/* Ends the program with a message where --save, --log or --output names the file of another option.
 * --save may have that of --init or --partial: a model that is trained further.  Likewise where
 * they name the checkpoint of --checkpoint or --resume, or --trace the folder of it. */
void clashes_check(const struct option_list *l);

#endif

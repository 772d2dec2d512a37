/* SPDX-License-Identifier: Apache-2.0 */
/* adding.h - a sample that is being added: it is appended column by column, and cut off again if
 * anything fails. */
#ifndef CAVS_CORE_DATA_ADDING_H
#define CAVS_CORE_DATA_ADDING_H

#include "core/data/data.h"

static inline int64_t cavs__last_start(const struct cavs__column *c)
{
    return ((const int64_t *)c->p)[c->n - 1];
}

/* Cuts everything behind the last complete sample off. */
void cavs__rewind_sample(struct cavs_data *d);
/* Any failure inside a sample closes it: gives rc back. */
int cavs__drop_sample(struct cavs_data *d, int rc);
/* The stage, of the open sample, that `call` is about. */
int cavs__open_stage(struct cavs_data *d, const struct cavs_stage *stage, const char *call,
                     struct cavs__stage_data **out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collected_rows.h - rows of a shard that a device has, on their way to the user: the device
 * collects their lines, and these alone travel, not all that the shard has.
 */
#ifndef CAVS_CORE_TAPE_COLLECTED_ROWS_H
#define CAVS_CORE_TAPE_COLLECTED_ROWS_H

#include "codelets/lines_task.h"
#include "core/run/engine.h"

struct cavs__collecting {
    struct cavs__tensor which, lines; /* of lines, and the lines; a chunk for each shard */
    struct starpu_codelet codelet;
    struct cavs__lines_args *args; /* [nshards] */
};

/* After it, also if it fails, this can be freed; nothing is under way then. */
int cavs__collecting_init(struct cavs__collecting *c, int nshards);
void cavs__collecting_free(struct cavs__collecting *c);
/* Are rows of this shard collected, since it is at home on a device? */
bool cavs__is_collected(const struct cavs__engine *e, int shard);
/* Room for the numbers of so many lines, for the caller to write, until cavs__collect() is called;
 * NULL: out of memory. */
int32_t *cavs__collecting_begin(struct cavs__collecting *c, struct cavs__engine *e, int shard,
                                int nlines);
/* Submits the task that copies these lines of the rows to the shard's chunk of c->lines. */
int cavs__collect(struct cavs__collecting *c, const struct cavs__engine *e, int shard,
                  starpu_data_handle_t from);

#endif

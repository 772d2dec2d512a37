/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contents.h - what is in model files, and in checkpoints, which are model files with more in them:
 *
 *     NAME                  a parameter
 *     cavs.state0.NAME, 1   what the optimizer keeps of it
 *     cavs.metrics          sums and counts since the last reset, a row for each shard
 *     metadata              what metadata.c puts there
 *
 * save.c writes them, load.c reads them.
 */
#ifndef CAVS_CORE_FILES_CONTENTS_H
#define CAVS_CORE_FILES_CONTENTS_H

#include "core/files/safetensors.h"
#include "core/run/session.h"

/* Where a matrix of the file belongs in the session. */
struct cavs__file_item {
    const struct cavs_param *p; /* NULL: the metrics */
    int state;                  /* of the optimizer; -1: the parameter itself */
};

struct cavs__contents {
    struct cavs_session *s;
    int n;
    struct cavs__matrix *matrix;
    struct cavs__file_item *item;
    char **name;     /* owned names of matrices, NULL where the name is the parameter's */
    double *metrics; /* of all ranks, for a checkpoint that is written */
    float **states;  /* [n] likewise, where the ranks share them; else NULL */
};

/* Lists what belongs into a file.  shards: rows of the metrics, of which there are so many; 0 for a
 * model file.  size: bytes of a number of a parameter.  0 or a code; to be cleared in either case.
 */
int cavs__list_contents(struct cavs__contents *f, struct cavs_session *s, int shards, int metrics,
                        int size);
void cavs__contents_clear(struct cavs__contents *f);

#endif

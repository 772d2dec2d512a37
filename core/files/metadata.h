/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metadata.h - what model files and checkpoints say of themselves, in the metadata of safetensors
 * files:
 *
 *     format     cavs, or cavs checkpoint
 *     NAME       a note of the session, by cavs_session_note()
 *     cavs.NAME  of a checkpoint: updates so far, seed, lr, optimizer (a number), shards, the
 *     names of metrics (an array), what tapes had found (an array), and the caller's note
 */
#ifndef CAVS_CORE_FILES_METADATA_H
#define CAVS_CORE_FILES_METADATA_H

#include "core/files/safetensors.h"
#include "core/run/session.h"

/* For cavs__safetensors_write(); NULL: out of memory.  The second one is a checkpoint's, and also
 * NULL if the note is not UTF-8. */
json_t *cavs__describe(const struct cavs_session *s, const char *format);
json_t *cavs__describe_run(const struct cavs_session *s, const char *note);

struct cavs__description {
    long step, optimizer, shards;
    uint64_t seed;
    double lr;
};
/* CAVS_EFORMAT if it is no checkpoint, or one that cannot be understood. */
int cavs__read_description(const struct cavs__safetensors *f, struct cavs__description *d);
/* Makes those metrics of the checkpoint that the model has not got yet: tapes make theirs when they
 * record them, and may have made more since.  *n: how many it has.  0 or a code, as when both would
 * have them in different orders, or one that was declared is not there. */
int cavs__take_metrics(const struct cavs__safetensors *f, struct cavs_model *m, int *n);
/* What the tapes of the session that wrote it had found (core/tape/found.c), an array, to be
 * released by the caller; NULL: nothing. */
int cavs__read_found(const struct cavs__safetensors *f, json_t **found);
/* A text of the checkpoint by its NAME, or "". Earlier versions wrote these texts without a
 * prefix. */
const char *cavs__described(const struct cavs__safetensors *f, const char *name);

#endif

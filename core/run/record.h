/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.h - what has to happen in a run for StarPU to record it: FxT is switched on before StarPU
 * starts, and its file gets its place afterwards.  The program cavs-trace (apps/trace/) makes the
 * rest of it.  Of several ranks each has a file of its own.
 */
#ifndef CAVS_CORE_RUN_RECORD_H
#define CAVS_CORE_RUN_RECORD_H

#include <stdbool.h>

#include "core/ranks/ranks.h"

struct cavs__record;

/* Before starpu_init(): makes the folder dir, or takes it if it is empty, and switches FxT on
 * for this run.  Settings that the user made in STARPU_FXT_* and STARPU_TRACE_BUFFER_SIZE stay.
 * transfers: there are other memories than the CPUs', so record what moves between them.  All ranks
 * call, and fail together. */
int cavs__record_begin(const char *dir, bool transfers, struct cavs__ranks *ranks,
                       struct cavs__record **out);
/* After starpu_shutdown(): the environment is as it was, and the folder has the record, trace.fxt,
 * or trace.fxt_RANK where there are several.
 * Takes run, which may be NULL. */
int cavs__record_end(struct cavs__record *run);
/* Instead of _end() where StarPU did not start. */
void cavs__record_cancel(struct cavs__record *run);

#endif

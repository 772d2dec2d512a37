/* SPDX-License-Identifier: Apache-2.0 */
/* records.h - the reader of records of tasks, whose lines record_fields.c understands. */
#ifndef CAVS_APPS_TRACE_RECORDS_H
#define CAVS_APPS_TRACE_RECORDS_H

#include "apps/trace/trace.h"

enum { TRACE_RANK_SHIFT = 48 /* bits of a number and of a handle below those of the rank */ };

struct trace_reader {
    const char *path;
    struct app_error *error;
    long line;
    struct trace *t;
    struct trace_task task; /* the record being read; codelet -1: no line of it seen yet */
    long worker, rank;
    struct trace_raw raw;
};

/* CAVS_EFORMAT, with a message that names the present line. */
int trace_bad_record(const struct trace_reader *r, const char *what, const char *value);

/* A line of the record: to r->task, r->worker, r->rank and r->raw.  Keys that are not needed are
 * passed over. */
int trace_read_field(struct trace_reader *r, const char *key, const char *value);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_fields.c - the lines of a record in tasks.rec, "Key: value".
 *
 * Keys that we do not need are skipped; a key that we do need has to be well formed.  Of several
 * ranks, a job is called RANK_NUMBER.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "apps/trace/records.h"

int trace_bad_record(const struct trace_reader *r, const char *what, const char *value)
{
    return app_fail(r->error, CAVS_EFORMAT, "%s:%ld: %s '%s'", r->path, r->line, what, value);
}

static int read_codelet(struct trace_reader *r, const char *name)
{
    struct trace *t = r->t;
    struct trace_codelet c = {NULL, cavs__work_of(name)};

    for (r->task.codelet = 0; r->task.codelet < t->ncodelets; r->task.codelet++) {
        if (strcmp(t->codelets[r->task.codelet].name, name) == 0)
            return CAVS_OK;
    }
    c.name = strdup(name);
    if (c.name && CAVS__APPEND(t->codelets, t->ncodelets, c))
        return CAVS_OK;
    free(c.name);
    return CAVS_ENOMEM;
}

static int read_whole(const struct trace_reader *r, const char *value, long *out)
{
    char *end;

    *out = strtol(value, &end, 10);
    return end == value || *end ? trace_bad_record(r, "expected a whole number, not", value)
                                : CAVS_OK;
}

/* "12", or "1_12" for rank 1; *value is then behind it. */
static bool read_job(const char **value, long *out)
{
    char *end;
    long number = strtol(*value, &end, 10), rank = 0;

    if (end > *value && *end == '_') {
        rank = number;
        *value = end + 1;
        number = strtol(*value, &end, 10);
    }
    if (end == *value || rank < 0 || rank >= TRACE_RANKS)
        return false;
    *value = end;
    *out = (long)(((unsigned long)rank << TRACE_RANK_SHIFT) ^ (unsigned long)number);
    return true;
}

static int read_own_job(struct trace_reader *r, const char *value)
{
    const char *rest = value;

    return read_job(&rest, &r->task.job) && !*rest
               ? CAVS_OK
               : trace_bad_record(r, "expected a whole number, not", value);
}

static int read_time(const struct trace_reader *r, const char *value, double *out)
{
    char *end;

    *out = strtod(value, &end);
    return end == value || *end || !(*out >= 0) ? trace_bad_record(r, "expected a time, not", value)
                                                : CAVS_OK;
}

static int read_jobs(struct trace_reader *r, const char *value)
{
    for (long job; *value; value += strspn(value, " ")) {
        if (!read_job(&value, &job))
            return trace_bad_record(r, "expected numbers of jobs, not", value);
        if (!CAVS__APPEND(r->raw.jobs, r->raw.njobs, job))
            return CAVS_ENOMEM;
        r->task.njobs++;
    }
    return CAVS_OK;
}

static int read_handles(struct trace_reader *r, const char *value)
{
    for (char *end; *value; value = end + strspn(end, " ")) {
        struct trace_access a = {.handle = strtoul(value, &end, 16)};

        if (end == value)
            return trace_bad_record(r, "expected handles, not", value);
        if (!CAVS__APPEND(r->raw.accesses, r->raw.naccesses, a))
            return CAVS_ENOMEM;
        r->task.naccesses++;
    }
    return CAVS_OK;
}

/* Beside the handles: R, W and RW, each with more letters for more detail; scratch memory is
 * neither. */
static int read_modes(struct trace_reader *r, const char *value)
{
    for (int i = 0; i < r->task.naccesses && *value; i++) {
        struct trace_access *a = &r->raw.accesses[r->task.access0 + i];
        size_t length = strcspn(value, " ");

        a->read = *value == 'R';
        a->write = *value == 'W' || (*value == 'R' && value[1] == 'W');
        value += length + strspn(value + length, " ");
    }
    return CAVS_OK;
}

int trace_read_field(struct trace_reader *r, const char *key, const char *value)
{
    if (strcmp(key, "Name") == 0)
        return read_codelet(r, value);
    if (strcmp(key, "JobId") == 0)
        return read_own_job(r, value);
    if (strcmp(key, "WorkerId") == 0)
        return read_whole(r, value, &r->worker);
    if (strcmp(key, "MPIRank") == 0)
        return read_whole(r, value, &r->rank);
    if (strcmp(key, "Iteration") == 0)
        return read_whole(r, value, &r->task.batch);
    if (strcmp(key, "SubmitTime") == 0)
        return read_time(r, value, &r->task.submit);
    if (strcmp(key, "StartTime") == 0)
        return read_time(r, value, &r->task.start);
    if (strcmp(key, "EndTime") == 0)
        return read_time(r, value, &r->task.end);
    if (strcmp(key, "DependsOn") == 0)
        return read_jobs(r, value);
    if (strcmp(key, "SubmitOrder") == 0)
        return read_whole(r, value, &r->task.order);
    if (strcmp(key, "Handles") == 0)
        return read_handles(r, value);
    if (strcmp(key, "Modes") == 0)
        return read_modes(r, value);
    return CAVS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* summarise.c - a folder's records -> its summary.txt and gantt.svg. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/trace/trace.h"

static FILE *create(const char *dir, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", dir, name);
    return fopen(path, "w");
}

/* Also reports what went wrong while writing. */
static int close_file(FILE *out, const char *path, struct app_error *e)
{
    bool failed = ferror(out);

    if (fclose(out) != 0 || failed)
        return app_fail(e, CAVS_EIO, "cannot write %s: %s", path, strerror(errno));
    return CAVS_OK;
}

static int write_text(const char *dir, const struct trace *t, const struct trace_stats *s,
                      struct app_error *e)
{
    char path[4200];
    FILE *out = create(dir, "summary.txt", path, sizeof path);

    if (!out)
        return app_fail(e, CAVS_EIO, "cannot write %s: %s", path, strerror(errno));
    trace_text(out, t, s);
    return close_file(out, path, e);
}

static int write_svg(const char *dir, const struct trace *t, const struct trace_stats *s,
                     struct app_error *e)
{
    char path[4200];
    FILE *out = create(dir, "gantt.svg", path, sizeof path);
    int rc, closed;

    if (!out)
        return app_fail(e, CAVS_EIO, "cannot write %s: %s", path, strerror(errno));
    rc = trace_svg(out, t, s);
    closed = close_file(out, path, e);
    return rc ? rc : closed;
}

int trace_summarise(const char *dir, struct app_error *e)
{
    struct trace t;
    struct trace_stats s;
    char tasks[4200], workers[4200], states[4200], messages[4200];
    int rc;

    snprintf(tasks, sizeof tasks, "%s/tasks.rec", dir);
    snprintf(workers, sizeof workers, "%s/activity.data", dir);
    snprintf(states, sizeof states, "%s/trace.rec", dir);
    snprintf(messages, sizeof messages, "%s/comms.rec", dir);
    rc = trace_read(tasks, workers, &t, e);
    if (rc)
        return rc;
    trace_read_pauses(states, &t);
    rc = trace_read_messages(messages, &t, e);
    if (!rc)
        rc = trace_stats_make(&t, &s);
    if (!rc) {
        rc = write_text(dir, &t, &s, e);
        if (!rc)
            rc = write_svg(dir, &t, &s, e);
        trace_stats_free(&s);
    }
    trace_free(&t);
    return rc;
}

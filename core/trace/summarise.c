/* SPDX-License-Identifier: Apache-2.0 */
/* summarise.c - a folder's records -> its summary.txt and gantt.svg. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/points.h"
#include "core/base/error.h"
#include "core/trace/trace.h"

static FILE *create(const char *dir, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", dir, name);
    return fopen(path, "w");
}

/* Also reports what went wrong while writing. */
static int close_file(FILE *out, const char *path)
{
    bool failed = ferror(out);

    if (fclose(out) != 0 || failed)
        return cavs__fail(CAVS_EIO, "cannot write %s: %s", path, strerror(errno));
    return CAVS_OK;
}

static int write_text(const char *dir, const struct cavs__trace *t,
                      const struct cavs__trace_stats *s)
{
    char path[4200];
    FILE *out = create(dir, "summary.txt", path, sizeof path);

    if (!out)
        return cavs__fail(CAVS_EIO, "cannot write %s: %s", path, strerror(errno));
    cavs__trace_text(out, t, s);
    return close_file(out, path);
}

static int write_svg(const char *dir, const struct cavs__trace *t,
                     const struct cavs__trace_stats *s)
{
    char path[4200];
    FILE *out = create(dir, "gantt.svg", path, sizeof path);
    int rc, closed;

    if (!out)
        return cavs__fail(CAVS_EIO, "cannot write %s: %s", path, strerror(errno));
    rc = cavs__trace_svg(out, t, s);
    closed = close_file(out, path);
    return rc ? rc : closed;
}

static int summarise(const char *dir)
{
    struct cavs__trace t;
    struct cavs__trace_stats s;
    char tasks[4200], workers[4200], states[4200];
    int rc;

    snprintf(tasks, sizeof tasks, "%s/tasks.rec", dir);
    snprintf(workers, sizeof workers, "%s/activity.data", dir);
    snprintf(states, sizeof states, "%s/trace.rec", dir);
    rc = cavs__trace_read(tasks, workers, &t);
    if (rc)
        return rc;
    cavs__trace_read_pauses(states, &t);
    rc = cavs__trace_stats_make(&t, &s);
    if (!rc) {
        rc = write_text(dir, &t, &s);
        if (!rc)
            rc = write_svg(dir, &t, &s);
        cavs__trace_stats_free(&s);
    }
    cavs__trace_free(&t);
    return rc;
}

int cavs__trace_summarise(const char *dir)
{
    struct cavs__points points = cavs__points_begin();
    int rc = summarise(dir);

    cavs__points_end(points);
    return rc;
}

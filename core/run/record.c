/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c - a run of which StarPU records what happens.
 *
 * FxT's settings are environment variables, read when StarPU starts.  They are set for the time
 * from _begin() to _end() and then put back, so that a later runtime of the same process runs
 * untraced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <starpu.h>
#include <starpu_fxt.h>

#include "config.h"
#include "core/base/error.h"
#include "core/run/record.h"
#include "core/run/trace_folder.h"

/* StarPU copies the name of its file into 128 bytes: there has to be room for "/trace.fxt_0". */
enum { LONGEST_PREFIX = 100, VARIABLES = 5 };

struct variable {
    const char *name;
    char *old; /* NULL: was not set */
    bool changed;
};

struct cavs__record {
    char *dir;                       /* absolute: the program may change its working directory */
    char prefix[LONGEST_PREFIX + 1]; /* the same folder, for StarPU */
    int fd; /* of the folder: locked, and what a long prefix goes through */
    int rank, ranks;
    struct variable variables[VARIABLES];
    int nvariables;
};

/* ---- the environment ------------------------------------------------------------------------- */

/* keep: what the user has set stays. */
static int set(struct cavs__record *run, const char *name, const char *value, bool keep)
{
    const char *old = getenv(name);
    struct variable *v = &run->variables[run->nvariables];

    if (old && keep)
        return CAVS_OK;
    *v = (struct variable){name, old ? strdup(old) : NULL, true};
    if ((old && !v->old) || setenv(name, value, 1) != 0)
        return cavs__fail_nomem("trace", strlen(value));
    run->nvariables++;
    return CAVS_OK;
}

static void restore(struct cavs__record *run)
{
    for (int i = 0; i < run->nvariables; i++) {
        struct variable *v = &run->variables[i];

        if (v->old)
            setenv(v->name, v->old, 1);
        else
            unsetenv(v->name);
        free(v->old);
    }
    run->nvariables = 0;
}

/* Of StarPU's classes of events: TASK is what every file of the trace is made from, WORKER tells
 * when workers sleep, USER and EVENT are marks of the program's own and of FxT writing its buffer
 * to disk; DSM is what moves between memories, four events a task even if nothing does; MPI is what
 * moves between ranks.  The other classes cost as much as these together, and the summary does not
 * need them.
 *
 * FxT touches all of its buffer at the start, twice: 128 MB hold some 100,000 tasks, and 0.1 s
 * is spent on it. */
static int set_all(struct cavs__record *run, bool transfers)
{
    int rc = set(run, "STARPU_FXT_TRACE", "1", false);

    if (!rc)
        rc = set(run, "STARPU_FXT_PREFIX", run->prefix, true);
    if (!rc)
        rc = set(run, "STARPU_FXT_SUFFIX", "trace.fxt", true);
    if (!rc)
        rc = set(run, "STARPU_FXT_EVENTS",
                 run->ranks > 1 ? "TASK,WORKER,USER,EVENT,MPI"
                 : transfers    ? "TASK,WORKER,USER,EVENT,DSM"
                                : "TASK,WORKER,USER,EVENT",
                 true);
    if (!rc)
        rc = set(run, "STARPU_TRACE_BUFFER_SIZE", "128", true);
    if (!rc)
        starpu_fxt_autostart_profiling(1); /* without this STARPU_FXT_EVENTS has no effect */
    return rc;
}

/* A long path goes through the descriptor, whose name is short. */
static void name_prefix(struct cavs__record *run)
{
    if (strlen(run->dir) > LONGEST_PREFIX)
        snprintf(run->prefix, sizeof run->prefix, "/proc/self/fd/%d", run->fd);
    else
        strcpy(run->prefix, run->dir);
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void run_free(struct cavs__record *run)
{
    restore(run);
    close(run->fd);
    free(run->dir);
    free(run);
}

int cavs__record_begin(const char *dir, bool transfers, struct cavs__ranks *ranks,
                       struct cavs__record **out)
{
    struct cavs__record *run;
    int fd, rc = cavs__trace_folder_open(dir, ranks, &fd);

    if (rc)
        return rc;
    run = calloc(1, sizeof *run);
    if (!run) {
        close(fd);
        return cavs__fail_nomem("trace", sizeof *run);
    }
    run->fd = fd;
    run->rank = cavs__rank(ranks);
    run->ranks = cavs__ranks_count(ranks);
    run->dir = realpath(dir, NULL);
    if (run->dir) {
        name_prefix(run);
        rc = set_all(run, transfers);
    } else {
        rc = cavs__fail(CAVS_EIO, "cannot find the folder %s: %s", dir, strerror(errno));
    }
    if (rc) {
        run_free(run);
        return rc;
    }
    *out = run;
    return CAVS_OK;
}

/* Where StarPU wrote to, by the user's variables or ours. */
static void recorded_file(const struct cavs__record *run, char *path, size_t size)
{
    const char *prefix = getenv("STARPU_FXT_PREFIX"), *suffix = getenv("STARPU_FXT_SUFFIX");
    bool ours = strcmp(prefix, run->prefix) == 0;

    snprintf(path, size, "%s/%s_%d", ours ? run->dir : prefix, suffix, run->rank);
}

/* The folder's trace.fxt is the file, if that is in the folder by the name that we gave it, or a
 * link to where the user's settings have put it.  Of several ranks, trace.fxt_RANK. */
static int name_file(const struct cavs__record *run, const char *recorded)
{
    char wanted[4200], given[4200], *target = realpath(recorded, NULL);
    int rc;

    if (!target)
        return cavs__fail(CAVS_ERUNTIME, "StarPU left no file %s: %s", recorded, strerror(errno));
    snprintf(given, sizeof given, "%s/trace.fxt_%d", run->dir, run->rank);
    snprintf(wanted, sizeof wanted, "%s/trace.fxt", run->dir);
    if (run->ranks > 1)
        strcpy(wanted, given);
    rc = strcmp(recorded, given) == 0 ? rename(given, wanted) : symlink(target, wanted);
    if (rc != 0 && errno != EEXIST)
        rc = cavs__fail(CAVS_EIO, "cannot make %s: %s", wanted, strerror(errno));
    else
        rc = CAVS_OK;
    free(target);
    return rc;
}

/* Where a disk is full FxT says so on stderr and goes on: what it left is whole for sure only if
 * there is room behind it. */
static int check_room(const char *recorded)
{
    int fd = open(recorded, O_WRONLY | O_CLOEXEC), rc = CAVS_OK;
    struct stat st;

    if (fd < 0)
        return CAVS_OK; /* name_file() says what is the matter */
    if (fstat(fd, &st) == 0 && fallocate(fd, FALLOC_FL_KEEP_SIZE, st.st_size, 4096) != 0 &&
        (errno == ENOSPC || errno == EDQUOT))
        rc = cavs__fail(CAVS_EIO, "%s may be cut short: %s", recorded, strerror(errno));
    close(fd);
    return rc;
}

int cavs__record_end(struct cavs__record *run)
{
    char recorded[4200];
    int rc;

    if (!run)
        return CAVS_OK;
    recorded_file(run, recorded, sizeof recorded);
    restore(run);
    rc = check_room(recorded);
    if (rc == CAVS_OK)
        rc = name_file(run, recorded);
    run_free(run);
    return rc ? cavs__fail_in(rc, "there is no trace") : CAVS_OK;
}

void cavs__record_cancel(struct cavs__record *run)
{
    if (run)
        run_free(run);
}

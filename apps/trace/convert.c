/* SPDX-License-Identifier: Apache-2.0 */
/* convert.c - what StarPU recorded -> tasks.rec, paje.trace and the like, by its
 * starpu_fxt_tool. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config.h"

#include "apps/common/tool.h"
#include "apps/trace/trace.h"

/* ---- the record ------------------------------------------------------------------------------ */

bool trace_has(const char *dir, const char *name, char *path, size_t size)
{
    struct stat st;

    snprintf(path, size, "%s/%s", dir, name);
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* StarPU itself calls the file PREFIX_0, by default prof_file_USER_0. */
static bool has_number(const char *name)
{
    size_t n = strlen(name);

    return n > 2 && strcmp(name + n - 2, "_0") == 0;
}

bool trace_find_record(const char *dir, char *path, size_t size)
{
    DIR *d;
    int found = 0;

    if (trace_has(dir, "trace.fxt", path, size) || trace_has(dir, "trace.fxt_0", path, size))
        return true;
    d = opendir(dir);
    for (struct dirent *entry; d && (entry = readdir(d));)
        if (has_number(entry->d_name) && trace_has(dir, entry->d_name, path, size))
            found++;
    if (d)
        closedir(d);
    return found == 1;
}

/* The records of a run's ranks: that of the first one, and those beside it. */
struct records {
    int n;
    char *path[TRACE_RANKS];
};

static bool add_record(struct records *r, const char *path)
{
    r->path[r->n] = strdup(path);
    return r->path[r->n] && ++r->n;
}

static bool find_records(struct records *r, const char *first)
{
    int stem = (int)strlen(first) - 2;
    bool ok = add_record(r, first);

    for (int i = 1; i < TRACE_RANKS && has_number(first) && ok; i++) {
        char path[4200];

        if (snprintf(path, sizeof path, "%.*s_%d", stem, first, i) < (int)sizeof path &&
            access(path, R_OK) == 0)
            ok = add_record(r, path);
    }
    return ok;
}

static void free_records(struct records *r)
{
    for (int i = 0; i < r->n; i++)
        free(r->path[i]);
}

/* The tool aborts where there is none. */
static int check_record(const char *path, struct app_error *e)
{
    struct stat st;

    if (access(path, R_OK) != 0 || stat(path, &st) != 0)
        return app_fail(e, CAVS_EIO, "%s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return app_fail(e, CAVS_EIO, "%s: it is a folder, and what StarPU recorded is wanted",
                        path);
    return st.st_size > 0 ? 0 : app_fail(e, CAVS_EFORMAT, "%s: it is empty: no record", path);
}

/* ---- the tool -------------------------------------------------------------------------------- */

/* The folder cavs beside the library: `make install` may put a copy of the tool there
 * (build-aux/install-starpu). */
static const char *folder_of_copy(char *path, size_t size)
{
    Dl_info library;
    const char *end;

    if (!dladdr((void *)cavs_version, &library) || !(end = strrchr(library.dli_fname, '/')))
        return NULL;
    if (snprintf(path, size, "%.*s/cavs", (int)(end - library.dli_fname), library.dli_fname) >=
        (int)size)
        return NULL;
    return path;
}

/* What the tool leaves without anything in it: records of MPI and of modular schedulers, and a page
 * about the latter's queues that also wants a script from the net. */
static void drop_empty_files(const char *dir)
{
    static const char *const names[] = {"comms.rec", "sched_tasks.rec", "trace.html"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4200];
        struct stat s;

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (stat(path, &s) == 0 && (s.st_size == 0 || strcmp(names[i], "trace.html") == 0))
            unlink(path);
    }
}

static int run_tool(const char *dir, const struct records *records, struct app_error *e)
{
    const char *argv[2 * TRACE_RANKS + 5] = {"starpu_fxt_tool", "-c", "-d", dir};
    char log[4200], copy[4096];
    /* A tool of the same StarPU understands the record best; PATH is for one that was moved. */
    struct tool tool = {.argv = argv,
                        .folders = {CAVS_STARPU_BINDIR, folder_of_copy(copy, sizeof copy)},
                        .log = log,
                        .hint = " (Debian: package starpu-tools)"};

    for (int i = 0; i < records->n; i++) {
        argv[4 + 2 * i] = "-i";
        argv[5 + 2 * i] = records->path[i];
    }
    snprintf(log, sizeof log, "%s/starpu_fxt_tool.log", dir);
    return tool_run(&tool, e);
}

int trace_convert(const char *dir, const char *record, struct app_error *e)
{
    struct records records = {0};
    int rc = check_record(record, e);

    if (rc)
        return rc;
    rc = find_records(&records, record)
             ? run_tool(dir, &records, e)
             : app_fail(e, CAVS_ENOMEM, "no memory for the names of records");
    drop_empty_files(dir);
    free_records(&records);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* tool.c - runs one of StarPU's programs. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "config.h"
#include "core/base/error.h"
#include "core/trace/trace.h"

extern char **environ;

/* Nothing is read from our stdin, nothing written to our stdout: results of the program may be
 * read from there. */
static int start(const char *path, const char *const *argv, const char *log, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);

    if (rc)
        return rc;
    rc = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!rc)
        rc = posix_spawn_file_actions_addopen(&files, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (!rc)
        rc = posix_spawnp(pid, path, &files, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static int start_in(const char *folder, const char *const *argv, const char *log, pid_t *pid)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, argv[0]);

    return n < (int)sizeof path ? start(path, argv, log, pid) : ENAMETOOLONG;
}

/* `make install` may put a copy beside the library (build-aux/install-starpu). */
static int start_beside_library(const char *const *argv, const char *log, pid_t *pid)
{
    static const char folder[] = "cavs";
    Dl_info library;
    const char *end;
    char path[4096];

    if (!dladdr(folder, &library) || !(end = strrchr(library.dli_fname, '/')))
        return ENOENT;
    if (snprintf(path, sizeof path, "%.*s/%s", (int)(end - library.dli_fname), library.dli_fname,
                 folder) >= (int)sizeof path)
        return ENAMETOOLONG;
    return start_in(path, argv, log, pid);
}

/* A tool of the same StarPU understands the trace best; PATH is for one that was moved. */
static int start_somewhere(const char *const *argv, const char *log, pid_t *pid)
{
    int rc = start_in(CAVS_STARPU_BINDIR, argv, log, pid);

    if (rc)
        rc = start_beside_library(argv, log, pid);
    return rc ? start(argv[0], argv, log, pid) : 0;
}

/* The status of the process; where the program ignores SIGCHLD there is none, and 0 is as good a
 * guess as any. */
static int finish(pid_t pid)
{
    int status = 0;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return 0;
    }
    return status;
}

static int report(const char *tool, int status, const char *log)
{
    if (WIFSIGNALED(status))
        return cavs__fail(CAVS_ERUNTIME, "%s was killed by signal %d (%s); what it said is in %s",
                          tool, WTERMSIG(status), strsignal(WTERMSIG(status)), log);
    return cavs__fail(CAVS_ERUNTIME, "%s failed with status %d; what it said is in %s", tool,
                      WEXITSTATUS(status), log);
}

int cavs__trace_tool(const char *const *argv, const char *log)
{
    struct stat st;
    pid_t pid;
    int rc = start_somewhere(argv, log, &pid), status;

    if (rc) {
        unlink(log);
        return cavs__fail(
            CAVS_ERUNTIME,
            "cannot run %s, neither from %s nor from PATH: %s (Debian: package starpu-tools)",
            argv[0], CAVS_STARPU_BINDIR, strerror(rc));
    }
    status = finish(pid);
    if (status)
        return report(argv[0], status, log);
    if (stat(log, &st) == 0 && st.st_size == 0)
        unlink(log);
    return CAVS_OK;
}

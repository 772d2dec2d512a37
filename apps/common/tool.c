/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int redirect(posix_spawn_file_actions_t *files, const char *log)
{
    int rc = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

    if (rc)
        return rc;
    if (!log)
        return posix_spawn_file_actions_adddup2(files, STDERR_FILENO, STDOUT_FILENO);
    rc = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_TRUNC,
                                          0666);
    return rc ? rc : posix_spawn_file_actions_adddup2(files, STDOUT_FILENO, STDERR_FILENO);
}

static int start(const struct tool *t, const char *path, pid_t *pid)
{
    posix_spawn_file_actions_t files;
    int rc = posix_spawn_file_actions_init(&files);

    if (rc)
        return rc;
    rc = redirect(&files, t->log);
    if (!rc)
        rc = posix_spawnp(pid, path, &files, NULL, (char *const *)t->argv, environ);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static int start_in(const struct tool *t, const char *folder, pid_t *pid)
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, t->argv[0]);

    return n < (int)sizeof path ? start(t, path, pid) : ENAMETOOLONG;
}

static int start_somewhere(const struct tool *t, pid_t *pid)
{
    for (int i = 0; i < TOOL_FOLDERS; i++)
        if (t->folders[i] && start_in(t, t->folders[i], pid) == 0)
            return 0;
    return start(t, t->argv[0], pid);
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

static int report_missing(const struct tool *t, int number, struct app_error *e)
{
    return app_fail(e, CAVS_ERUNTIME, "cannot run %s, neither from %s nor from PATH: %s%s",
                    t->argv[0], t->folders[0] ? t->folders[0] : "our own folder", strerror(number),
                    t->hint ? t->hint : "");
}

static int report_failure(const struct tool *t, int status, struct app_error *e)
{
    const char *before = t->log ? "; what it said is in " : "", *log = t->log ? t->log : "";

    if (WIFSIGNALED(status))
        return app_fail(e, CAVS_ERUNTIME, "%s was killed by signal %d (%s)%s%s", t->argv[0],
                        WTERMSIG(status), strsignal(WTERMSIG(status)), before, log);
    return app_fail(e, CAVS_ERUNTIME, "%s failed with status %d%s%s", t->argv[0],
                    WEXITSTATUS(status), before, log);
}

static void drop_empty(const char *log)
{
    struct stat st;

    if (log && stat(log, &st) == 0 && st.st_size == 0)
        unlink(log);
}

int tool_run(const struct tool *t, struct app_error *e)
{
    pid_t pid;
    int rc = start_somewhere(t, &pid), status = rc ? 0 : finish(pid);

    if (rc || status == 0)
        drop_empty(t->log);
    if (rc)
        return report_missing(t, rc, e);
    return status ? report_failure(t, status, e) : 0;
}

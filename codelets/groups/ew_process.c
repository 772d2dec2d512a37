/* SPDX-License-Identifier: Apache-2.0 */
/* ew_process.c - runs a command, such as a compiler's, for so long and no longer. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "codelets/groups/ew_internal.h"
#include "core/base/notice.h"

extern char **environ;

#define TIMEOUT 120 /* seconds, unless the environment says otherwise */
#define PATIENT 2   /* seconds after which people want to know what is going on */

long cavs__ew_process_limit(void)
{
    const char *text = getenv("CAVS_COMPILE_TIMEOUT");
    char *end;
    long s;

    if (!text || !*text)
        return TIMEOUT;
    errno = 0;
    s = strtol(text, &end, 10);
    if (!errno && !*end && s >= 0)
        return s;
    cavs__notice("CAVS_COMPILE_TIMEOUT=%s is no whole number of seconds; %d it is", text, TIMEOUT);
    return TIMEOUT;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Waits a little longer each time, so that short runs end soon and long ones cost nothing. */
static void pause_after(double waited)
{
    long ms = 1 + (long)(waited * 20);

    nanosleep(&(struct timespec){.tv_nsec = 1000000 * (ms < 20 ? ms : 20)}, NULL);
}

static void say_patience(const char *compiler, long limit)
{
    char most[80] = "";

    if (limit > 0)
        snprintf(most, sizeof most, ", %ld s at most (CAVS_COMPILE_TIMEOUT)", limit);
    cavs__notice("compiling fused groups of operators with %s takes more than %d s%s", compiler,
                 PATIENT, most);
}

/* Compilers that are asked to end remove their files first. */
static void end(pid_t pid)
{
    int status;

    kill(-pid, SIGTERM);
    for (int i = 0; i < 50 && !waitpid(pid, &status, WNOHANG); i++)
        pause_after(1);
    kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
}

/* Waits for a process, which leads a group of its own: what it has started ends with it.  A host
 * program that ignores SIGCHLD leaves nothing to wait for: then the caller looks at what was
 * made. */
static enum cavs__ew_end wait_for(pid_t pid, const char *compiler)
{
    double start = now(), waited;
    long limit = cavs__ew_process_limit();
    pid_t rc;
    int status = 0;

    while (!(rc = waitpid(pid, &status, WNOHANG)) || (rc < 0 && errno == EINTR)) {
        waited = now() - start;
        if (limit > 0 && waited > (double)limit) {
            end(pid);
            return CAVS__EW_TOO_LATE;
        }
        if (waited > PATIENT)
            say_patience(compiler, limit);
        pause_after(waited);
    }
    return status ? CAVS__EW_FAILED : CAVS__EW_DONE;
}

enum cavs__ew_end cavs__ew_process_run(char *const argv[], const char *log_path)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    pid_t pid;
    int rc;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    rc = posix_spawnp(&pid, argv[0], &files, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return rc ? CAVS__EW_FAILED : wait_for(pid, argv[0]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_folder.c - the folder that StarPU gets for its models, whatever the environment says: it can
 * be written, is nobody else's, and what was made for one run is gone after it.
 */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/run/runtime.h"
#include "tests/trial.h"

static const char *const variables[] = {"STARPU_PERF_MODEL_DIR", "XDG_CACHE_HOME", "STARPU_HOME",
                                        "HOME", "TMPDIR"};
enum { NVARIABLES = sizeof variables / sizeof *variables };

/* Everything happens in `top`; root, whom no permission stops, becomes nobody for a test. */
struct scene {
    char top[64], path[128];
    char *before[NVARIABLES];
    bool root;
};

static const char *at(struct scene *a, const char *name)
{
    snprintf(a->path, sizeof a->path, "%s/%s", a->top, name);
    return a->path;
}

static void set(struct scene *a, const char *variable, const char *name)
{
    assert_int_equal(setenv(variable, at(a, name), 1), 0);
}

static void make(struct scene *a, const char *name, int mode)
{
    assert_int_equal(mkdir(at(a, name), (mode_t)mode), 0);
}

static int scene_open(void **state)
{
    struct scene *a = calloc(1, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < NVARIABLES; i++) {
        a->before[i] = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL;
        unsetenv(variables[i]);
    }
    strcpy(a->top, "/tmp/cavs-test-folder.XXXXXX");
    assert_non_null(mkdtemp(a->top));
    assert_int_equal(chmod(a->top, 0777), 0);
    a->root = geteuid() == 0;
    if (a->root)
        assert_int_equal(seteuid(65534), 0);
    make(a, "tmp", 0700);
    set(a, "TMPDIR", "tmp");
    *state = a;
    return 0;
}

static int discard(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

static int scene_close(void **state)
{
    struct scene *a = *state;
    if (a->root)
        assert_int_equal(seteuid(0), 0);
    else
        chmod(at(a, "locked"), 0700);
    nftw(a->top, discard, 8, FTW_DEPTH | FTW_PHYS);
    for (int i = 0; i < NVARIABLES; i++) {
        if (a->before[i])
            setenv(variables[i], a->before[i], 1);
        else
            unsetenv(variables[i]);
        free(a->before[i]);
    }
    free(a);
    return 0;
}

/* A new folder in TMPDIR that others cannot enter; it goes with all that is in it. */
static void check_private(struct scene *a)
{
    struct cavs__folder f = {0};
    struct stat st;
    char path[200], file[220];
    check_ok(cavs__folder_choose(&f));
    assert_non_null(f.path);
    snprintf(path, sizeof path, "%s", f.path);
    assert_string_equal(getenv("STARPU_PERF_MODEL_DIR"), path);
    assert_int_equal(strncmp(path, at(a, "tmp/"), strlen(at(a, "tmp/"))), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(st.st_uid, geteuid());
    snprintf(file, sizeof file, "%s/bus", path);
    assert_int_equal(mkdir(file, 0700), 0);
    snprintf(file, sizeof file, "%s/bus/model", path);
    assert_int_equal(close(creat(file, 0600)), 0);
    cavs__folder_forget(&f);
    assert_int_equal(access(path, F_OK), -1);
    assert_null(getenv("STARPU_PERF_MODEL_DIR"));
}

static void left_alone_where_it_can_be_made(void **state)
{
    struct scene *a = *state;
    struct cavs__folder f = {0};
    make(a, "home", 0700);
    set(a, "HOME", "home");
    check_ok(cavs__folder_choose(&f));
    assert_null(f.path);
    assert_null(getenv("STARPU_PERF_MODEL_DIR"));
    cavs__folder_forget(&f);
    assert_int_equal(access(at(a, "home/.starpu/sampling"), W_OK), 0);
}

static void private_without_a_home(void **state)
{
    check_private(*state);
    setenv("HOME", "", 1);
    check_private(*state);
}

static void private_if_the_home_is_missing_or_a_file(void **state)
{
    struct scene *a = *state;
    setenv("HOME", "/proc/no-such-folder", 1);
    check_private(a);
    assert_int_equal(close(creat(at(a, "file"), 0600)), 0);
    set(a, "HOME", "file");
    check_private(a);
}

static void private_if_the_home_cannot_be_written(void **state)
{
    struct scene *a = *state;
    make(a, "locked", 0500);
    set(a, "HOME", "locked");
    check_private(a);
}

/* As after a run as another user with the same HOME. */
static void private_if_a_file_in_it_cannot_be_written(void **state)
{
    struct scene *a = *state;
    make(a, "home", 0700);
    make(a, "home/.starpu", 0700);
    make(a, "home/.starpu/sampling", 0700);
    make(a, "home/.starpu/sampling/bus", 0700);
    assert_int_equal(close(creat(at(a, "home/.starpu/sampling/bus/host.config"), 0400)), 0);
    set(a, "HOME", "home");
    check_private(a);
}

static void next_place_where_the_first_will_not_do(void **state)
{
    struct scene *a = *state;
    struct cavs__folder f = {0};
    make(a, "home", 0700);
    set(a, "HOME", "home");
    setenv("XDG_CACHE_HOME", "/proc/no-such-folder", 1);
    check_ok(cavs__folder_choose(&f));
    assert_string_equal(getenv("STARPU_PERF_MODEL_DIR"), at(a, "home/.starpu/sampling"));
    cavs__folder_forget(&f);
    assert_null(getenv("STARPU_PERF_MODEL_DIR"));
    assert_int_equal(access(at(a, "home/.starpu/sampling"), W_OK), 0);
}

static void make_sampling(struct scene *a)
{
    make(a, "home", 0700);
    make(a, "home/.starpu", 0700);
    make(a, "home/.starpu/sampling", 0700);
    make(a, "home/.starpu/sampling/bus", 0700);
    set(a, "HOME", "home");
}

static void put(struct scene *a, const char *name, const char *text, time_t age)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};
    FILE *f = fopen(at(a, name), "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(utimensat(AT_FDCWD, at(a, name), times, 0), 0);
}

/* StarPU aborts when it reads what a run left that was killed while it wrote, or found the disk
 * full. */
static void unfinished_files_are_removed(void **state)
{
    struct scene *a = *state;
    struct cavs__folder f = {0};
    make_sampling(a);
    put(a, "home/.starpu/sampling/bus/host.affinity", "# GPU", 3600);
    put(a, "home/.starpu/sampling/bus/host.config", "", 3600);
    put(a, "home/.starpu/sampling/bus/host.latency", "1\n", 3600);
    put(a, "home/.starpu/sampling/model", "", 3600);
    check_ok(cavs__folder_choose(&f));
    assert_null(f.path);
    assert_int_equal(access(at(a, "home/.starpu/sampling/bus/host.affinity"), F_OK), -1);
    assert_int_equal(access(at(a, "home/.starpu/sampling/bus/host.config"), F_OK), -1);
    assert_int_equal(access(at(a, "home/.starpu/sampling/bus/host.latency"), F_OK), 0);
    assert_int_equal(access(at(a, "home/.starpu/sampling/model"), F_OK), 0);
    cavs__folder_forget(&f);
}

static void what_is_being_written_is_waited_for(void **state)
{
    const char *name = "home/.starpu/sampling/bus/host.config";
    struct scene *a = *state;
    struct cavs__folder f = {0};
    pid_t child;
    make_sampling(a);
    put(a, name, "", 0);
    child = fork();
    if (child == 0) {
        usleep(100000);
        put(a, name, "2\n", 0);
        _exit(0);
    }
    check_ok(cavs__folder_choose(&f));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(access(at(a, name), F_OK), 0);
    cavs__folder_forget(&f);
}

/* A limit to files is like a full disk. */
static void refused_where_there_is_no_room(void **state)
{
    struct rlimit before, limit;
    struct scene *a = *state;
    struct cavs__folder f = {0};
    make_sampling(a);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    check_refused(cavs__folder_choose(&f), CAVS_ERUNTIME, "No space left", "set STARPU_HOME");
    assert_int_equal(rmdir(at(a, "tmp")), 0); /* nothing is left in it */
    put(a, "home/.starpu/sampling/bus/host.config", "2\n", 3600);
    check_ok(cavs__folder_choose(&f)); /* nothing has to be written */
    assert_null(f.path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    cavs__folder_forget(&f);
}

/* What was asked for by name is not replaced by something else. */
static void refused_where_it_was_asked_for(void **state)
{
    struct scene *a = *state;
    struct cavs__folder f = {0};
    make(a, "home", 0700);
    set(a, "HOME", "home");
    setenv("STARPU_HOME", "/proc/no-such-folder", 1);
    check_refused(cavs__folder_choose(&f), CAVS_ERUNTIME, "/proc/no-such-folder",
                  "set STARPU_HOME");
    unsetenv("STARPU_HOME");
    setenv("STARPU_PERF_MODEL_DIR", "/dev/null", 1);
    check_refused(cavs__folder_choose(&f), CAVS_ERUNTIME, "/dev/null", "Not a directory");
    assert_null(f.path);
}

static void refused_where_nothing_can_be_made(void **state)
{
    struct cavs__folder f = {0};
    (void)state;
    setenv("TMPDIR", "/proc/no-such-folder", 1);
    check_refused(cavs__folder_choose(&f), CAVS_ERUNTIME, "/proc/no-such-folder",
                  "set STARPU_HOME");
    assert_null(f.path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(left_alone_where_it_can_be_made),
        TEST(private_without_a_home),
        TEST(private_if_the_home_is_missing_or_a_file),
        TEST(private_if_the_home_cannot_be_written),
        TEST(private_if_a_file_in_it_cannot_be_written),
        TEST(unfinished_files_are_removed),
        TEST(what_is_being_written_is_waited_for),
        TEST(refused_where_there_is_no_room),
        TEST(next_place_where_the_first_will_not_do),
        TEST(refused_where_it_was_asked_for),
        TEST(refused_where_nothing_can_be_made),
    };
    return cmocka_run_group_tests_name("folder", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* test_group_cache.c - compiled groups in their cache: what is reused, and what is not trusted. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "codelets/groups/elementwise.h"
#include "tests/group_cache.h"
#include "tests/skip.h"

/* ---- reuse ---- */

static void second_creation_runs_no_compiler(void **unused)
{
    (void)unused;
    cache_check(true, 1);
    cache_check(true, 1);
    assert_int_equal(cache_count("kernels/*.so"), 1);
    assert_int_equal(cache_count("kernels/*"), 2); /* and its source, nothing left over */
}

static void batch_is_compiled_by_one_run(void **unused)
{
    struct cavs__ew_program *p[3];

    (void)unused;
    for (int again = 0; again < 2; again++) {
        cavs__ew_batch_begin();
        for (int i = 0; i < 3; i++) {
            p[i] = cache_make(1 + i);
            assert_false(cavs__ew_program_compiled(p[i]));
            cache_check_result(p[i]);
        }
        cavs__ew_batch_end();
        for (int i = 0; i < 3; i++) {
            assert_true(cavs__ew_program_compiled(p[i]));
            cache_check_result(p[i]);
            cavs__ew_program_destroy(p[i]);
        }
        assert_int_equal(cache_compiler_runs(), 1);
    }
}

/* How many functions the source text beside the object has. */
static int functions_made(void)
{
    FILE *f = fopen(cache_only("kernels/*.c"), "r");
    char line[500];
    int n = 0;

    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        n += strncmp(line, "void group", 10) == 0;
    fclose(f);
    return n;
}

static void equal_groups_of_a_batch_are_one_function(void **unused)
{
    static const int width[] = {1, 2, 1, 1, 2};
    struct cavs__ew_program *p[5];

    (void)unused;
    cavs__ew_batch_begin();
    for (int i = 0; i < 5; i++)
        p[i] = cache_make(width[i]);
    cavs__ew_batch_end();
    assert_int_equal(functions_made(), 2);
    for (int i = 0; i < 5; i++) {
        assert_true(cavs__ew_program_compiled(p[i]));
        cache_check_result(p[i]);
        cavs__ew_program_destroy(p[i]);
    }
}

static void program_may_be_destroyed_within_a_batch(void **unused)
{
    struct cavs__ew_program *p[3];

    (void)unused;
    cavs__ew_batch_begin();
    cavs__ew_batch_begin(); /* batches nest: the outermost end counts */
    for (int i = 0; i < 3; i++)
        p[i] = cache_make(1 + i);
    cavs__ew_program_destroy(p[1]);
    cavs__ew_batch_end();
    assert_int_equal(cache_compiler_runs(), 0);
    cavs__ew_batch_end();
    for (int i = 0; i < 3; i += 2) {
        assert_true(cavs__ew_program_compiled(p[i]));
        cache_check_result(p[i]);
        cavs__ew_program_destroy(p[i]);
    }
}

static void several_processes_may_build_the_same(void **unused)
{
    enum { N = 4 };
    pid_t pid[N];

    (void)unused;
    for (int i = 0; i < N; i++) {
        pid[i] = fork();
        assert_true(pid[i] >= 0);
        if (pid[i] == 0) {
            struct cavs__ew_program *p = cache_make(1);

            _exit(cavs__ew_program_compiled(p) ? 0 : 1);
        }
    }
    for (int i = 0; i < N; i++) {
        int status = -1;

        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(cache_count("kernels/*.so"), 1);
    cache_check(true, cache_compiler_runs());
}

/* ---- distrust ---- */

static void truncated_file_is_built_again(void **unused)
{
    struct stat st;

    (void)unused;
    cache_check(true, 1);
    assert_int_equal(stat(cache_only("kernels/*.so"), &st), 0);
    for (int i = 0; i < 3; i++) {
        off_t size = i == 0 ? 0 : i == 1 ? st.st_size / 2 : st.st_size - 1;

        assert_int_equal(truncate(cache_only("kernels/*.so"), size), 0);
        cache_check(true, 2 + i);
    }
}

static void altered_file_is_built_again(void **unused)
{
    int fd;

    (void)unused;
    cache_check(true, 1);
    fd = open(cache_only("kernels/*.so"), O_WRONLY);
    assert_int_equal(pwrite(fd, "\x90", 1, 5000), 1);
    close(fd);
    cache_check(true, 2);
}

static void file_of_another_group_is_built_again(void **unused)
{
    char first[CACHE_PATH];

    (void)unused;
    cache_check(true, 1);
    snprintf(first, sizeof first, "%s", cache_only("kernels/*.so"));
    assert_int_equal(rename(first, cache_path("first")), 0);
    cavs__ew_program_destroy(cache_make(2));
    assert_int_equal(rename(cache_only("kernels/*.so"), first), 0);
    cache_check(true, 3);
}

static void writable_file_is_built_again(void **unused)
{
    (void)unused;
    cache_check(true, 1);
    assert_int_equal(chmod(cache_only("kernels/*.so"), 0722), 0);
    cache_check(true, 2);
    assert_int_equal(chmod(cache_only("kernels/*.so"), 0707), 0);
    cache_check(true, 3);
}

static void symbolic_link_is_built_again(void **unused)
{
    char path[CACHE_PATH];

    (void)unused;
    cache_check(true, 1);
    snprintf(path, sizeof path, "%s", cache_only("kernels/*.so"));
    assert_int_equal(rename(path, cache_path("elsewhere")), 0);
    assert_int_equal(symlink(cache_path("elsewhere"), path), 0);
    cache_check(true, 2);
}

static void file_of_another_user_is_built_again(void **unused)
{
    (void)unused;
    cache_check(true, 1);
    if (chown(cache_only("kernels/*.so"), 4321, (gid_t)-1))
        SKIP("only root can give a file away");
    cache_check(true, 2);
}

static void folder_open_to_others_is_not_used(void **unused)
{
    (void)unused;
    cache_check(true, 1);
    assert_int_equal(chmod(cache_path("kernels"), 0777), 0);
    cache_check(false, 1);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "not private"));
    assert_int_equal(chmod(cache_path("kernels"), 0700), 0);
    cache_check(true, 1);
}

/* Makes the folder `way` in the scene and has the cache in it. */
static void cache_by(const char *way, mode_t mode)
{
    char path[CACHE_PATH];

    assert_int_equal(mkdir(cache_path("way"), 0700), 0);
    snprintf(path, sizeof path, "%s", cache_path(way));
    setenv("CAVS_CACHE", path, 1);
    cache_check(true, 1);
    assert_int_equal(chmod(cache_path("way"), mode), 0);
}

static void check_way_is_refused(const char *names)
{
    cache_check(false, 1);
    if (!strstr(cavs__ew_fallback_reason(), "not private") ||
        !strstr(cavs__ew_fallback_reason(), names))
        fail_msg("'%s' should name %s", cavs__ew_fallback_reason(), names);
}

static void remove_way(const char *folder)
{
    char pattern[CACHE_PATH];

    chmod(cache_path("way"), 0700);
    snprintf(pattern, sizeof pattern, "rm -rf '%s'", cache_path(folder));
    assert_int_equal(system(pattern), 0);
}

static void folder_below_one_open_to_others_is_not_used(void **unused)
{
    static const mode_t modes[] = {0702, 0722, 0777};

    (void)unused;
    cache_by("way/cache", 0700);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(cache_path("way"), modes[i]), 0);
        check_way_is_refused("/way");
    }
    assert_int_equal(chmod(cache_path("way"), 01777), 0); /* as /tmp: only owners may remove */
    cache_check(true, 1);
    assert_int_equal(chmod(cache_path("way"), 0755), 0);
    cache_check(true, 1);
    remove_way("way");
}

/* A user's private group is nobody else, so with umask 002 all is as it should be. */
static void only_a_private_group_may_write_on_the_way(void **unused)
{
    struct passwd *user = getpwuid(geteuid());
    struct group *group = getgrgid(getegid());
    bool own = user && group && strcmp(user->pw_name, group->gr_name) == 0 && !group->gr_mem[0];

    (void)unused;
    cache_by("way/cache", 0720);
    if (geteuid() != 0 && own)
        cache_check(true, 1);
    else
        check_way_is_refused("/way");
    remove_way("way");
}

static void folder_below_another_users_is_not_used(void **unused)
{
    (void)unused;
    cache_by("way/cache", 0755);
    if (chown(cache_path("way"), 4321, (gid_t)-1)) {
        remove_way("way");
        SKIP("only root can give a folder away");
    }
    check_way_is_refused("/way");
    remove_way("way");
}

static void make_link(void)
{
    assert_int_equal(mkdir(cache_path("way"), 0700), 0);
    assert_int_equal(mkdir(cache_path("real"), 0700), 0);
    assert_int_equal(symlink("../real", cache_path("way/link")), 0);
    setenv("CAVS_CACHE", cache_path("way/link"), 1);
}

/* Also where others may put links, but not replace ours; what it leads to has to be private all the
 * same. */
static void our_links_are_followed_to_private_folders(void **unused)
{
    (void)unused;
    make_link();
    cache_check(true, 1);
    assert_int_equal(chmod(cache_path("way"), 01777), 0);
    cache_check(true, 1);
    assert_int_equal(chmod(cache_path("real"), 0777), 0);
    check_way_is_refused("/real");
    remove_way("way");
    remove_way("real");
}

/* Whoever owns the link can lead it elsewhere; who may write to the folder of the link, too. */
static void links_of_others_are_not_followed(void **unused)
{
    bool root;

    (void)unused;
    make_link();
    cache_check(true, 1);
    assert_int_equal(chmod(cache_path("way"), 0777), 0);
    check_way_is_refused("/way");
    assert_int_equal(chmod(cache_path("way"), 01777), 0);
    root = lchown(cache_path("way/link"), 4321, (gid_t)-1) == 0;
    if (root)
        check_way_is_refused("/way/link");
    else
        cache_check(true, 1); /* it stayed ours */
    remove_way("way");
    remove_way("real");
}

static void links_in_a_circle_are_left(void **unused)
{
    (void)unused;
    assert_int_equal(symlink("circle", cache_path("circle")), 0);
    setenv("CAVS_CACHE", cache_path("circle"), 1);
    cache_check(false, 0);
    assert_non_null(strstr(cavs__ew_fallback_reason(), strerror(ELOOP)));
}

/* Two libraries at a time, and one after the other: the loader takes none of them for another. */
static void libraries_are_told_apart(void **unused)
{
    struct cavs__ew_program *p[3];

    (void)unused;
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < 3; i++) {
            p[i] = cache_make(1 + i);
            assert_true(cavs__ew_program_compiled(p[i]));
        }
        for (int i = 0; i < 3; i++) {
            cache_check_result(p[i]);
            cavs__ew_program_destroy(p[i]);
        }
        for (int i = 2; i >= 0; i--) {
            p[0] = cache_make(1 + i);
            cache_check_result(p[0]);
            cavs__ew_program_destroy(p[0]);
        }
    }
    assert_int_equal(cache_compiler_runs(), 3);
}

/* The next file that is opened has the number of the first one's. */
static void a_library_that_another_program_still_has_is_not_taken_for_the_next(void **unused)
{
    struct cavs__ew_program *first = cache_make(1), *second = cache_make(1);

    (void)unused;
    cavs__ew_program_destroy(first);
    cache_check_other();
    cache_check_result(second);
    cavs__ew_program_destroy(second);
}

static void made_files_are_private_under_any_umask(void **unused)
{
    mode_t before = umask(0);
    struct stat st;

    (void)unused;
    cache_check(true, 1);
    umask(before);
    assert_int_equal(stat(cache_only("kernels/*.so"), &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    assert_int_equal(stat(cache_path("kernels"), &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    cache_check(true, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, cache_set_up, cache_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(second_creation_runs_no_compiler),
        TEST(batch_is_compiled_by_one_run),
        TEST(equal_groups_of_a_batch_are_one_function),
        TEST(program_may_be_destroyed_within_a_batch),
        TEST(several_processes_may_build_the_same),
        TEST(truncated_file_is_built_again),
        TEST(altered_file_is_built_again),
        TEST(file_of_another_group_is_built_again),
        TEST(writable_file_is_built_again),
        TEST(symbolic_link_is_built_again),
        TEST(file_of_another_user_is_built_again),
        TEST(folder_open_to_others_is_not_used),
        TEST(folder_below_one_open_to_others_is_not_used),
        TEST(only_a_private_group_may_write_on_the_way),
        TEST(folder_below_another_users_is_not_used),
        TEST(our_links_are_followed_to_private_folders),
        TEST(links_of_others_are_not_followed),
        TEST(links_in_a_circle_are_left),
        TEST(libraries_are_told_apart),
        TEST(a_library_that_another_program_still_has_is_not_taken_for_the_next),
        TEST(made_files_are_private_under_any_umask),
    };

    if (cache_without_compiler()) {
        printf("1..0 # SKIP there is no C compiler cc\n");
        return 77;
    }
    return cmocka_run_group_tests_name("group cache", tests, NULL, NULL);
}

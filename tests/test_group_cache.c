/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_group_cache.c - compiled groups in their private cache: what is reused, what is not trusted,
 * and that everything runs on without a compiler.
 *
 * $CC is a script here, which writes a line into the file `runs` each time.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <glob.h>
#include <cmocka.h>

#include "tests/groups.h"

static char folder[4096]; /* of this test; its cache is folder/kernels */

static char *in_folder(const char *name)
{
    static char path[sizeof folder + 64];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    FILE *f = fopen(in_folder(name), "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(in_folder(name), mode), 0);
}

static int compiler_runs(void)
{
    FILE *f = fopen(in_folder("runs"), "r");
    int n = 0;

    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

/* The only file kernels/PATTERN; fails if there is not just one. */
static char *only(const char *pattern)
{
    static char path[sizeof folder + 64];
    glob_t found;

    assert_int_equal(glob(in_folder(pattern), 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static int count(const char *pattern)
{
    glob_t found;
    int n = glob(in_folder(pattern), 0, NULL, &found) ? 0 : (int)found.gl_pathc;

    globfree(&found);
    return n;
}

/* ---- one group ---- */

static struct cavs__ew_program *make(int width)
{
    struct group g;
    struct cavs__ew_program *p;

    group_start(&g, width);
    group_output(&g, group_op2(&g, "add", group_op1(&g, "tanh", group_input(&g)), group_input(&g)));
    p = cavs__ew_program_create(&g.spec, CAVS__EW_AUTO);
    assert_non_null(p);
    return p;
}

static void check_result(const struct cavs__ew_program *p)
{
    float x[3] = {-1, 0, 0.5f}, y[3];
    struct cavs__view v[3] = {
        {.p = x, .ld = 1, .cols = 1}, {.p = x, .ld = 1, .cols = 1}, {.p = y, .ld = 1, .cols = 1}};

    cavs__ew_run(p, 3 / cavs__ew_program_spec(p)->width, v);
    for (int i = 0; i < 3 / cavs__ew_program_spec(p)->width; i++)
        assert_float_equal(y[i], tanh(x[i]) + x[i], 1e-6);
}

/* Makes the group (width 1) once more; it has to work in any case. */
static void check(bool compiled, int runs)
{
    struct cavs__ew_program *p = make(1);

    if (cavs__ew_program_compiled(p) != compiled)
        fail_msg("compiled: %d; %s", !compiled,
                 cavs__ew_fallback_reason() ? cavs__ew_fallback_reason() : "");
    check_result(p);
    cavs__ew_program_destroy(p);
    assert_int_equal(compiler_runs(), runs);
}

/* ---- reuse ---- */

static void second_creation_runs_no_compiler(void **unused)
{
    (void)unused;
    check(true, 1);
    check(true, 1);
    assert_int_equal(count("kernels/*.so"), 1);
    assert_int_equal(count("kernels/*"), 2); /* and its source, nothing left over */
}

static void batch_is_compiled_by_one_run(void **unused)
{
    struct cavs__ew_program *p[3];

    (void)unused;
    for (int again = 0; again < 2; again++) {
        cavs__ew_batch_begin();
        for (int i = 0; i < 3; i++) {
            p[i] = make(1 + i);
            assert_false(cavs__ew_program_compiled(p[i]));
            check_result(p[i]);
        }
        cavs__ew_batch_end();
        for (int i = 0; i < 3; i++) {
            assert_true(cavs__ew_program_compiled(p[i]));
            check_result(p[i]);
            cavs__ew_program_destroy(p[i]);
        }
        assert_int_equal(compiler_runs(), 1);
    }
}

static void program_may_be_destroyed_within_a_batch(void **unused)
{
    struct cavs__ew_program *p[3];

    (void)unused;
    cavs__ew_batch_begin();
    cavs__ew_batch_begin(); /* batches nest: the outermost end counts */
    for (int i = 0; i < 3; i++)
        p[i] = make(1 + i);
    cavs__ew_program_destroy(p[1]);
    cavs__ew_batch_end();
    assert_int_equal(compiler_runs(), 0);
    cavs__ew_batch_end();
    for (int i = 0; i < 3; i += 2) {
        assert_true(cavs__ew_program_compiled(p[i]));
        check_result(p[i]);
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
            struct cavs__ew_program *p = make(1);

            _exit(cavs__ew_program_compiled(p) ? 0 : 1);
        }
    }
    for (int i = 0; i < N; i++) {
        int status = -1;

        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count("kernels/*.so"), 1);
    check(true, compiler_runs());
}

/* ---- distrust ---- */

static void truncated_file_is_built_again(void **unused)
{
    struct stat st;

    (void)unused;
    check(true, 1);
    assert_int_equal(stat(only("kernels/*.so"), &st), 0);
    for (int i = 0; i < 3; i++) {
        off_t size = i == 0 ? 0 : i == 1 ? st.st_size / 2 : st.st_size - 1;

        assert_int_equal(truncate(only("kernels/*.so"), size), 0);
        check(true, 2 + i);
    }
}

static void altered_file_is_built_again(void **unused)
{
    int fd;

    (void)unused;
    check(true, 1);
    fd = open(only("kernels/*.so"), O_WRONLY);
    assert_int_equal(pwrite(fd, "\x90", 1, 5000), 1);
    close(fd);
    check(true, 2);
}

static void file_of_another_group_is_built_again(void **unused)
{
    char first[sizeof folder + 64];

    (void)unused;
    check(true, 1);
    snprintf(first, sizeof first, "%s", only("kernels/*.so"));
    assert_int_equal(rename(first, in_folder("first")), 0);
    cavs__ew_program_destroy(make(2));
    assert_int_equal(rename(only("kernels/*.so"), first), 0);
    check(true, 3);
}

static void writable_file_is_built_again(void **unused)
{
    (void)unused;
    check(true, 1);
    assert_int_equal(chmod(only("kernels/*.so"), 0722), 0);
    check(true, 2);
    assert_int_equal(chmod(only("kernels/*.so"), 0770), 0);
    check(true, 3);
}

static void symbolic_link_is_built_again(void **unused)
{
    char path[sizeof folder + 64];

    (void)unused;
    check(true, 1);
    snprintf(path, sizeof path, "%s", only("kernels/*.so"));
    assert_int_equal(rename(path, in_folder("elsewhere")), 0);
    assert_int_equal(symlink(in_folder("elsewhere"), path), 0);
    check(true, 2);
}

static void file_of_another_user_is_built_again(void **unused)
{
    (void)unused;
    check(true, 1);
    if (chown(only("kernels/*.so"), 4321, (gid_t)-1))
        skip();
    check(true, 2);
}

static void folder_open_to_others_is_not_used(void **unused)
{
    (void)unused;
    check(true, 1);
    assert_int_equal(chmod(in_folder("kernels"), 0777), 0);
    check(false, 1);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "not private"));
    assert_int_equal(chmod(in_folder("kernels"), 0700), 0);
    check(true, 1);
}

static void made_files_are_private_under_any_umask(void **unused)
{
    mode_t before = umask(0);
    struct stat st;

    (void)unused;
    check(true, 1);
    umask(before);
    assert_int_equal(stat(only("kernels/*.so"), &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    assert_int_equal(stat(in_folder("kernels"), &st), 0);
    assert_int_equal(st.st_mode & 077, 0);
    check(true, 1);
}

/* ---- no compiler ---- */

static void missing_compiler_leaves_the_interpreter(void **unused)
{
    (void)unused;
    setenv("CC", "/nonexistent/cc", 1);
    check(false, 0);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "/nonexistent/cc"));
}

static void empty_path_leaves_the_interpreter(void **unused)
{
    char *path = strdup(getenv("PATH"));

    (void)unused;
    unsetenv("CC");
    setenv("PATH", "", 1);
    check(false, 0);
    setenv("PATH", path, 1);
    free(path);
}

static void failing_compiler_leaves_the_interpreter(void **unused)
{
    (void)unused;
    write_file("cc", "#!/bin/sh\necho 'cc: fatal error: no licence' >&2\nexit 1\n", 0700);
    check(false, 0);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "no licence"));
    assert_int_equal(count("kernels/*"), 0);
}

static void compiler_that_makes_rubbish_leaves_the_interpreter(void **unused)
{
    (void)unused;
    write_file("cc",
               "#!/bin/sh\nwhile [ $# -gt 1 ]; do\n[ $1 = -o ] && echo rubbish >$2\nshift\ndone\n",
               0700);
    check(false, 0);
    assert_int_equal(count("kernels/*.so"), 0);
}

static void compiler_without_native_flags_is_used(void **unused)
{
    (void)unused;
    write_file("cc",
               "#!/bin/sh\nfor a; do [ $a = -march=native ] && exit 1; done\n"
               "echo run >>${0%/cc}/runs\nexec cc \"$@\"\n",
               0700);
    check(true, 1);
}

static void unusable_folder_leaves_the_interpreter(void **unused)
{
    (void)unused;
    setenv("CAVS_CACHE", "/dev/null/cache", 1);
    check(false, 0);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "/dev/null/cache"));
}

static void environment_can_forbid_compiling(void **unused)
{
    (void)unused;
    setenv("CAVS_FUSION", "interpret", 1);
    check(false, 0);
}

/* ---- surroundings ---- */

static int set_up(void **unused)
{
    const char *home = getenv("abs_top_builddir");

    (void)unused;
    snprintf(folder, sizeof folder - 64, "%s/group-cache-XXXXXX", home ? home : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    setenv("CAVS_CACHE", folder, 1);
    write_file("cc", "#!/bin/sh\necho run >>${0%/cc}/runs\nexec cc \"$@\"\n", 0700);
    setenv("CC", in_folder("cc"), 1);
    unsetenv("CAVS_FUSION");
    return 0;
}

static int tear_down(void **unused)
{
    static const char *const patterns[] = {"kernels/*", "*"};

    (void)unused;
    for (int i = 0; i < 2; i++) {
        glob_t found;

        if (glob(in_folder(patterns[i]), 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                remove(found.gl_pathv[k]);
        globfree(&found);
    }
    return rmdir(folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(second_creation_runs_no_compiler),
        TEST(batch_is_compiled_by_one_run),
        TEST(program_may_be_destroyed_within_a_batch),
        TEST(several_processes_may_build_the_same),
        TEST(truncated_file_is_built_again),
        TEST(altered_file_is_built_again),
        TEST(file_of_another_group_is_built_again),
        TEST(writable_file_is_built_again),
        TEST(symbolic_link_is_built_again),
        TEST(file_of_another_user_is_built_again),
        TEST(folder_open_to_others_is_not_used),
        TEST(made_files_are_private_under_any_umask),
        TEST(missing_compiler_leaves_the_interpreter),
        TEST(empty_path_leaves_the_interpreter),
        TEST(failing_compiler_leaves_the_interpreter),
        TEST(compiler_that_makes_rubbish_leaves_the_interpreter),
        TEST(compiler_without_native_flags_is_used),
        TEST(unusable_folder_leaves_the_interpreter),
        TEST(environment_can_forbid_compiling),
    };

    if (system("cc --version >/dev/null 2>&1")) {
        printf("1..0 # SKIP there is no C compiler cc\n");
        return 77;
    }
    return cmocka_run_group_tests_name("group cache", tests, NULL, NULL);
}

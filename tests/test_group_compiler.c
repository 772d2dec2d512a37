/* SPDX-License-Identifier: Apache-2.0 */
/* test_group_compiler.c - groups run on with a strange compiler, and without one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "codelets/groups/elementwise.h"
#include "tests/group_cache.h"

static void missing_compiler_leaves_the_interpreter(void **unused)
{
    (void)unused;
    setenv("CC", "/nonexistent/cc", 1);
    cache_check(false, 0);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "/nonexistent/cc"));
}

static void empty_path_leaves_the_interpreter(void **unused)
{
    char *path = strdup(getenv("PATH"));

    (void)unused;
    unsetenv("CC");
    setenv("PATH", "", 1);
    cache_check(false, 0);
    setenv("PATH", path, 1);
    free(path);
}

static void failing_compiler_leaves_the_interpreter(void **unused)
{
    (void)unused;
    cache_write("cc", "#!/bin/sh\necho 'cc: fatal error: no licence' >&2\nexit 1\n", 0700);
    cache_check(false, 0);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "no licence"));
    assert_int_equal(cache_count("kernels/*"), 0);
}

/* A process that has ended, waited for or not, has no command line. */
static bool child_runs(void)
{
    FILE *f = fopen(cache_path("child"), "r");
    char path[64];
    int pid, c;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%d", &pid), 1);
    fclose(f);
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    f = fopen(path, "r");
    c = f ? getc(f) : EOF;
    if (f)
        fclose(f);
    return c != EOF;
}

/* The script's child is in its group: both are gone, and nobody waits for either a second time. */
static void hanging_compiler_is_ended(void **unused)
{
    time_t start = time(NULL);

    (void)unused;
    cache_write("cc", "#!/bin/sh\nsleep 300 &\necho $! >${0%/cc}/child\nwait\n", 0700);
    setenv("CAVS_COMPILE_TIMEOUT", "1", 1);
    cache_check(false, 0);
    cache_check(false, 0);
    unsetenv("CAVS_COMPILE_TIMEOUT");
    assert_in_range(time(NULL) - start, 1, 60);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "took more than 1 s"));
    for (int i = 0; i < 1000 && child_runs(); i++) /* it has its signal, but perhaps not its turn */
        usleep(10000);
    assert_false(child_runs());
}

static void compiler_that_makes_rubbish_leaves_the_interpreter(void **unused)
{
    (void)unused;
    cache_write("cc",
                "#!/bin/sh\nwhile [ $# -gt 1 ]; do\n[ $1 = -o ] && echo rubbish >$2\nshift\ndone\n",
                0700);
    cache_check(false, 0);
    assert_int_equal(cache_count("kernels/*.so"), 0);
}

static void compiler_without_native_flags_is_used(void **unused)
{
    (void)unused;
    cache_write("cc",
                "#!/bin/sh\nfor a; do [ $a = -march=native ] && exit 1; done\n"
                "echo run >>${0%/cc}/runs\nexec cc \"$@\"\n",
                0700);
    cache_check(true, 1);
}

static void unusable_folder_leaves_the_interpreter(void **unused)
{
    (void)unused;
    setenv("CAVS_CACHE", "/dev/null/cache", 1);
    cache_check(false, 0);
    assert_non_null(strstr(cavs__ew_fallback_reason(), "/dev/null/cache"));
}

static void environment_can_forbid_compiling(void **unused)
{
    (void)unused;
    setenv("CAVS_FUSION", "interpret", 1);
    cache_check(false, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, cache_set_up, cache_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(missing_compiler_leaves_the_interpreter),
        TEST(empty_path_leaves_the_interpreter),
        TEST(failing_compiler_leaves_the_interpreter),
        TEST(hanging_compiler_is_ended),
        TEST(compiler_that_makes_rubbish_leaves_the_interpreter),
        TEST(compiler_without_native_flags_is_used),
        TEST(unusable_folder_leaves_the_interpreter),
        TEST(environment_can_forbid_compiling),
    };

    if (cache_without_compiler()) {
        printf("1..0 # SKIP there is no C compiler cc\n");
        return 77;
    }
    return cmocka_run_group_tests_name("group compiler", tests, NULL, NULL);
}

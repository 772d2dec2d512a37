/* SPDX-License-Identifier: Apache-2.0 */
/* group_cache.c - see group_cache.h. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "codelets/groups/ew_internal.h"
#include "tests/group_cache.h"
#include "tests/groups.h"

static char folder[4096];

char *cache_path(const char *name)
{
    static char path[CACHE_PATH];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

void cache_write(const char *name, const char *text, mode_t mode)
{
    FILE *f = fopen(cache_path(name), "w");

    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(cache_path(name), mode), 0);
}

int cache_compiler_runs(void)
{
    FILE *f = fopen(cache_path("runs"), "r");
    int n = 0;

    for (int c; f && (c = getc(f)) != EOF;)
        n += c == '\n';
    if (f)
        fclose(f);
    return n;
}

/* The only file kernels/PATTERN; fails if there is not just one. */
char *cache_only(const char *pattern)
{
    static char path[CACHE_PATH];
    glob_t found;

    assert_int_equal(glob(cache_path(pattern), 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

int cache_count(const char *pattern)
{
    glob_t found;
    int n = glob(cache_path(pattern), 0, NULL, &found) ? 0 : (int)found.gl_pathc;

    globfree(&found);
    return n;
}

/* ---- one group ---- */

struct cavs__ew_program *cache_make(int width)
{
    struct group g;
    struct cavs__ew_program *p;

    group_start(&g, width);
    group_output(&g, group_op2(&g, "add", group_op1(&g, "tanh", group_input(&g)), group_input(&g)));
    p = cavs__ew_program_create(&g.spec, CAVS__EW_AUTO);
    assert_non_null(p);
    return p;
}

void cache_check_result(const struct cavs__ew_program *p)
{
    float x[3] = {-1, 0, 0.5f}, y[3];
    struct cavs__view v[3] = {
        {.p = x, .ld = 1, .cols = 1}, {.p = x, .ld = 1, .cols = 1}, {.p = y, .ld = 1, .cols = 1}};

    cavs__ew_run(p, 3 / cavs__ew_program_spec(p)->width, v);
    for (int i = 0; i < 3 / cavs__ew_program_spec(p)->width; i++)
        assert_float_equal(y[i], tanh(x[i]) + x[i], 1e-6);
}

/* Makes the group (width 1) once more; it has to work in any case. */
void cache_check(bool compiled, int runs)
{
    struct cavs__ew_program *p = cache_make(1);

    if (cavs__ew_program_compiled(p) != compiled)
        fail_msg("compiled: %d; %s", !compiled,
                 cavs__ew_fallback_reason() ? cavs__ew_fallback_reason() : "");
    cache_check_result(p);
    cavs__ew_program_destroy(p);
    assert_int_equal(cache_compiler_runs(), runs);
}

void cache_check_other(void)
{
    float x[3] = {-1, 0, 0.5f}, y[3];
    struct cavs__view v[2] = {{.p = x, .ld = 1, .cols = 1}, {.p = y, .ld = 1, .cols = 1}};
    struct cavs__ew_program *p;
    struct group g;
    int in;

    group_start(&g, 1);
    in = group_input(&g);
    group_output(&g, group_op2(&g, "add", in, in));
    p = cavs__ew_program_create(&g.spec, CAVS__EW_AUTO);
    assert_non_null(p);
    assert_true(cavs__ew_program_compiled(p));
    cavs__ew_run(p, 3, v);
    for (int i = 0; i < 3; i++)
        assert_float_equal(y[i], 2 * x[i], 1e-6);
    cavs__ew_program_destroy(p);
}

/* ---- surroundings ---- */

int cache_set_up(void **unused)
{
    const char *home = getenv("abs_top_builddir");
    char path[CACHE_PATH];

    (void)unused;
    snprintf(folder, sizeof folder - 64, "%s/group-cache-XXXXXX", home ? home : "/tmp");
    if (!mkdtemp(folder))
        return -1;
    setenv("CAVS_CACHE", folder, 1);
    if (cavs__ew_cache_folder(path, sizeof path)) { /* others may write to a folder above */
        rmdir(folder);
        snprintf(folder, sizeof folder, "/tmp/group-cache-XXXXXX");
        if (!mkdtemp(folder))
            return -1;
        setenv("CAVS_CACHE", folder, 1);
    }
    cache_write("cc", "#!/bin/sh\necho run >>${0%/cc}/runs\nexec cc \"$@\"\n", 0700);
    setenv("CC", cache_path("cc"), 1);
    unsetenv("CAVS_FUSION");
    return 0;
}

int cache_tear_down(void **unused)
{
    static const char *const patterns[] = {"kernels/*", "*"};

    (void)unused;
    for (int i = 0; i < 2; i++) {
        glob_t found;

        if (glob(cache_path(patterns[i]), 0, NULL, &found) == 0)
            for (size_t k = 0; k < found.gl_pathc; k++)
                remove(found.gl_pathv[k]);
        globfree(&found);
    }
    return rmdir(folder);
}

bool cache_without_compiler(void)
{
    return system("cc --version >/dev/null 2>&1") != 0;
}

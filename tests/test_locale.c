/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_locale.c - a program whose locale writes numbers with commas: groups are compiled all the
 * same, and files are those of any other program.
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/group_cache.h"
#include "tests/groups.h"
#include "tests/skip.h"
#include "tests/trial.h"

static char folder[64], path[80];

static bool has_commas(void)
{
    return strcmp(localeconv()->decimal_point, ",") == 0;
}

/* One of the system, or one made for this test. */
static bool set_commas(void)
{
    char command[256];
    if (setlocale(LC_ALL, "de_DE.UTF-8") && has_commas())
        return true;
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 --no-archive %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    if (system(command) == -1)
        return false;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") && has_commas();
}

static int make_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/cavs-locale-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/checkpoint", folder);
    return trial_runtime_up(state);
}

static int remove_folder(void **state)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return trial_runtime_down(state) || system(command);
}

/* ---- checkpoints ---- */

static void build(struct cavs_model *m)
{
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    cavs_loss(f, "loss", cavs_sum(cavs_matmul(cavs_pull(f, "x", 2), zoo_weight(m, "W", 2, 3))),
              NULL);
}

static unsigned char *checkpoint(struct cavs_session *s, size_t *n)
{
    unsigned char *bytes = calloc(1, 65536);
    FILE *f;
    check_ok(cavs_session_checkpoint(s, path, NULL));
    f = fopen(path, "rb");
    assert_non_null(f);
    *n = fread(bytes, 1, 65536, f);
    fclose(f);
    return bytes;
}

static void checkpoints_are_exchangeable(void **state)
{
    static const struct zoo_entry model = {"saved", build, {NULL}};
    const char *text = "flat:3";
    struct cavs_session_options o = cavs_session_defaults();
    struct trial t;
    size_t n, m;
    (void)state;
    o.lr = 0.3f;
    trial_open(&t, zoo_model(&model), &text, 1, NULL);
    struct cavs_session *s = trial_session(&t, &o);
    setlocale(LC_ALL, "C");
    unsigned char *points = checkpoint(s, &n), *commas;
    if (!set_commas()) {
        free(points);
        cavs_session_destroy(s);
        trial_close(&t);
        SKIP("there is no locale with commas, and none can be made");
    }
    check_ok(cavs_session_set_lr(s, 7));
    check_ok(cavs_session_resume(s, path, NULL));
    commas = checkpoint(s, &m);
    assert_true(has_commas());
    assert_int_equal(n, m);
    assert_memory_equal(points, commas, n);
    setlocale(LC_ALL, "C");
    check_ok(cavs_session_resume(s, path, NULL));
    free(points);
    free(commas);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* ---- compiled groups ---- */

static void groups_are_compiled(void **state)
{
    float x[2] = {1, -2}, y[2];
    struct cavs__view v[2] = {{.p = x, .ld = 1, .cols = 1}, {.p = y, .ld = 1, .cols = 1}};
    struct cavs__ew_program *p;
    struct group g;
    if (cache_without_compiler() || !set_commas())
        SKIP("no cache for kernels, or no locale with commas");
    assert_int_equal(cache_set_up(state), 0);
    group_start(&g, 1);
    group_output(&g, group_op2(&g, "mul", group_input(&g), group_constant(&g, 0.1f)));
    p = cavs__ew_program_create(&g.spec, CAVS__EW_AUTO);
    assert_non_null(p);
    if (!cavs__ew_program_compiled(p))
        fail_msg("interpreted: %s", cavs__ew_fallback_reason());
    cavs__ew_run(p, 2, v);
    assert_true(y[0] == 0.1f && y[1] == -0.2f);
    cavs__ew_program_destroy(p);
    assert_true(has_commas());
    setlocale(LC_ALL, "C");
    cache_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checkpoints_are_exchangeable),
        cmocka_unit_test(groups_are_compiled),
    };
    return cmocka_run_group_tests_name("locale", tests, make_folder, remove_folder);
}

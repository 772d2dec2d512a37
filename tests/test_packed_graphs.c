/* SPDX-License-Identifier: Apache-2.0 */
/* test_packed_graphs.c - the first look at samples of packed files, without a runtime: also where
 * arrays are empty. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/data/packed.h"
#include "tests/trial.h"

static char path[64];

/* A stage of vertices without children that pulls ids and lists, and a stage over its roots. */
static void build(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 2),
                      *over = cavs_stage_over(m, "over", s, CAVS_ROOTS);
    struct cavs_function *f = cavs_function_create(s, "f"), *g = cavs_function_create(over, "g");
    struct cavs_symbol *x = cavs_pull(f, "x", 2);
    cavs_scatter(f, x);
    cavs_push(f, "x", x);
    cavs_loss(g, "loss", cavs_sum(cavs_pull_from(g, s, "x", NULL)), NULL);
}

/* Packs samples of so many vertices each, and looks at all of them. */
static void pack_and_look(int samples, int vertices)
{
    static const float x[8] = {0};
    static const struct zoo_entry entry = {"flat", build, {NULL}};
    struct cavs_model *m = zoo_model(&entry);
    struct cavs_stage *s = m->stages[0];
    const int ptr[5] = {0};
    struct cavs_data *d;
    check_ok(cavs_data_pack(m, path, &d));
    for (int i = 0; i < samples; i++) {
        check_ok(cavs_data_begin(d));
        check_ok(cavs_data_graph(d, s, vertices, NULL, ptr, NULL));
        check_ok(cavs_data_rows(d, s, "x", vertices, x));
        check_ok(cavs_data_end(d));
    }
    check_ok(cavs_data_write(d));
    cavs_data_destroy(d);
    check_ok(cavs_data_open(m, path, &d));
    assert_int_equal(cavs_data_size(d), samples);
    for (int i = 0; i < samples; i++)
        check_ok(cavs__data_check_samples(d, &i, 1));
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

static void vertices_without_children(void **state)
{
    (void)state;
    pack_and_look(3, 4);
    pack_and_look(1, 1);
}

static void no_samples(void **state)
{
    (void)state;
    pack_and_look(0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertices_without_children),
        cmocka_unit_test(no_samples),
    };
    snprintf(path, sizeof path, "/tmp/cavs-packed-graphs-XXXXXX");
    int fd = mkstemp(path), rc;
    if (fd < 0)
        return 1;
    close(fd);
    rc = cmocka_run_group_tests_name("packed graphs", tests, NULL, NULL);
    unlink(path);
    return rc;
}

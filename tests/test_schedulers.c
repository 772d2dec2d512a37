/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_schedulers.c - which of StarPU's schedulers a runtime has: the one that is asked for, or one
 * by the number of workers; and whether tasks have models for it.  That results do not depend on it
 * is in test_determinism.c.
 */
#include <stdlib.h>

#include "codelets/task_model.h"
#include "tests/trial.h"

/* A runtime with so many CPU workers has this scheduler, where `asked` is asked for. */
static void check_scheduler(int workers, const char *asked, const char *want)
{
    struct cavs_runtime_options o = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt = NULL;

    o.workers = workers;
    o.scheduler = asked;
    check_ok(cavs_runtime_create(&o, &rt));
    assert_string_equal(cavs_runtime_scheduler(rt), want);
    cavs_runtime_destroy(rt);
}

static void few_workers_have_a_queue_each(void **state)
{
    (void)state;
    check_scheduler(1, NULL, "lws");
    check_scheduler(31, NULL, "lws");
}

static void many_workers_share_a_queue(void **state)
{
    (void)state;
    check_scheduler(32, NULL, "prio");
}

static void the_one_asked_for_is_taken(void **state)
{
    (void)state;
    check_scheduler(2, "prio", "prio");
    check_scheduler(32, "lws", "lws");
}

static void an_unknown_one_is_refused_by_name(void **state)
{
    struct cavs_runtime_options o = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt = NULL;
    (void)state;

    o.workers = 1;
    o.scheduler = "clairvoyant";
    check_refused(cavs_runtime_create(&o, &rt), CAVS_EINVAL, "clairvoyant");
    assert_null(rt);
}

/* Whether codelets that are made under this scheduler have models. */
static bool has_models(const char *scheduler)
{
    static const struct cavs__task_measure none;
    struct cavs_runtime_options o = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt = NULL;
    bool has;

    o.workers = 1;
    o.scheduler = scheduler;
    check_ok(cavs_runtime_create(&o, &rt));
    has = cavs__task_model("test_schedulers", &none) != NULL;
    cavs_runtime_destroy(rt);
    return has;
}

static void tasks_have_models_where_somebody_asks(void **state)
{
    (void)state;
    assert_false(has_models("lws"));
    assert_false(has_models("prio"));
    assert_true(has_models("dmda"));
    setenv("STARPU_CALIBRATE", "0", 1);
    assert_false(has_models("lws"));
    setenv("STARPU_CALIBRATE", "1", 1);
    assert_true(has_models("lws"));
    unsetenv("STARPU_CALIBRATE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_workers_have_a_queue_each),
        cmocka_unit_test(many_workers_share_a_queue),
        cmocka_unit_test(the_one_asked_for_is_taken),
        cmocka_unit_test(an_unknown_one_is_refused_by_name),
        cmocka_unit_test(tasks_have_models_where_somebody_asks),
    };
    unsetenv("STARPU_SCHED");
    unsetenv("STARPU_CALIBRATE");
    return cmocka_run_group_tests_name("schedulers", tests, NULL, NULL);
}

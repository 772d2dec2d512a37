/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_backends.c - the tables of devices, without a device: every kind of device is complete,
 * every kernel has an implementation there or a reason, and tasks go to those kinds that can run
 * them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "codelets/device/device.h"
#include "codelets/device/walk.h"
#include "codelets/groups/elementwise.h"
#include "codelets/task.h"
#include "codelets/update_task.h"
#include "core/cavs.h"

/* ---- kinds of devices ---- */

static bool is_one_bit(uint32_t where)
{
    return where != 0 && (where & (where - 1)) == 0;
}

static void every_kind_has_a_name_and_a_place_of_its_own(void **unused)
{
    uint32_t seen = STARPU_CPU;

    (void)unused;
    assert_true(cavs__backends_count > 0);
    for (int i = 0; i < cavs__backends_count; i++) {
        const struct cavs__backend *b = &cavs__backends[i];

        assert_true(b->name && *b->name && b->hint);
        assert_true(is_one_bit(b->where));
        assert_false(seen & b->where);
        seen |= b->where;
        assert_true(b->worker != STARPU_CPU_WORKER);
        for (int k = 0; k < i; k++) {
            assert_string_not_equal(cavs__backends[k].name, b->name);
            assert_true(cavs__backends[k].worker != b->worker);
        }
    }
}

/* Options of devices, with so many asked for of kind i: all ones but those are zero. */
static struct cavs_runtime_options options_asking(int kind, int n)
{
    struct cavs_runtime_options o = {0};
    int *numbers = (int *)&o;

    for (size_t at = 0; at < sizeof o / sizeof *numbers; at++) {
        numbers[at] = n;
        if (cavs__backends[kind].asked(&o) == n)
            return o;
        numbers[at] = 0;
    }
    fail_msg("%s: no option asks for it", cavs__backends[kind].name);
    return o;
}

static void every_kind_has_an_option_of_its_own(void **unused)
{
    const struct cavs_runtime_options defaults = CAVS_RUNTIME_DEFAULTS;

    (void)unused;
    for (int i = 0; i < cavs__backends_count; i++) {
        struct cavs_runtime_options o = options_asking(i, 7);

        assert_int_equal(cavs__backends[i].asked(&defaults), 0);
        for (int k = 0; k < cavs__backends_count; k++)
            assert_int_equal(cavs__backends[k].asked(&o), k == i ? 7 : 0);
    }
}

/* Of a kind that nobody asks for StarPU starts no worker, whether it was built or not. */
static void starpu_is_told_how_many_to_start(void **unused)
{
    (void)unused;
    for (int i = 0; i < cavs__backends_count; i++) {
        struct starpu_conf none, some;

        starpu_conf_init(&none);
        some = none;
        cavs__backends[i].prepare(cavs__backends[i].driver, 0, 0, 1, &none);
        cavs__backends[i].prepare(cavs__backends[i].driver, 1, 0, 1, &some);
        assert_memory_not_equal(&none, &some, sizeof none);
    }
}

static void run_nothing(void *descr[], void *arg)
{
    (void)descr, (void)arg;
}

static void every_kind_can_run_a_codelet(void **unused)
{
    cavs__device_task *const run = run_nothing;

    (void)unused;
    for (int i = 0; i < cavs__backends_count; i++) {
        struct starpu_codelet cl;

        starpu_codelet_init(&cl);
        assert_null(memmem(&cl, sizeof cl, &run, sizeof run));
        cavs__backends[i].implement(&cl, run_nothing);
        assert_non_null(memmem(&cl, sizeof cl, &run, sizeof run));
        assert_ptr_equal(cavs__backends[i].implementation(&cl), run_nothing);
        assert_ptr_equal(cavs__devices->implementation(&cl, cavs__backends[i].where), run_nothing);
        assert_non_null(cavs__backends[i].memory);
    }
}

static void every_driver_is_complete(void **unused)
{
    (void)unused;
    for (int i = 0; i < cavs__backends_count; i++) {
        const struct cavs__driver *d = cavs__backends[i].driver;

        if (!d)
            continue;
        assert_true(d->products && *d->products);
        assert_true(!d->start == !d->stop);
        assert_true(d->open && d->identify && d->compile && d->load && d->find && d->unload);
        assert_true(d->launch && d->finish);
        assert_true(d->allocate && d->release && d->has_gemm && d->gemm);
    }
}

static void nothing_is_missing_in_what_others_see(void **unused)
{
    /* the record consists of functions only */
    void *const *functions = (void *const *)&cavs__devices_offer;

    (void)unused;
    for (size_t i = 0; i < sizeof cavs__devices_offer / sizeof *functions; i++)
        if (!functions[i])
            fail_msg("the function at number %zu of struct cavs__devices is missing", i);
}

/* ---- kernels ---- */

static void every_kernel_has_a_device_implementation_or_a_reason(void **unused)
{
    (void)unused;
    for (int i = 0; i < CAVS__KERNEL_COUNT; i++) {
        const struct cavs__kernel *k = cavs__kernels[i];
        const struct cavs__device_implementation *d = &cavs__device_kernels[i];

        assert_int_equal(k->number, i);
        assert_ptr_equal(cavs__kernel_find(k->name), k);
        assert_true(k->cpu && k->reference);
        if (!d->queue && !(d->why_not && *d->why_not))
            fail_msg("kernel %s: device_kernels.c has neither a function nor a reason", k->name);
        assert_true(!d->queue == !!d->why_not);
    }
}

static void every_kernel_of_devices_is_in_their_text(void **unused)
{
    (void)unused;
    for (int i = 0; i < CAVS__DEVICE_COUNT; i++) {
        const char *name = cavs__device_kernel_names[i];
        char text[80];

        if (strncmp(name, "cavs_products", strlen("cavs_products")) == 0)
            name = "TILED(cavs_products)"; /* one text for all sizes of tiles */
        snprintf(text, sizeof text, " %s(", name);
        if (!strstr(cavs__device_kernels_text, text))
            fail_msg("%s is not in the text of the kernels", name);
    }
}

/* ---- what keeps a step from devices ---- */

static const char *obstacle_of(struct cavs__step *s, const struct cavs__device *d)
{
    struct cavs__part part = {.nsteps = 1, .steps = s};
    const char *why = cavs__part_obstacle(&part, d);

    return why ? why : "";
}

static void steps_stay_on_cpus_for_a_reason(void **unused)
{
    const bool scalar[1] = {false};
    const int outputs[1] = {~0};
    struct cavs__ew_spec spec = {
        .width = 4, .ninputs = 1, .scalar = scalar, .noutputs = 1, .outputs = outputs};
    struct cavs__ew_program *group = cavs__ew_program_create(&spec, CAVS__EW_INTERPRET);
    struct cavs__device single = {.max_parameters = 1024}, both = single;
    struct cavs__step metric = {.call.kernel = cavs__kernel_find("metric"), .together = 1};
    struct cavs__step softmax = {.call.kernel = cavs__kernel_find("softmax"), .together = 1};
    struct cavs__step fused = {
        .call = {.kernel = cavs__kernel_find("elementwise"), .program = group},
        .nviews = 2,
        .together = 1};

    (void)unused;
    assert_non_null(group);
    both.has_double = true;
    assert_string_equal(obstacle_of(&softmax, &single), "");
    assert_string_equal(obstacle_of(&metric, &both), "");
    assert_string_equal(obstacle_of(&metric, &single), "the device cannot compute in double");
    assert_string_equal(obstacle_of(&fused, &both), "a fused group was not compiled for it");
    fused.nviews = 1000;
    assert_string_equal(obstacle_of(&fused, &both),
                        "a fused group has more operands than a kernel may have there");
    cavs__ew_program_destroy(group);
}

/* ---- which kinds get a task: two that are made up, the second with two devices ---- */

enum { FIRST = STARPU_CUDA, SECOND = STARPU_OPENCL };

static struct cavs__device_facts made_up[CAVS__MAX_DEVICES];
static const char *obstacles[CAVS__MAX_DEVICES];
static uint32_t implemented;
static cavs__device_task *implemented_by;

static struct cavs__device_facts facts_made_up(int number)
{
    return made_up[number];
}

static const char *obstacle_made_up(int number, const struct cavs__part *p)
{
    (void)p;
    return obstacles[number];
}

static void implement_made_up(struct starpu_codelet *cl, uint32_t where, cavs__device_task *run)
{
    (void)cl;
    implemented = where;
    implemented_by = run;
}

static const struct cavs__devices devices_made_up = {.facts = facts_made_up,
                                                     .obstacle = obstacle_made_up,
                                                     .implement = implement_made_up,
                                                     .run_part = run_nothing,
                                                     .run_update = run_nothing,
                                                     .run_norm = run_nothing};

static int make_up(void **unused)
{
    (void)unused;
    memset(made_up, 0, sizeof made_up);
    memset(obstacles, 0, sizeof obstacles);
    made_up[0] = (struct cavs__device_facts){.where = FIRST, .has_double = true};
    made_up[2] = (struct cavs__device_facts){.where = SECOND, .has_double = true};
    made_up[3] = (struct cavs__device_facts){.where = SECOND};
    cavs__devices = &devices_made_up;
    return 0;
}

static int unmake(void **unused)
{
    (void)unused;
    cavs__devices = &cavs__devices_offer;
    return 0;
}

static void check_part(uint32_t devices, const char *reason)
{
    struct cavs__part part = {.nsteps = 0}, *const parts[2] = {NULL, &part};
    struct starpu_codelet cl;
    const char *why = NULL;

    starpu_codelet_init(&cl);
    cavs__task_on_devices(&cl, 2, parts, &why);
    assert_int_equal(cl.where, STARPU_CPU | devices);
    assert_int_equal(implemented, devices);
    assert_ptr_equal(implemented_by, run_nothing);
    assert_string_equal(why ? why : "", reason);
}

static void a_part_goes_to_kinds_all_of_whose_devices_can_run_it(void **unused)
{
    (void)unused;
    check_part(FIRST | SECOND, "");
    obstacles[3] = "too many operands";
    check_part(FIRST, "too many operands");
    obstacles[0] = "no kernel";
    check_part(0, "too many operands");
}

static void sums_in_double_go_to_kinds_all_of_whose_devices_have_it(void **unused)
{
    struct starpu_codelet cl;

    (void)unused;
    cavs__update_codelet(&cl, false);
    assert_int_equal(cl.where, STARPU_CPU | FIRST | SECOND);
    cavs__update_codelet(&cl, true);
    assert_int_equal(cl.where, STARPU_CPU | FIRST);
    cavs__norm_codelet(&cl);
    assert_int_equal(cl.where, STARPU_CPU | FIRST);
}

static void without_devices_tasks_stay_on_cpus(void **unused)
{
    (void)unused;
    memset(made_up, 0, sizeof made_up);
    check_part(0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_a_name_and_a_place_of_its_own),
        cmocka_unit_test(every_kind_has_an_option_of_its_own),
        cmocka_unit_test(starpu_is_told_how_many_to_start),
        cmocka_unit_test(every_kind_can_run_a_codelet),
        cmocka_unit_test(every_driver_is_complete),
        cmocka_unit_test(nothing_is_missing_in_what_others_see),
        cmocka_unit_test(every_kernel_has_a_device_implementation_or_a_reason),
        cmocka_unit_test(every_kernel_of_devices_is_in_their_text),
        cmocka_unit_test(steps_stay_on_cpus_for_a_reason),
        cmocka_unit_test_setup_teardown(a_part_goes_to_kinds_all_of_whose_devices_can_run_it,
                                        make_up, unmake),
        cmocka_unit_test_setup_teardown(sums_in_double_go_to_kinds_all_of_whose_devices_have_it,
                                        make_up, unmake),
        cmocka_unit_test_setup_teardown(without_devices_tasks_stay_on_cpus, make_up, unmake),
    };

    return cmocka_run_group_tests_name("kinds of devices, and kernels there", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_device_allocation.c - whichever allocation fails while devices are started and used, nothing
 * else does.
 *
 * A runtime with one device and one core starts, a session trains two batches, all is stopped;
 * again and again, each time with another allocation failing, of whatever thread. It either comes
 * to its end with the numbers of an undisturbed life, without the device if need be, or gives a
 * negative code and a message. A device that is required is there then.
 *
 * Every one is tried if CAVS_TEST_LONG is set, else as many as a few seconds allow.
 */
#include "tests/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device/device.h"
#include "tests/failing_alloc.h"
#include "tests/on_device.h"

enum { QUICK = 8, BATCHES = 2 };

static struct trial trial;

static int train(struct cavs_runtime *rt, double *loss)
{
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_session *s = NULL;
    int samples[ZOO_SAMPLES], rc;

    for (int i = 0; i < trial.nsamples; i++)
        samples[i] = i;
    options.seed = 7;
    rc = cavs_session_create(rt, trial.model, &options, &s);
    for (int i = 0; i < BATCHES && !rc; i++)
        rc = cavs_session_train(s, trial.data, samples, trial.nsamples);
    if (!rc)
        rc = cavs_session_metric(s, "loss", loss, NULL);
    cavs_session_destroy(s);
    return rc;
}

static int live(bool require, double *loss)
{
    bool cuda = on_device_cuda();
    struct cavs_runtime_options options = {
        .workers = 1, .cuda = cuda, .opencl = !cuda, .require = require};
    struct cavs_runtime *rt = NULL;
    int rc = cavs_runtime_create(&options, &rt);

    if (rc)
        return rc;
    if (require)
        assert_int_equal(cavs__devices_count(), 1);
    rc = train(rt, loss);
    assert_int_equal(cavs_runtime_destroy(rt), 0);
    return rc;
}

static void check_life(int rc, double loss, double undisturbed, long n, long failures)
{
    if (rc == 0 && fabs(loss - undisturbed) > 1e-4 * fabs(undisturbed))
        fail_msg("allocation %ld: the loss is %.9g, undisturbed %.9g", n, loss, undisturbed);
    if (rc != 0 && failures == 0)
        fail_msg("%d (%s), but no allocation failed", rc, cavs_error_message());
    if (rc > 0 || rc < CAVS_ENUMERIC || (rc < 0 && !*cavs_error_message()))
        fail_msg("allocation %ld: code %d, message \"%s\"", n, rc, cavs_error_message());
}

static void any_allocation_may_fail(void **state)
{
    bool require = *state != NULL;
    double undisturbed = 0, loss = 0;
    long all, failures, step;

    failing_alloc_begin_everywhere(0);
    assert_int_equal(live(require, &undisturbed), 0);
    all = failing_alloc_end_everywhere(&failures);
    assert_true(all > QUICK);
    step = getenv("CAVS_TEST_LONG") ? 1 : all / QUICK;
    for (long n = 1; n <= all; n += n < QUICK / 2 ? 1 : step) {
        int rc;

        *(char *)cavs_error_message() = 0;
        failing_alloc_begin_everywhere(n);
        rc = live(require, &loss);
        failing_alloc_end_everywhere(&failures);
        check_life(rc, loss, undisturbed, n, failures);
    }
    assert_int_equal(live(require, &loss), 0);
    check_life(0, loss, undisturbed, 0, 0);
}

static bool device_there(void)
{
    on_device_environment();
    if (!on_device_up())
        return false;
    on_device_down();
    return true;
}

int main(void)
{
    static char required[] = "required";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_allocation_may_fail),
        cmocka_unit_test_prestate(any_allocation_may_fail, required),
    };
    int failed;

    if (!device_there()) {
        printf("1..0 # SKIP no device\n");
        return 0;
    }
    /* StarPU's watchdog looks up once a second, and the end of each life would wait for that; one
     * that hangs is ended by the time limit of the test. */
    unsetenv("STARPU_WATCHDOG_TIMEOUT");
    trial_compile(false);
    trial_open_zoo(&trial, zoo_find("tree_lstm_bench"));
    failed = cmocka_run_group_tests_name("devices without memory", tests, NULL, NULL);
    trial_close(&trial);
    return failed;
}

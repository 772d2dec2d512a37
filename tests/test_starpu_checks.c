/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_starpu_checks.c - StarPU's own checks are on where devices are tested: each is broken by a
 * process of its own, which has to end by abort().
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <starpu.h>

#include "tests/on_device.h"
#include "tests/skip.h"

static void nothing(void *descr[], void *arg)
{
    (void)descr, (void)arg;
}

static struct starpu_codelet codelet = {.where = STARPU_OPENCL | STARPU_CUDA,
                                        .cuda_funcs = {nothing},
                                        .opencl_funcs = {nothing},
                                        .nbuffers = 1,
                                        .modes = {STARPU_R},
                                        .name = "test_checks"};

/* ---- what is wrong ---- */

/* Reads on the device; unless `written`, what no task and nobody else has written. */
static void read_on_device(bool written, bool destroy)
{
    static float number;
    starpu_data_handle_t h;
    struct starpu_task *t = starpu_task_create();

    starpu_variable_data_register(&h, written ? STARPU_MAIN_RAM : -1,
                                  written ? (uintptr_t)&number : 0, sizeof number);
    t->cl = &codelet;
    t->handles[0] = h;
    t->destroy = destroy;
    if (starpu_task_submit(t))
        exit(3);
    starpu_task_wait_for_all();
    starpu_data_unregister(h);
}

static int misbehave(const char *how)
{
    const struct rlimit none = {0, 0};

    setrlimit(RLIMIT_CORE, &none);
    if (!on_device_up())
        return 77;
    if (strcmp(how, "well") == 0)
        read_on_device(true, true);
    else if (strcmp(how, "unwritten") == 0)
        read_on_device(false, true);
    else if (strcmp(how, "left") == 0)
        read_on_device(true, false);
    on_device_down();
    return 0;
}

/* ---- and what comes of it ---- */

static int status_of(const char *how)
{
    char command[128];
    int status;

    setenv("TEST_PROGRAM", program_invocation_name, 1);
    snprintf(command, sizeof command, "exec \"$TEST_PROGRAM\" %s 2>/dev/null", how);
    status = system(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        SKIP("no OpenCL device");
    return status;
}

static void a_proper_task_is_let_through(void **state)
{
    int status = status_of("well");

    (void)state;
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void aborts(const char *how)
{
    int status = status_of(how);

    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT)
        fail_msg("status %x, not the signal SIGABRT", (unsigned)status);
}

static void reading_what_nothing_has_written_aborts(void **state)
{
    (void)state;
    aborts("unwritten");
}

static void tasks_left_at_the_end_abort(void **state)
{
    (void)state;
    aborts("left");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_proper_task_is_let_through),
        cmocka_unit_test(reading_what_nothing_has_written_aborts),
        cmocka_unit_test(tasks_left_at_the_end_abort),
    };

    if (argc > 1)
        return misbehave(argv[1]);
    return cmocka_run_group_tests_name("StarPU's own checks", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* trial_runtime.c - the runtime, the sessions and the tables of a group of tests. */
#include <stdlib.h>

#include "core/run/session.h"
#include "tests/trial.h"
#include "tests/skip.h"

struct cavs_runtime *trial_runtime;

int trial_runtime_up(void **state)
{
    struct cavs_runtime_options options = CAVS_RUNTIME_DEFAULTS;
    const char *workers = getenv("CAVS_TEST_WORKERS");
    const char *opencl = getenv("CAVS_TEST_OPENCL"), *cuda = getenv("CAVS_TEST_CUDA");
    options.leave_to_workers = true; /* else no task would come of what is as small as tests are */
    options.workers = workers ? atoi(workers) : 2;
    options.opencl = opencl ? atoi(opencl) : 0;
    options.cuda = cuda ? atoi(cuda) : 0;
    (void)state;
    if (cavs_runtime_create(&options, &trial_runtime) == 0)
        return 0;
    print_error("no runtime: %s\n", cavs_error_message());
    return -1;
}

int trial_runtime_down(void **state)
{
    (void)state;
    cavs_runtime_destroy(trial_runtime);
    trial_runtime = NULL;
    return 0;
}

struct cavs_session *trial_session(struct trial *t, const struct cavs_session_options *options)
{
    struct cavs_session *s = NULL;
    check_ok(cavs_session_create(trial_runtime, t->model, options, &s));
    return s;
}

bool trial_refused(struct trial *t, struct cavs_session *s, const int *batch, int n)
{
    bool tied = false;
    for (int i = 0; i < t->model->nparams; i++)
        tied |= !t->model->params[i]->frozen && cavs__is_tied(s->plan, t->model->params[i]);
    if (!tied || starpu_cpu_worker_get_count() > 0)
        return false;
    check_refused(cavs_session_gradient(s, t->data, batch, n), CAVS_ERUNTIME,
                  "both looked up and multiplied", "there is no CPU worker");
    return true;
}

void trial_skip_refused(struct trial *t, struct cavs_session *s)
{
    if (!trial_refused(t, s, (int[]){0}, 1))
        return;
    cavs_session_destroy(s);
    trial_close(t);
    SKIP("without a CPU worker tables that are multiplied are refused, as they should be");
}

void trial_compile(bool on)
{
    static int given = -1;
    if (given < 0)
        given = getenv("CAVS_FUSION") != NULL;
    if (!given && on)
        unsetenv("CAVS_FUSION");
    else if (!given)
        setenv("CAVS_FUSION", "interpret", 1);
}

struct CMUnitTest *trial_tests(int n, const char *(*name)(int i), CMUnitTestFunction run,
                               void *(*state)(int i))
{
    struct CMUnitTest *tests = calloc((size_t)n, sizeof *tests);
    for (int i = 0; tests && i < n; i++)
        tests[i] =
            (struct CMUnitTest){.name = name(i), .test_func = run, .initial_state = state(i)};
    return tests;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_runtime.c - starting StarPU, its workers and devices, on all ranks or on none: what one
 * rank cannot do, none goes on with, as the others would wait for it in vain.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#include "codelets/task_model.h"
#include "core/base/error.h"
#include "core/base/notice.h"
#include "core/run/record.h"
#include "core/run/runtime.h"
#include "core/run/simulated.h"
#include "core/run/start_devices.h"

const char *cavs_scheduler_name(int scheduler)
{
    struct starpu_sched_policy **all = starpu_sched_get_predefined_policies();

    for (int i = 0; i <= scheduler && all[i]; i++)
        if (i == scheduler)
            return all[i]->policy_name;
    return NULL;
}

/* StarPU itself only warns and takes another one. */
static bool is_scheduler(const char *name)
{
    const char *known;

    for (int i = 0; (known = cavs_scheduler_name(i)) != NULL; i++) {
        if (strcmp(known, name) == 0)
            return true;
    }
    return false;
}

/* From so many CPU workers on they share one queue.  With a queue for each, what is most urgent
 * waits for the worker in whose queue it is, while others do less urgent work of theirs: the more
 * workers, the more of a batch is lost so (doc/scaling.md, "How far it goes").  With few that is
 * less than what it costs that a shard's rows change cores. */
#define ONE_QUEUE_FROM 32

/* Without performance models (all but dmda and its kin) a scheduler cannot tell a GPU from a
 * core. */
static const char *scheduler_for(const struct cavs_runtime_options *o, int workers)
{
    if (o->scheduler)
        return o->scheduler;
    if (cavs__devices_wanted(o))
        return "dmdas";
    return workers < ONE_QUEUE_FROM ? "lws" : "prio";
}

/* Whether anybody asks how long tasks take: neither of the schedulers of CPUs above does. */
static bool wants_task_models(const struct cavs_runtime *rt)
{
    const char *calibrate = getenv("STARPU_CALIBRATE");
    bool asks = strcmp(rt->scheduler, "lws") != 0 && strcmp(rt->scheduler, "prio") != 0;

    return asks || (calibrate && strcmp(calibrate, "0") != 0) || rt->record ||
           cavs__simulated_cores() > 0;
}

/* More workers than cores are allowed: then nobody is bound. */
static void set_environment(const struct cavs_runtime_options *o, const struct cavs_runtime *rt)
{
    if (o->workers > 0 && o->workers + cavs__devices_asked(o) > rt->cores)
        setenv("STARPU_WORKERS_NOBIND", "1", 0);
    setenv("STARPU_SILENT", "1", 0);
}

/* Whether somebody has bound this process to some of the cores: StarPU stays on them. */
static bool is_bound(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 &&
           CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN);
}

/* How many CPU workers take so many cores.  Each device takes one, and beside devices the thread
 * that prepares batches another, if that leaves any: a worker that has no task takes its core for
 * milliseconds at a time otherwise, and devices wait for the next batch meanwhile.  (On sixteen
 * cores beside an H100, fifteen workers made a recorded Tree-LSTM take 1.6 times as long as
 * fourteen.) */
static int default_workers(int cores, int devices)
{
    int n = cores - devices - (devices > 0 && cores > devices + 1);

    return n > 0 ? n : 1;
}

/* Ranks on one machine share its cores: each begins where the one before ends.  What StarPU counts
 * are hardware threads, of which a worker takes the first of its core.  Each device takes one,
 * too. */
static void share_cores(const struct cavs_runtime_options *o, const struct cavs_runtime *rt,
                        int devices, struct starpu_conf *conf)
{
    int all, here = cavs__ranks_here(rt->ranks, &all), n = o->workers;

    if (is_bound())
        return;
    if (n < 0 && (all > 1 || devices > 0))
        n = default_workers(rt->cores / all, devices);
    conf->ncpus = n;
    if (all == 1)
        return;
    n += devices;
    if (n * all > rt->cores) {
        setenv("STARPU_WORKERS_NOBIND", "1", 0);
        return;
    }
    conf->use_explicit_workers_bindid = 1;
    for (int i = 0; i < n; i++)
        conf->workers_bindid[i] = (unsigned)((here * n + i) * rt->threads);
}

/* Ranks that the launcher has given devices of their own have them.  Returns how many. */
static int share_devices(const struct cavs_runtime_options *o, const struct cavs_runtime *rt,
                         struct starpu_conf *conf)
{
    int all, here = cavs__ranks_here(rt->ranks, &all);

    if (cavs__ranks_differ_here(rt->ranks, cavs__devices_given()))
        all = 1;
    return cavs__devices_prepare(o, here, all, conf);
}

static int workers_wanted(const struct starpu_conf *conf, const struct cavs_runtime *rt)
{
    return conf->ncpus < 0 ? rt->cores : conf->ncpus;
}

/* StarPU takes as many as it has arrays for, and would say nothing of the others. */
static void tell_of_missing(int wanted)
{
    if (wanted > STARPU_MAXCPUS)
        cavs__notice("this StarPU was built for %d CPU workers, and has no more of the %d wanted: "
                     "./quickstart builds one for all cores of a machine (--enable-maxcpus)",
                     STARPU_MAXCPUS, wanted);
}

/* StarPU takes the number of CPU workers from the environment first. */
static int fail_without_workers(const struct cavs_runtime_options *o)
{
    static const char *const variables[] = {"STARPU_NCPU", "STARPU_NCPUS"};
    char devices[CAVS__DEVICES_TEXT], workers[16] = "one a core", given[120] = "";

    if (o->workers >= 0)
        snprintf(workers, sizeof workers, "%d", o->workers);
    for (int i = 0; i < 2 && !*given; i++)
        if (getenv(variables[i]))
            snprintf(given, sizeof given, "; %s=%.40s in the environment goes before that",
                     variables[i], getenv(variables[i]));
    return cavs__fail(CAVS_ERUNTIME,
                      "StarPU found no worker (%s CPU workers, %s devices asked for%s)", workers,
                      cavs__devices_text(o, devices), given);
}

static int start(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    struct starpu_conf conf;
    const char *scheduler;
    int rc;

    starpu_conf_init(&conf);
    conf.ncpus = o->workers;
    share_cores(o, rt, share_devices(o, rt, &conf), &conf);
    tell_of_missing(workers_wanted(&conf, rt));
    scheduler = scheduler_for(o, workers_wanted(&conf, rt));
    conf.sched_policy_name = scheduler;
    set_environment(o, rt);
    /* as StarPU has it, the environment goes before what a program asks for */
    strncpy(rt->scheduler, getenv("STARPU_SCHED") ? getenv("STARPU_SCHED") : scheduler,
            sizeof rt->scheduler - 1);
    cavs__task_models_wanted(wants_task_models(rt));
    starpu_malloc_set_align(64);
    /* whoever has started StarPU before has tasks for its workers, which must not sleep then */
    rt->leave_to_workers = o->leave_to_workers || starpu_is_initialized();
    cavs__simulated_prepare();
    rc = cavs__starpu_init(rt->ranks, &conf);
    if (rc == -ENODEV)
        return fail_without_workers(o);
    if (rc != 0)
        return cavs__fail(CAVS_ERUNTIME, "StarPU did not start: %s", strerror(-rc));
    return CAVS_OK;
}

/* StarPU, and what it needs of devices. */
static int start_all(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    int rc = start(o, rt);
    bool started = !rc, devices = false;

    if (!rc) {
        rc = cavs__devices_start(o);
        devices = !rc;
    }
    if (!rc)
        rc = cavs__ranks_start(rt->ranks, rt->record != NULL);
    rc = cavs__ranks_agree(rt->ranks, rc);
    if (rc && devices)
        cavs__devices_stop();
    if (rc && started)
        cavs__ranks_shutdown(rt->ranks);
    return rc;
}

static int begin_trace(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    if (!o->trace)
        return CAVS_OK;
    if (!cavs_runtime_can_trace())
        return cavs__fail(CAVS_ERUNTIME,
                          "no trace: this StarPU (%s) was built without FxT; "
                          "./quickstart builds one that has it",
                          CAVS_STARPU_VERSION);
    return cavs__record_begin(o->trace, cavs__devices_wanted(o), rt->ranks, &rt->record);
}

/* What can be said before StarPU starts. */
static int check_here(const struct cavs_runtime_options *o, const struct cavs_runtime *rt)
{
    if (o->scheduler && !is_scheduler(o->scheduler))
        return cavs__fail(
            CAVS_EINVAL,
            "StarPU has no scheduler named %s (it has eager, prio, lws, ws, dmda, dmdas, ...)",
            o->scheduler);
    if (rt->ranks && cavs__devices_wanted(o) && o->workers == 0)
        return cavs__fail(CAVS_EINVAL, "a rank with devices needs a CPU worker, too: it carries "
                                       "the messages");
    if (o->trace && !cavs__ranks_are_all(rt->ranks)) /* StarPU lets all of MPI meet for it */
        return cavs__fail(CAVS_EINVAL, "a trace is of all processes of MPI: the communicator has "
                                       "only some of them");
    return CAVS_OK;
}

static int open_ranks(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    int rc = cavs__ranks_open(o->communicator, &rt->ranks);

    if (!rc)
        rc = cavs__ranks_agree(rt->ranks, check_here(o, rt));
    return rc ? rc : cavs__ranks_same(rt->ranks, "the trace", o->trace ? "wanted" : "none");
}

int cavs__runtime_start(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    int rc = open_ranks(o, rt);

    if (!rc)
        rc = cavs__ranks_agree(rt->ranks, cavs__folder_choose(&rt->folder));
    if (!rc)
        rc = cavs__ranks_agree(rt->ranks, begin_trace(o, rt));
    return rc ? rc : start_all(o, rt);
}

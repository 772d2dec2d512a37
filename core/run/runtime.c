/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.c - starting and stopping StarPU, its workers and devices, and the record of a run. */
#include <hwloc.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"

#include "codelets/products/gemm.h"
#include "core/base/notice.h"
#include "core/base/error.h"
#include "core/run/record.h"
#include "core/run/runtime.h"
#include "core/run/simulated.h"
#include "core/run/start_devices.h"

static pid_t running; /* the process with a runtime: StarPU can be initialised once at a time */

static void look_at_machine(struct cavs_runtime *rt)
{
    hwloc_topology_t topology;
    hwloc_obj_t l2, l3;

    rt->cores = rt->threads = 1;
    rt->l2_bytes = 1 << 20;
    rt->l3_bytes = 16 << 20;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_load(topology) == 0) {
        int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);

        rt->cores = cores > 0 ? cores : 1;
        rt->threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) / rt->cores;
        l2 = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L2CACHE, 0);
        if (l2 && l2->attr->cache.size > 0)
            rt->l2_bytes = (int)l2->attr->cache.size;
        l3 = hwloc_get_obj_by_type(topology, HWLOC_OBJ_L3CACHE, 0);
        if (l3 && l3->attr->cache.size > 0)
            rt->l3_bytes = (int64_t)l3->attr->cache.size;
    }
    hwloc_topology_destroy(topology);
    if (cavs__simulated_cores() > 0)
        rt->cores = cavs__simulated_cores();
}

/* StarPU itself only warns and takes another one. */
static bool is_scheduler(const char *name)
{
    for (struct starpu_sched_policy **p = starpu_sched_get_predefined_policies(); *p; p++) {
        if (strcmp((*p)->policy_name, name) == 0)
            return true;
    }
    return false;
}

/* Without performance models (all but dmda and its kin) a scheduler cannot tell a GPU from a
 * core. */
static const char *scheduler_for(const struct cavs_runtime_options *o)
{
    return o->scheduler ? o->scheduler : cavs__devices_wanted(o) ? "dmdas" : "lws";
}

/* More workers than cores are allowed: then nobody is bound. */
static void set_environment(const struct cavs_runtime_options *o, const struct cavs_runtime *rt)
{
    if (o->workers > 0 && o->workers + cavs__devices_asked(o) > rt->cores)
        setenv("STARPU_WORKERS_NOBIND", "1", 0);
    setenv("STARPU_SILENT", "1", 0);
}

/* Whether the launcher has bound this process to some of the cores: StarPU stays on them. */
static bool is_bound(const struct cavs_runtime *rt)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 &&
           CPU_COUNT(&set) < sysconf(_SC_NPROCESSORS_ONLN) && rt->ranks;
}

/* Ranks on one machine share its cores: each begins where the one before ends.  What StarPU counts
 * are hardware threads, of which a worker takes the first of its core. */
static void share_cores(const struct cavs_runtime_options *o, const struct cavs_runtime *rt,
                        struct starpu_conf *conf)
{
    int all, here = cavs__ranks_here(rt->ranks, &all), n = o->workers;

    if (all == 1 || is_bound(rt))
        return;
    if (n < 0)
        n = rt->cores > all ? rt->cores / all : 1;
    conf->ncpus = n;
    if (n * all > rt->cores) {
        setenv("STARPU_WORKERS_NOBIND", "1", 0);
        return;
    }
    conf->use_explicit_workers_bindid = 1;
    for (int i = 0; i < n; i++)
        conf->workers_bindid[i] = (unsigned)((here * n + i) * rt->threads);
}

/* StarPU takes as many as it has arrays for, and would say nothing of the others. */
static void tell_of_missing(const struct starpu_conf *conf, const struct cavs_runtime *rt)
{
    int wanted = conf->ncpus < 0 ? rt->cores : conf->ncpus;

    if (wanted > STARPU_MAXCPUS)
        cavs__notice("this StarPU was built for %d CPU workers, and has no more of the %d wanted: "
                     "./quickstart builds one for all cores of a machine (--enable-maxcpus)",
                     STARPU_MAXCPUS, wanted);
}

static int start(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    struct starpu_conf conf;
    const char *scheduler = scheduler_for(o);
    char devices[CAVS__DEVICES_TEXT];
    int rc;

    starpu_conf_init(&conf);
    conf.ncpus = o->workers;
    share_cores(o, rt, &conf);
    tell_of_missing(&conf, rt);
    conf.sched_policy_name = scheduler;
    cavs__devices_prepare(o, &conf);
    set_environment(o, rt);
    /* as StarPU has it, the environment goes before what a program asks for */
    strncpy(rt->scheduler, getenv("STARPU_SCHED") ? getenv("STARPU_SCHED") : scheduler,
            sizeof rt->scheduler - 1);
    starpu_malloc_set_align(64);
    /* whoever has started StarPU before has tasks for its workers, which must not sleep then */
    rt->leave_to_workers = o->leave_to_workers || starpu_is_initialized();
    cavs__simulated_prepare();
    rc = cavs__starpu_init(rt->ranks, &conf);
    if (rc == -ENODEV)
        return cavs__fail(CAVS_ERUNTIME,
                          "StarPU found no worker (%d CPU workers, %s devices asked for)",
                          o->workers, cavs__devices_text(o, devices));
    if (rc != 0)
        return cavs__fail(CAVS_ERUNTIME, "StarPU did not start: %s", strerror(-rc));
    return CAVS_OK;
}

/* Where tasks run, if the environment says so: see doc/gpu.md. */
static const char *forced_placement(void)
{
    static const char *const known[] = {"cpu", "device", "alternate", "any"};
    const char *wanted = getenv("CAVS_PLACEMENT");

    for (size_t i = 0; wanted && i < sizeof known / sizeof *known; i++) {
        if (strcmp(wanted, known[i]) == 0)
            return wanted;
    }
    if (wanted && *wanted)
        cavs__notice("CAVS_PLACEMENT=%s means nothing: cpu, device, alternate and any do", wanted);
    return NULL;
}

/* StarPU, and what it needs of devices. */
static int start_all(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    int rc = start(o, rt);
    bool started = !rc;

    if (!rc)
        rc = cavs__devices_start(o);
    if (!rc)
        rc = cavs__ranks_start(rt->ranks, rt->record != NULL);
    rc = cavs__ranks_agree(rt->ranks, rc);
    if (rc && started)
        cavs__ranks_shutdown(rt->ranks);
    return rc;
}

bool cavs_runtime_can_trace(void)
{
#ifdef HAVE_STARPU_FXT
    return true;
#else
    return false;
#endif
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
    if (!is_scheduler(scheduler_for(o)))
        return cavs__fail(
            CAVS_EINVAL,
            "StarPU has no scheduler named %s (it has eager, prio, lws, ws, dmda, dmdas, ...)",
            scheduler_for(o));
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

/* What one rank cannot do, none goes on with: the others would wait for it in vain. */
static int start_ranks(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    int rc = open_ranks(o, rt);

    if (!rc)
        rc = cavs__ranks_agree(rt->ranks, cavs__folder_choose(&rt->folder));
    if (!rc)
        rc = cavs__ranks_agree(rt->ranks, begin_trace(o, rt));
    return rc ? rc : start_all(o, rt);
}

int cavs_runtime_create(const struct cavs_runtime_options *options, struct cavs_runtime **out)
{
    struct cavs_runtime_options defaults = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt;
    int rc;

    if (!out)
        return cavs__fail(CAVS_EINVAL, "cavs_runtime_create: nowhere to put the runtime (NULL)");
    if (!options)
        options = &defaults;
    if (running)
        return cavs__fail(CAVS_ESTATE, running == getpid()
                                           ? "a runtime is already there: destroy it first"
                                           : "the process that this one is a child of has a "
                                             "runtime: fork before cavs_runtime_create()");
    if (options->workers < -1 || options->workers > STARPU_NMAXWORKERS)
        return cavs__fail(CAVS_EINVAL, "%d workers: not in 0..%d (-1: one per core)",
                          options->workers, STARPU_NMAXWORKERS);
    rc = cavs__devices_check(options);
    if (rc)
        return rc;
    rt = calloc(1, sizeof *rt);
    if (!rt)
        return cavs__fail_nomem("runtime", sizeof *rt);
    look_at_machine(rt);
    cavs__gemm_init();
    rc = start_ranks(options, rt);
    if (rc) {
        cavs__ranks_close(rt->ranks);
        cavs__record_cancel(rt->record);
        cavs__folder_forget(&rt->folder);
        free(rt);
        return rc;
    }
    running = rt->pid = getpid();
    rt->require = options->require;
    rt->workers = (int)starpu_worker_get_count();
    rt->one_memory = starpu_memory_nodes_get_count() == 1;
    cavs__cost_measure(&rt->cost, rt->record != NULL);
    cavs__simulated_overhead(rt->cost.task);
    rt->placement = forced_placement();
    *out = rt;
    return CAVS_OK;
}

static int stop(struct cavs_runtime *rt)
{
    int rc;

    cavs__workers_wake();
    cavs__devices_stop();
    cavs__ranks_shutdown(rt->ranks);
    running = 0;
    rc = cavs__record_end(rt->record);
    cavs__ranks_close(rt->ranks); /* when all have come to this */
    cavs__folder_forget(&rt->folder);
    free(rt);
    return rc;
}

int cavs_runtime_destroy(struct cavs_runtime *rt)
{
    int rc = rt ? cavs__runtime_ready(rt, "cavs_runtime_destroy") : CAVS_OK;

    if (!rt || rc)
        return rc;
    rt->stopping = true;
    if (rt->sessions == 0)
        return stop(rt);
    return cavs__fail(CAVS_ESTATE,
                      "cavs_runtime_destroy: %d session%s still there; the workers stop with the "
                      "last one (cavs_session_destroy)",
                      rt->sessions, rt->sessions == 1 ? " is" : "s are");
}

void cavs__runtime_release(struct cavs_runtime *rt)
{
    if (--rt->sessions == 0 && rt->stopping && stop(rt) != CAVS_OK)
        cavs__notice("%s", cavs_error_message());
}

int cavs__runtime_ready(const struct cavs_runtime *rt, const char *call)
{
    if (!rt)
        return cavs__fail(CAVS_EINVAL, "%s: no runtime (NULL)", call);
    if (rt->pid == getpid())
        return CAVS_OK;
    return cavs__fail(CAVS_ESTATE,
                      "%s: the workers are in process %ld, of which this one is a child by fork(); "
                      "fork before cavs_runtime_create()",
                      call, (long)rt->pid);
}

int cavs_runtime_workers(const struct cavs_runtime *rt)
{
    return rt ? rt->workers : 0;
}

const char *cavs_runtime_scheduler(const struct cavs_runtime *rt)
{
    return rt ? rt->scheduler : NULL;
}

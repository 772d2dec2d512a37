/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.c - the runtime from its making to its end: the machine, StarPU, the record of a run. */
#include <hwloc.h>
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

/* CAVS_PLACEMENT, where the environment says where tasks run; see doc/gpu.md. */
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

bool cavs_runtime_can_trace(void)
{
#ifdef HAVE_STARPU_FXT
    return true;
#else
    return false;
#endif
}

/* Can a runtime be started, as far as is known before? */
static int check(const struct cavs_runtime_options *o)
{
    if (running)
        return cavs__fail(CAVS_ESTATE, running == getpid()
                                           ? "a runtime is already there: destroy it first"
                                           : "the process that this one is a child of has a "
                                             "runtime: fork before cavs_runtime_create()");
    if (o->workers < -1 || o->workers > STARPU_NMAXWORKERS)
        return cavs__fail(CAVS_EINVAL, "%d workers: not in 0..%d (-1: one per core)", o->workers,
                          STARPU_NMAXWORKERS);
    return cavs__devices_check(o);
}

/* One a core; but devices want large shards, so that several ranks have one for each device that
 * they ask for, whether it is there or not: all have to come to the same number. */
static int default_shards(const struct cavs_runtime_options *o, const struct cavs_runtime *rt)
{
    int devices = cavs__devices_asked(o) > 0 ? cavs__devices_asked(o) : 1;

    return rt->ranks && cavs__devices_wanted(o) ? cavs__ranks_count(rt->ranks) * devices
                                                : rt->cores;
}

/* Notes what is known of the runtime once StarPU runs. */
static void look_at_workers(const struct cavs_runtime_options *o, struct cavs_runtime *rt)
{
    running = rt->pid = getpid();
    rt->require = o->require;
    rt->shards = default_shards(o, rt);
    rt->workers = (int)starpu_worker_get_count();
    rt->one_memory = starpu_memory_nodes_get_count() == 1;
    cavs__cost_measure(&rt->cost, rt->record != NULL);
    cavs__simulated_overhead(rt->cost.around, rt->cost.task);
    rt->placement = forced_placement();
}

/* Frees a runtime whose StarPU does not run, or not any more. */
static void free_runtime(struct cavs_runtime *rt)
{
    cavs__ranks_close(rt->ranks); /* waits until all ranks have come to this */
    cavs__folder_forget(&rt->folder);
    free(rt);
}

int cavs_runtime_create(const struct cavs_runtime_options *options, struct cavs_runtime **out)
{
    struct cavs_runtime_options defaults = CAVS_RUNTIME_DEFAULTS;
    const struct cavs_runtime_options *o = options ? options : &defaults;
    struct cavs_runtime *rt;
    int rc;

    if (!out)
        return cavs__fail(CAVS_EINVAL, "cavs_runtime_create: nowhere to put the runtime (NULL)");
    rc = check(o);
    if (rc)
        return rc;
    rt = calloc(1, sizeof *rt);
    if (!rt)
        return cavs__fail_nomem("runtime", sizeof *rt);
    look_at_machine(rt);
    cavs__gemm_init();
    rc = cavs__runtime_start(o, rt);
    if (rc) {
        cavs__record_cancel(rt->record);
        free_runtime(rt);
        return rc;
    }
    look_at_workers(o, rt);
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
    free_runtime(rt);
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
    if (__atomic_sub_fetch(&rt->sessions, 1, __ATOMIC_ACQ_REL) == 0 && rt->stopping &&
        stop(rt) != CAVS_OK)
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

/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_graphs.c - see cuda_graphs.h. */
#include "codelets/device/cuda_graphs.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include <starpu.h>

/* Launches of a graph: enough that sending it costs little for each, few enough that the first one
 * does not wait long. */
enum { NODES = 32 };

static struct {
    CUresult (*create)(CUgraph *graph, unsigned flags);
    CUresult (*add)(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                    const CUDA_KERNEL_NODE_PARAMS *launch);
    CUresult (*instantiate)(CUgraphExec *made, CUgraph graph, unsigned long long flags);
    CUresult (*set)(CUgraphExec made, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *launch);
    CUresult (*enable)(CUgraphExec made, CUgraphNode node, unsigned enabled);
    CUresult (*launch)(CUgraphExec made, CUstream stream);
    CUresult (*destroy_graph)(CUgraph graph);
    CUresult (*destroy)(CUgraphExec made);
} driver;

/* Of a worker. The lock is held while it collects: whoever unloads a module waits until then. */
static struct chain {
    const struct cavs__device *device;
    bool collecting;
    bool refused; /* the driver does not do it: launches go one by one */
    CUgraph graph;
    CUgraphExec made; /* NULL: not yet */
    CUgraphNode node[NODES];
    int used, enabled; /* launches that wait; nodes that are switched on */
} chains[STARPU_NMAXWORKERS];
static pthread_mutex_t locks[STARPU_NMAXWORKERS] = {[0 ... STARPU_NMAXWORKERS - 1] =
                                                        PTHREAD_MUTEX_INITIALIZER};

static struct chain *chain_here(void)
{
    return &chains[starpu_worker_get_id()];
}

/* ---- life ---- */

bool cavs__cuda_graphs_start(void *library)
{
    *(void **)&driver.create = dlsym(library, "cuGraphCreate");
    *(void **)&driver.add = dlsym(library, "cuGraphAddKernelNode_v2");
    *(void **)&driver.instantiate = dlsym(library, "cuGraphInstantiateWithFlags");
    *(void **)&driver.set = dlsym(library, "cuGraphExecKernelNodeSetParams_v2");
    *(void **)&driver.enable = dlsym(library, "cuGraphNodeSetEnabled");
    *(void **)&driver.launch = dlsym(library, "cuGraphLaunch");
    *(void **)&driver.destroy_graph = dlsym(library, "cuGraphDestroy");
    *(void **)&driver.destroy = dlsym(library, "cuGraphExecDestroy");
    return driver.create && driver.add && driver.instantiate && driver.set && driver.enable &&
           driver.launch && driver.destroy_graph && driver.destroy;
}

static void drop(struct chain *c)
{
    if (c->made)
        driver.destroy(c->made);
    if (c->graph)
        driver.destroy_graph(c->graph);
    *c = (struct chain){.device = c->device, .collecting = c->collecting, .refused = c->refused};
}

void cavs__cuda_graphs_drop(const struct cavs__device *d)
{
    for (int i = 0; i < STARPU_NMAXWORKERS; i++) {
        pthread_mutex_lock(&locks[i]);
        if (chains[i].device == d)
            drop(&chains[i]);
        pthread_mutex_unlock(&locks[i]);
    }
}

/* All nodes begin as this launch, and switched off. */
static bool make(struct chain *c, const CUDA_KERNEL_NODE_PARAMS *launch)
{
    CUresult rc = driver.create(&c->graph, 0);

    for (int i = 0; i < NODES && rc == CUDA_SUCCESS; i++)
        rc = driver.add(&c->node[i], c->graph, i > 0 ? &c->node[i - 1] : NULL, i > 0, launch);
    if (rc == CUDA_SUCCESS)
        rc = driver.instantiate(&c->made, c->graph, 0);
    for (int i = 0; i < NODES && rc == CUDA_SUCCESS; i++)
        rc = driver.enable(c->made, c->node[i], 0);
    if (rc != CUDA_SUCCESS)
        drop(c);
    return rc == CUDA_SUCCESS;
}

/* ---- launches ---- */

void cavs__cuda_graph_begin(const struct cavs__device *d)
{
    pthread_mutex_lock(&locks[starpu_worker_get_id()]);
    chain_here()->device = d;
    chain_here()->collecting = true;
}

CUresult cavs__cuda_graph_add(const CUDA_KERNEL_NODE_PARAMS *launch, CUstream stream)
{
    struct chain *c = chain_here();
    CUresult rc = CUDA_SUCCESS;

    if (!c->collecting || c->refused)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (c->used == NODES)
        rc = cavs__cuda_graph_send(stream);
    if (rc != CUDA_SUCCESS)
        return rc;
    c->refused = (!c->made && !make(c, launch)) ||
                 driver.set(c->made, c->node[c->used], launch) != CUDA_SUCCESS;
    if (!c->refused) {
        c->used++;
        return CUDA_SUCCESS;
    }
    rc = cavs__cuda_graph_send(stream); /* what came before */
    return rc == CUDA_SUCCESS ? CUDA_ERROR_NOT_SUPPORTED : rc;
}

static CUresult switch_nodes(struct chain *c)
{
    CUresult rc = CUDA_SUCCESS;

    for (; c->enabled < c->used && rc == CUDA_SUCCESS; c->enabled++)
        rc = driver.enable(c->made, c->node[c->enabled], 1);
    for (; c->enabled > c->used && rc == CUDA_SUCCESS; c->enabled--)
        rc = driver.enable(c->made, c->node[c->enabled - 1], 0);
    return rc;
}

CUresult cavs__cuda_graph_send(CUstream stream)
{
    struct chain *c = chain_here();
    CUresult rc;

    if (c->used == 0)
        return CUDA_SUCCESS;
    rc = switch_nodes(c);
    if (rc == CUDA_SUCCESS)
        rc = driver.launch(c->made, stream);
    c->used = 0;
    return rc;
}

CUresult cavs__cuda_graph_end(CUstream stream)
{
    struct chain *c = chain_here();
    CUresult rc = CUDA_SUCCESS;

    if (!c->collecting)
        return rc;
    rc = cavs__cuda_graph_send(stream);
    c->collecting = false;
    pthread_mutex_unlock(&locks[starpu_worker_get_id()]);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_graphs.c - the driver's graphs: kernels one after the other, whose functions and arguments
 * change between launches, and of which some are switched off. Others are complaints.
 */
#include "tests/cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include <cuda.h>

enum { MOST_NODES = 64 };

struct CUgraphNode_st {
    CUgraph graph;
    int number;
};
struct CUgraph_st {
    int n;
    struct CUgraphNode_st node[MOST_NODES];
};
struct kernel {
    CUDA_KERNEL_NODE_PARAMS launch;
    void **arguments; /* copies; NULL: it was never set */
    bool enabled;
};
struct CUgraphExec_st {
    CUgraph graph;
    struct kernel kernel[MOST_NODES];
};

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
    (void)flags;
    *graph = calloc(1, sizeof **graph);
    return *graph ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
                              const CUDA_KERNEL_NODE_PARAMS *launch)
{
    if (!launch->func || graph->n == MOST_NODES || n != (graph->n > 0) ||
        (n > 0 && after[0] != &graph->node[graph->n - 1]))
        gpu_complain("a graph that is not one kernel after the other has no stand-in");
    *node = &graph->node[graph->n];
    **node = (struct CUgraphNode_st){graph, graph->n++};
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec *made, CUgraph graph, unsigned long long flags)
{
    (void)flags;
    *made = calloc(1, sizeof **made);
    if (!*made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*made)->graph = graph;
    for (int i = 0; i < graph->n; i++)
        (*made)->kernel[i].enabled = true;
    return CUDA_SUCCESS;
}

static struct kernel *kernel_of(CUgraphExec made, CUgraphNode node)
{
    if (node->graph != made->graph)
        gpu_complain("a node of another graph");
    return &made->kernel[node->number];
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec made, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS *launch)
{
    struct kernel *k = kernel_of(made, node);

    if (gpu_comes(&gpu_options()->graph_fails))
        return CUDA_ERROR_NOT_SUPPORTED;
    gpu_arguments_free(k->arguments);
    k->launch = *launch;
    k->arguments = gpu_arguments_copy((struct gpu_function *)launch->func, launch->kernelParams);
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec made, CUgraphNode node, unsigned enabled)
{
    kernel_of(made, node)->enabled = enabled;
    return CUDA_SUCCESS;
}

/* Each kernel is one that cuLaunchKernel() might have got. */
CUresult cuGraphLaunch(CUgraphExec made, CUstream stream)
{
    CUresult rc = CUDA_SUCCESS;

    gpu_count(&gpu_counts.graphs, 1);
    for (int i = 0; i < made->graph->n && rc == CUDA_SUCCESS; i++) {
        const struct kernel *k = &made->kernel[i];
        const CUDA_KERNEL_NODE_PARAMS *l = &k->launch;

        if (k->enabled && !k->arguments)
            gpu_complain("a graph is launched with a kernel that was never set");
        if (k->enabled)
            rc = cuLaunchKernel(l->func, l->gridDimX, l->gridDimY, l->gridDimZ, l->blockDimX,
                                l->blockDimY, l->blockDimZ, l->sharedMemBytes, stream, k->arguments,
                                l->extra);
    }
    return rc;
}

CUresult cuGraphExecDestroy(CUgraphExec made)
{
    for (int i = 0; i < MOST_NODES; i++)
        gpu_arguments_free(made->kernel[i].arguments);
    free(made);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    free(graph);
    return CUDA_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_graphs.h - launches that an NVIDIA GPU gets at once, as a graph: for chains of V_t so small
 * that each launch counts.
 *
 * Each worker has one graph, made once: kernels one after the other. A launch gives the next of
 * them its function and arguments; when all are sent, those that are left are switched off.
 */
#ifndef CAVS_CODELETS_DEVICE_CUDA_GRAPHS_H
#define CAVS_CODELETS_DEVICE_CUDA_GRAPHS_H

#include <stdbool.h>

#include <cuda.h>

struct cavs__device;

/* Finds the driver's functions; false: it is too old. */
bool cavs__cuda_graphs_start(void *library);
/* By a worker of the device: forgets graphs there, whose functions are about to go. */
void cavs__cuda_graphs_drop(const struct cavs__device *d);
/* Launches of the calling worker are collected from now on, until cavs__cuda_graph_end(). */
void cavs__cuda_graph_begin(const struct cavs__device *d);
/* Takes a launch. CUDA_ERROR_NOT_SUPPORTED: nothing is collected; it is to be launched by
 * itself. */
CUresult cavs__cuda_graph_add(const CUDA_KERNEL_NODE_PARAMS *launch, CUstream stream);
/* Sends what was collected, if there is something. */
CUresult cavs__cuda_graph_send(CUstream stream);
CUresult cavs__cuda_graph_end(CUstream stream);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cudart.c - the functions of CUDA's runtime that StarPU and the library call. */
#include "tests/cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

static _Thread_local cudaError_t last;

static struct gpu_stream *stream_of(cudaStream_t s)
{
    return (struct gpu_stream *)s;
}

static struct gpu_event *event_of(cudaEvent_t e)
{
    return (struct gpu_event *)e;
}

/* Notes an error; one of a lost device comes first. */
static cudaError_t answer(int device, cudaError_t rc)
{
    if (gpu_options()->devices == 0)
        rc = cudaErrorNoDevice;
    else if (gpu_lost(device))
        rc = cudaErrorLaunchFailure;
    if (rc != cudaSuccess && rc != cudaErrorNotReady)
        last = rc;
    return rc;
}

static bool is_device(int device)
{
    return device >= 0 && device < gpu_options()->devices;
}

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = gpu_options()->devices;
    return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

cudaError_t cudaSetDevice(int device)
{
    if (!is_device(device))
        return answer(gpu_current(), cudaErrorInvalidDevice);
    gpu_choose(device);
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = gpu_current();
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    if (!is_device(device))
        return answer(gpu_current(), cudaErrorInvalidDevice);
    memset(prop, 0, sizeof *prop);
    snprintf(prop->name, sizeof prop->name, "stand-in GPU of %zu MB",
             gpu_options()->memory[device] >> 20);
    prop->totalGlobalMem = gpu_options()->memory[device];
    prop->major = 9;
    prop->multiProcessorCount = 4;
    prop->pciBusID = device + 1;
    prop->concurrentKernels = 1;
    prop->unifiedAddressing = 1;
    prop->canMapHostMemory = 1;
    prop->maxThreadsPerBlock = 1024;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
    if (!is_device(device))
        return answer(gpu_current(), cudaErrorInvalidDevice);
    *value = 0;
    if (attr == cudaDevAttrComputeMode)
        *value = cudaComputeModeDefault;
    else
        gpu_complain("cudaDeviceGetAttribute(%d) has no stand-in", (int)attr);
    return cudaSuccess;
}

/* Of no real driver: what was compiled here is not taken for a GPU's. */
cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDA_MAJOR * 1000 + 999;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    if (!is_device(device) || !is_device(peer))
        return answer(gpu_current(), cudaErrorInvalidDevice);
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    static bool enabled[GPU_MOST][GPU_MOST];

    if (!is_device(peer) || flags != 0)
        return answer(gpu_current(), cudaErrorInvalidDevice);
    if (__atomic_exchange_n(&enabled[gpu_current()][peer], true, __ATOMIC_RELAXED))
        return answer(gpu_current(), cudaErrorPeerAccessAlreadyEnabled);
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    gpu_reset(gpu_current());
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    gpu_count(&gpu_counts.waits, 1);
    gpu_wait(gpu_current());
    return answer(gpu_current(), cudaSuccess);
}

/* ---- errors ---- */

cudaError_t cudaGetLastError(void)
{
    cudaError_t rc = last;

    last = cudaSuccess;
    return rc;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorNotReady: return "device not ready";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorLaunchFailure: return "unspecified launch failure";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    default: return "some other error";
    }
}

/* ---- memory ---- */

cudaError_t cudaMalloc(void **p, size_t bytes)
{
    if (!is_device(gpu_current()))
        return answer(gpu_current(), cudaErrorNoDevice);
    *p = gpu_comes(&gpu_options()->malloc_fails) ? NULL : gpu_allocate(gpu_current(), bytes);
    return answer(gpu_current(), *p || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}

/* It waits for the device. */
cudaError_t cudaFree(void *p)
{
    int device = p ? gpu_device_of(p) : gpu_current();

    if (!p)
        return answer(gpu_current(), cudaSuccess);
    if (device < 0)
        gpu_complain("cudaFree(%p): no memory of a device", p);
    gpu_wait(device);
    if (!gpu_release(p))
        gpu_complain("cudaFree(%p): nothing begins there", p);
    return answer(device, cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *left, size_t *total)
{
    *left = gpu_free_bytes(gpu_current());
    *total = gpu_options()->memory[gpu_current()];
    return answer(gpu_current(), cudaSuccess);
}

cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags)
{
    (void)flags;
    *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!*p)
        return answer(gpu_current(), cudaErrorMemoryAllocation);
    memset(*p, 0xff, bytes);
    gpu_pin(*p, bytes);
    gpu_count(&gpu_counts.host_allocations, 1);
    return answer(gpu_current(), cudaSuccess);
}

static void wait_for_all(void)
{
    for (int i = 0; i < gpu_options()->devices; i++)
        gpu_wait(i);
}

cudaError_t cudaFreeHost(void *p)
{
    wait_for_all();
    if (p && !gpu_unpin(p))
        gpu_complain("cudaFreeHost(%p): it was not allocated so", p);
    free(p);
    return answer(gpu_current(), cudaSuccess);
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    (void)flags;
    gpu_pin(p, bytes);
    return answer(gpu_current(), cudaSuccess);
}

cudaError_t cudaHostUnregister(void *p)
{
    wait_for_all();
    if (!gpu_unpin(p))
        gpu_complain("cudaHostUnregister(%p): it was not registered", p);
    return answer(gpu_current(), cudaSuccess);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    (void)device, (void)host, (void)flags;
    return answer(gpu_current(), cudaErrorNotSupported);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    int device = gpu_device_of(p);

    memset(a, 0, sizeof *a);
    a->type = device >= 0 ? cudaMemoryTypeDevice : cudaMemoryTypeUnregistered;
    a->device = device >= 0 ? device : 0;
    return cudaSuccess;
}

/* ---- copies ---- */

static int place_of(const void *p)
{
    return gpu_device_of(p);
}

/* That a copy is of the kind that it says, and between these devices (-1: any). */
static void check_kind(const struct gpu_copy *c, enum cudaMemcpyKind kind)
{
    bool up = place_of(c->from) < 0, down = place_of(c->to) < 0;

    if (kind == cudaMemcpyDefault)
        return;
    if (up != (kind == cudaMemcpyHostToDevice) || down != (kind == cudaMemcpyDeviceToHost))
        gpu_complain("a copy from %p to %p is none of kind %d", c->from, c->to, (int)kind);
}

static cudaError_t copy(const struct gpu_copy *c, enum cudaMemcpyKind kind, struct gpu_stream *s)
{
    int device = s ? gpu_stream_device(s) : gpu_current();

    if (c->width == 0 || c->height == 0)
        return answer(device, cudaSuccess);
    if (c->height > 1 && (c->to_pitch < c->width || c->from_pitch < c->width))
        return answer(device, cudaErrorInvalidPitchValue);
    check_kind(c, kind);
    if (gpu_lost(device))
        return answer(device, cudaSuccess);
    if (!gpu_copy(device, s, c))
        gpu_complain("a copy of %zu x %zu bytes from %p to %p: not in what is allocated", c->height,
                     c->width, c->from, c->to);
    return answer(device, cudaSuccess);
}

/* The call of those that return when it is done; a copy on a device returns before. */
static cudaError_t copy_now(const struct gpu_copy *c, enum cudaMemcpyKind kind)
{
    cudaError_t rc = copy(c, kind, NULL);

    gpu_count(&gpu_counts.copies_waited, 1);
    if (rc == cudaSuccess && (place_of(c->to) < 0 || place_of(c->from) < 0))
        gpu_stream_wait(gpu_current(), NULL);
    return rc;
}

static struct gpu_copy line(void *to, const void *from, size_t bytes)
{
    return (struct gpu_copy){to, from, bytes, bytes, bytes, 1};
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    struct gpu_copy c = line(to, from, bytes);

    return copy_now(&c, kind);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    struct gpu_copy c = line(to, from, bytes);

    return copy(&c, kind, stream_of(stream));
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    struct gpu_copy c = {to, from, to_pitch, from_pitch, width, height};

    return copy_now(&c, kind);
}

cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, enum cudaMemcpyKind kind,
                              cudaStream_t stream)
{
    struct gpu_copy c = {to, from, to_pitch, from_pitch, width, height};

    return copy(&c, kind, stream_of(stream));
}

static void check_peers(const struct gpu_copy *c, int to, int from)
{
    if (place_of(c->to) != to || place_of(c->from) != from)
        gpu_complain("a copy from %p to %p is none from device %d to %d", c->from, c->to, from, to);
}

cudaError_t cudaMemcpyPeer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    struct gpu_copy c = line(to, from, bytes);

    check_peers(&c, to_device, from_device);
    return copy(&c, cudaMemcpyDeviceToDevice, NULL);
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device,
                                size_t bytes, cudaStream_t stream)
{
    struct gpu_copy c = line(to, from, bytes);

    check_peers(&c, to_device, from_device);
    return copy(&c, cudaMemcpyDeviceToDevice, stream_of(stream));
}

static struct gpu_copy of_peers(const struct cudaMemcpy3DPeerParms *p)
{
    struct gpu_copy c = {p->dstPtr.ptr,   p->srcPtr.ptr,   p->dstPtr.pitch,
                         p->srcPtr.pitch, p->extent.width, p->extent.height};

    if (p->extent.depth != 1)
        gpu_complain("a copy between devices of depth %zu has no stand-in", p->extent.depth);
    check_peers(&c, p->dstDevice, p->srcDevice);
    return c;
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    struct gpu_copy c = of_peers(p);

    return copy(&c, cudaMemcpyDeviceToDevice, NULL);
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    struct gpu_copy c = of_peers(p);

    return copy(&c, cudaMemcpyDeviceToDevice, stream_of(stream));
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    if (!gpu_is_allocated(gpu_current(), p, bytes))
        gpu_complain("cudaMemset(%p, %zu bytes): not in what is allocated", p, bytes);
    gpu_fill(gpu_current(), NULL, p, value, bytes);
    return answer(gpu_current(), cudaSuccess);
}

/* ---- streams ---- */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    *stream = (cudaStream_t)gpu_stream_create(gpu_current(), !(flags & cudaStreamNonBlocking));
    return answer(gpu_current(), cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    int device = gpu_stream_device(stream_of(stream));

    gpu_stream_destroy(stream_of(stream));
    return answer(device, cudaSuccess);
}

static int device_of_stream(cudaStream_t stream)
{
    return stream ? gpu_stream_device(stream_of(stream)) : gpu_current();
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    int device = device_of_stream(stream);

    return answer(device,
                  gpu_stream_done(device, stream_of(stream)) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    int device = device_of_stream(stream);

    gpu_count(&gpu_counts.waits, 1);
    gpu_stream_wait(device, stream_of(stream));
    return answer(device, cudaSuccess);
}

/* ---- events ---- */

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    (void)flags;
    *event = (cudaEvent_t)gpu_event_create();
    return answer(gpu_current(), cudaSuccess);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    gpu_event_destroy(event_of(event));
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    int device = device_of_stream(stream);

    gpu_event_record(event_of(event), device, stream_of(stream));
    return answer(device, cudaSuccess);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    return answer(gpu_current(), gpu_event_done(event_of(event)) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    gpu_count(&gpu_counts.waits, 1);
    gpu_event_wait(event_of(event));
    return answer(gpu_current(), cudaSuccess);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrong.c - programs that do one thing wrong with a GPU, for tests/test_cuda_stand_in.t: the
 * stand-in has to notice.  Exit status 1: a result is not what it should be.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <nvrtc.h>

enum { N = 64 };

static const char text[] =
    "extern \"C\" __global__ void __launch_bounds__(64) turn(float *x, int wrong)\n"
    "{\n"
    "    __shared__ float all[64];\n"
    "    int i = (int)threadIdx.x;\n"
    "    all[i] = x[i];\n"
    "    if (wrong != 1 || i % 2)\n"
    "        __syncthreads();\n"
    "    x[wrong == 2 ? i + 4096 * 16 : i] = 2 * all[63 - i];\n"
    "}\n";

static float *host, *device;
static cudaStream_t stream, other;
static CUfunction turn;

static void need(int rc, const char *what)
{
    if (rc == 0)
        return;
    fprintf(stderr, "%s gave %d\n", what, rc);
    exit(2);
}
#define NEED(call) need((int)(call), #call)

static void set_up(void)
{
    const char *options[] = {"--gpu-architecture=sm_90"};
    nvrtcProgram program;
    CUmodule module;
    size_t size;
    char *code;

    NEED(cudaSetDevice(0));
    NEED(cudaMalloc((void **)&device, N * sizeof *device));
    NEED(cudaHostAlloc((void **)&host, N * sizeof *host, 0));
    NEED(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    NEED(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    NEED(nvrtcCreateProgram(&program, text, "turn.cu", 0, NULL, NULL));
    NEED(nvrtcCompileProgram(program, 1, options));
    NEED(nvrtcGetCUBINSize(program, &size));
    code = malloc(size);
    NEED(nvrtcGetCUBIN(program, code));
    NEED(cuModuleLoadData(&module, code));
    NEED(cuModuleGetFunction(&turn, module, "turn"));
    free(code);
    NEED(nvrtcDestroyProgram(&program));
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
}

static void launch(int wrong, unsigned threads)
{
    void *arguments[] = {&device, &wrong};

    NEED(cuLaunchKernel(turn, 1, 1, 1, threads, 1, 1, 0, (CUstream)stream, arguments, NULL));
}

static void up(void)
{
    NEED(cudaMemcpyAsync(device, host, N * sizeof *host, cudaMemcpyHostToDevice, stream));
}

static void down(cudaStream_t by)
{
    NEED(cudaMemcpyAsync(host, device, N * sizeof *host, cudaMemcpyDeviceToHost, by));
}

/* 1: the numbers are not those that the kernel has to give. */
static int judge(void)
{
    for (int i = 0; i < N; i++) {
        if (host[i] == (float)(2 * (N - 1 - i)))
            continue;
        fprintf(stderr, "number %d is %g\n", i, (double)fabsf(host[i]));
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *wrong = argc > 1 ? argv[1] : "nothing";
    cudaStream_t by;

    set_up();
    by = strcmp(wrong, "other-stream") == 0 ? other : stream;
    if (strcmp(wrong, "touch") == 0)
        device[0] = 1;
    if (strcmp(wrong, "outside") == 0)
        cudaMemcpy(device, host, (N + 1) * sizeof *host, cudaMemcpyHostToDevice);
    up();
    NEED(cudaStreamSynchronize(stream));
    if (strcmp(wrong, "freed") == 0)
        NEED(cudaFree(device));
    launch(strcmp(wrong, "no-barrier") == 0 ? 1
           : strcmp(wrong, "beyond") == 0   ? 2
                                            : 0,
           strcmp(wrong, "wrong-block") == 0 ? 32 : N);
    if (strcmp(wrong, "freed") != 0)
        down(by);
    if (strcmp(wrong, "too-soon") != 0)
        NEED(cudaStreamSynchronize(by));
    return judge();
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrong.c - programs that do one thing wrong with a GPU, for tests/test_cuda_stand_in.t: the
 * stand-in has to notice.  Exit status 1: a result is not what it should be.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cublas_v2.h>
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

static void launch(int wrong, unsigned blocks, unsigned threads, bool early)
{
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                   .value.programmaticStreamSerializationAllowed = 1};
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = blocks,
                                   .gridDimZ = 1,
                                   .blockDimX = threads,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = (CUstream)stream,
                                   .attrs = &attribute,
                                   .numAttrs = early};
    void *arguments[] = {&device, &wrong};

    NEED(cuLaunchKernelEx(&config, turn, arguments, NULL));
}

/* Rows of 8 numbers. */
static void up(size_t rows)
{
    const size_t bytes = 8 * sizeof *host;

    NEED(
        cudaMemcpy2DAsync(device, bytes, host, bytes, bytes, rows, cudaMemcpyHostToDevice, stream));
}

/* Of matrices of 8 rows and columns, all of them in one place. */
static void multiply(const float *at, int pitch)
{
    const float one = 1, zero = 0;
    cublasHandle_t handle;

    NEED(cublasCreate(&handle));
    NEED(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 8, 8, 8, &one, at, CUDA_R_32F, pitch, at,
                      CUDA_R_32F, 8, &zero, device, CUDA_R_32F, 8, CUBLAS_COMPUTE_32F,
                      CUBLAS_GEMM_DEFAULT));
    NEED(cublasDestroy(handle));
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

static const char *wrong = "nothing";

static bool is(const char *name)
{
    return strcmp(wrong, name) == 0;
}

int main(int argc, char **argv)
{
    cudaStream_t by;

    wrong = argc > 1 ? argv[1] : wrong;
    set_up();
    by = is("other-stream") ? other : stream;
    if (is("touch"))
        device[0] = 1;
    if (is("outside"))
        cudaMemcpy(device, host, (N + 1) * sizeof *host, cudaMemcpyHostToDevice);
    if (is("product-pitch"))
        multiply(device, 7);
    if (is("product-outside"))
        multiply(device + 1, 8);
    up(is("row-too-many") ? 9 : 8);
    NEED(cudaStreamSynchronize(stream));
    if (is("freed"))
        NEED(cudaFree(device));
    launch(is("no-barrier") ? 1
           : is("beyond")   ? 2
                            : 0,
           is("blocks") ? 65536 : 1, is("wrong-block") ? 32 : N, is("early"));
    if (!is("freed"))
        down(by);
    if (!is("too-soon"))
        NEED(cudaStreamSynchronize(by));
    return judge();
}

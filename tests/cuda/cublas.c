/* SPDX-License-Identifier: Apache-2.0 */
/* cublas.c - the functions of cuBLAS that StarPU and the library call; OpenBLAS multiplies. */
#include "tests/cuda/gpu.h"

#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <cublas_v2.h>

struct handle {
    int device;
    struct gpu_stream *stream;
};

static struct handle *handle_of(cublasHandle_t h)
{
    return (struct handle *)h;
}

/* ---- products ---- */

struct product {
    struct gpu_op op;
    char ta, tb;
    int m, n, k, lda, ldb, ldc;
    float alpha, beta;
    const float *a, *b;
    float *c;
    int dropped; /* bits of an operand's mantissa */
};

/* Floats from the first to the last number of a matrix with so many rows and columns. */
static size_t reach(int rows, int cols, int ld)
{
    return rows > 0 && cols > 0 ? (size_t)ld * (size_t)(cols - 1) + (size_t)rows : 0;
}

static size_t reach_of(char transposed, int rows, int cols, int ld)
{
    return transposed == 'N' ? reach(rows, cols, ld) : reach(cols, rows, ld);
}

static void check(int device, const char *name, const void *p, size_t floats)
{
    if (floats > 0 && !gpu_is_allocated(device, p, floats * sizeof(float)))
        gpu_complain("a product's %s, %zu floats at %p, is not in an allocation of device %d", name,
                     floats, p, device);
}

static void check_all(int device, const struct product *p)
{
    check(device, "a", p->a, reach_of(p->ta, p->m, p->k, p->lda));
    check(device, "b", p->b, reach_of(p->tb, p->k, p->n, p->ldb));
    check(device, "c", p->c, reach(p->m, p->n, p->ldc));
}

/* Without so many bits of mantissa, to the nearest, ties to even. */
static float *rounded(const float *p, size_t n, int dropped)
{
    const uint32_t half = (1u << dropped >> 1) - 1;
    float *all = malloc((n + 1) * sizeof *all);
    uint32_t bits;

    if (!all)
        gpu_complain("the machine has no %zu floats", n);
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, &p[i], sizeof bits);
        if ((bits & 0x7f800000) != 0x7f800000)
            bits = (bits + half + (bits >> dropped & 1)) >> dropped << dropped;
        memcpy(&all[i], &bits, sizeof bits);
    }
    return all;
}

static CBLAS_TRANSPOSE transpose(char transposed)
{
    return transposed == 'N' ? CblasNoTrans : CblasTrans;
}

static void multiply(const struct product *p, const float *a, const float *b)
{
    openblas_set_num_threads(1);
    cblas_sgemm(CblasColMajor, transpose(p->ta), transpose(p->tb), p->m, p->n, p->k, p->alpha, a,
                p->lda, b, p->ldb, p->beta, gpu_inside(p->c), p->ldc);
}

static void run_product(struct gpu_op *op)
{
    const struct product *p = (const struct product *)op;

    if (p->m == 0 || p->n == 0)
        return;
    check_all(op->device, p);
    if (p->dropped && p->k > 0) {
        float *a = rounded(gpu_inside(p->a), reach_of(p->ta, p->m, p->k, p->lda), p->dropped);
        float *b = rounded(gpu_inside(p->b), reach_of(p->tb, p->k, p->n, p->ldb), p->dropped);

        multiply(p, a, b);
        free(a);
        free(b);
    } else {
        multiply(p, p->k > 0 ? gpu_inside(p->a) : NULL, p->k > 0 ? gpu_inside(p->b) : NULL);
    }
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Bits of an operand's 23 that are not used. */
static int dropped_by(cublasComputeType_t type)
{
    switch (type) {
    case CUBLAS_COMPUTE_32F: return 0;
    case CUBLAS_COMPUTE_32F_FAST_TF32: return 13;
    case CUBLAS_COMPUTE_32F_FAST_16BF: return 16;
    default: gpu_complain("products that compute in type %d have no stand-in", (int)type);
    }
}

cublasStatus_t cublasGemmEx(cublasHandle_t h, cublasOperation_t ta, cublasOperation_t tb, int m,
                            int n, int k, const void *alpha, const void *a, cudaDataType a_type,
                            int lda, const void *b, cudaDataType b_type, int ldb, const void *beta,
                            void *c, cudaDataType c_type, int ldc, cublasComputeType_t type,
                            cublasGemmAlgo_t algorithm)
{
    struct handle *handle = handle_of(h);
    struct product *p;

    if (a_type != CUDA_R_32F || b_type != CUDA_R_32F || c_type != CUDA_R_32F ||
        algorithm != CUBLAS_GEMM_DEFAULT)
        gpu_complain("a product of types %d, %d and %d, algorithm %d, has no stand-in", (int)a_type,
                     (int)b_type, (int)c_type, (int)algorithm);
    if (m < 0 || n < 0 || k < 0 || lda < most(1, ta == CUBLAS_OP_N ? m : k) ||
        ldb < most(1, tb == CUBLAS_OP_N ? k : n) || ldc < most(1, m))
        return CUBLAS_STATUS_INVALID_VALUE;
    if (gpu_lost(handle->device) || gpu_comes(&gpu_options()->product_fails))
        return CUBLAS_STATUS_EXECUTION_FAILED;
    p = gpu_op(sizeof *p, run_product);
    p->ta = ta == CUBLAS_OP_N ? 'N' : 'T';
    p->tb = tb == CUBLAS_OP_N ? 'N' : 'T';
    p->m = m, p->n = n, p->k = k;
    p->lda = lda, p->ldb = ldb, p->ldc = ldc;
    p->alpha = *(const float *)alpha, p->beta = *(const float *)beta;
    p->a = a, p->b = b, p->c = c;
    p->dropped = dropped_by(type);
    check_all(handle->device, p);
    gpu_count(&gpu_counts.products, 1);
    gpu_count(&gpu_counts.products_tf32, type == CUBLAS_COMPUTE_32F_FAST_TF32);
    gpu_count(&gpu_counts.products_bf16, type == CUBLAS_COMPUTE_32F_FAST_16BF);
    gpu_issue(handle->device, handle->stream, p);
    return CUBLAS_STATUS_SUCCESS;
}

/* ---- handles ---- */

cublasStatus_t cublasCreate(cublasHandle_t *h)
{
    struct handle *handle = calloc(1, sizeof *handle);

    if (!handle || gpu_options()->devices == 0) {
        free(handle);
        return CUBLAS_STATUS_NOT_INITIALIZED;
    }
    handle->device = gpu_current();
    *h = (cublasHandle_t)handle;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy(cublasHandle_t h)
{
    gpu_wait(handle_of(h)->device);
    free(h);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t h, cudaStream_t stream)
{
    struct gpu_stream *s = (struct gpu_stream *)stream;

    if (s && gpu_stream_device(s) != handle_of(h)->device)
        gpu_complain("a cuBLAS handle of device %d gets a stream of device %d",
                     handle_of(h)->device, gpu_stream_device(s));
    handle_of(h)->stream = s;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS            ? "the operation completed successfully"
           : status == CUBLAS_STATUS_EXECUTION_FAILED ? "the function failed to launch on the GPU"
           : status == CUBLAS_STATUS_INVALID_VALUE
               ? "an unsupported value or parameter was passed to the function"
               : "some other error";
}

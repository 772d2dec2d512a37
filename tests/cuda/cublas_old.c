/* SPDX-License-Identifier: Apache-2.0 */
/* cublas_old.c - cuBLAS before its handles, which StarPU starts and nobody uses. */
#include <cublas.h>

cublasStatus cublasInit(void)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus cublasShutdown(void)
{
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus cublasSetKernelStream(cudaStream_t stream)
{
    (void)stream;
    return CUBLAS_STATUS_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cusolvers.c - cublasLt, cuSPARSE and cuSOLVER: StarPU makes and destroys their handles, and
 * nobody uses them.
 */
#include <stdlib.h>

#include <cublasLt.h>
#include <cusolverDn.h>
#include <cusolverRf.h>
#include <cusolverSp.h>
#include <cusparse.h>

#define HANDLES(library, status, handle, create, destroy)                        \
    status create(handle *h)                                                     \
    {                                                                            \
        *h = malloc(1);                                                          \
        return *h ? library##_STATUS_SUCCESS : library##_STATUS_NOT_INITIALIZED; \
    }                                                                            \
    status destroy(handle h)                                                     \
    {                                                                            \
        free(h);                                                                 \
        return library##_STATUS_SUCCESS;                                         \
    }

#define STREAMS(library, status, handle, set) \
    status set(handle h, cudaStream_t stream) \
    {                                         \
        (void)h, (void)stream;                \
        return library##_STATUS_SUCCESS;      \
    }

#if defined(FOR_CUBLASLT)
HANDLES(CUBLAS, cublasStatus_t, cublasLtHandle_t, cublasLtCreate, cublasLtDestroy)
#elif defined(FOR_CUSPARSE)
HANDLES(CUSPARSE, cusparseStatus_t, cusparseHandle_t, cusparseCreate, cusparseDestroy)
STREAMS(CUSPARSE, cusparseStatus_t, cusparseHandle_t, cusparseSetStream)
#else
HANDLES(CUSOLVER, cusolverStatus_t, cusolverDnHandle_t, cusolverDnCreate, cusolverDnDestroy)
STREAMS(CUSOLVER, cusolverStatus_t, cusolverDnHandle_t, cusolverDnSetStream)
HANDLES(CUSOLVER, cusolverStatus_t, cusolverSpHandle_t, cusolverSpCreate, cusolverSpDestroy)
STREAMS(CUSOLVER, cusolverStatus_t, cusolverSpHandle_t, cusolverSpSetStream)
HANDLES(CUSOLVER, cusolverStatus_t, cusolverRfHandle_t, cusolverRfCreate, cusolverRfDestroy)
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* gemm_providers.h - the providers that gemm.c chooses from; nobody else needs to know them. */
#ifndef CAVS_CODELETS_PRODUCTS_GEMM_PROVIDERS_H
#define CAVS_CODELETS_PRODUCTS_GEMM_PROVIDERS_H

#include "codelets/products/gemm.h"

extern const struct cavs__gemm_provider cavs__gemm_avx512;  /* only on x86-64 */
extern const struct cavs__gemm_provider cavs__gemm_avx2;    /* only on x86-64 */
extern const struct cavs__gemm_provider cavs__gemm_libxsmm; /* only with HAVE_LIBXSMM */
extern const struct cavs__gemm_provider cavs__gemm_openblas;
extern const struct cavs__gemm_provider cavs__gemm_reference;

/* Before the first product and before threads start. */
void cavs__gemm_openblas_init(void);
void cavs__gemm_libxsmm_init(void);

#endif

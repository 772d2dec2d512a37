/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - which source of matrix products this process uses. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/products/gemm.h"
#include "codelets/products/gemm_providers.h"
#include "codelets/products/choice.h"

const struct cavs__gemm_provider *const cavs__gemm_providers[] = {
#ifdef __x86_64__
    &cavs__gemm_avx512,   &cavs__gemm_avx2,
#endif
#ifdef HAVE_LIBXSMM
    &cavs__gemm_libxsmm,
#endif
    &cavs__gemm_openblas, &cavs__gemm_reference, NULL,
};

static const char *name(int i)
{
    return cavs__gemm_providers[i] ? cavs__gemm_providers[i]->name : NULL;
}

static bool available(int i)
{
    return cavs__gemm_providers[i]->available();
}

const struct cavs__gemm_provider *cavs__gemm(void)
{
    static struct cavs__choice choice = {"CAVS_GEMM", "matrix products", name, available, 0};

    return cavs__gemm_providers[cavs__choice(&choice)];
}

void cavs__gemm_init(void)
{
    cavs__gemm_openblas_init();
#ifdef HAVE_LIBXSMM
    cavs__gemm_libxsmm_init();
#endif
    cavs__gemm();
}

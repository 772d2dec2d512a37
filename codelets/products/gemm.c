/* SPDX-License-Identifier: Apache-2.0 */
/* gemm.c - which source of matrix products this process uses. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "codelets/products/gemm.h"
#include "codelets/products/gemm_providers.h"
#include "core/base/notice.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const struct cavs__gemm_provider *const cavs__gemm_providers[] = {
#ifdef __x86_64__
    &cavs__gemm_avx512,   &cavs__gemm_avx2,
#endif
#ifdef HAVE_LIBXSMM
    &cavs__gemm_libxsmm,
#endif
    &cavs__gemm_openblas, &cavs__gemm_reference, NULL,
};

static const struct cavs__gemm_provider *choose(const char *wanted)
{
    const struct cavs__gemm_provider *best = NULL;

    for (int i = 0; cavs__gemm_providers[i]; i++) {
        const struct cavs__gemm_provider *p = cavs__gemm_providers[i];
        if (!p->available())
            continue;
        if (wanted && !strcmp(wanted, p->name))
            return p;
        if (!best)
            best = p;
    }
    if (wanted && *wanted)
        cavs__notice("CAVS_GEMM=%s: no such source of matrix products works here; %s is used",
                     wanted, best->name);
    return best;
}

const struct cavs__gemm_provider *cavs__gemm(void)
{
    static _Atomic(const struct cavs__gemm_provider *) chosen;
    const struct cavs__gemm_provider *p = atomic_load_explicit(&chosen, memory_order_acquire);

    if (!p) {
        /* threads that race here come to the same answer */
        p = choose(getenv("CAVS_GEMM"));
        atomic_store_explicit(&chosen, p, memory_order_release);
    }
    return p;
}

void cavs__gemm_init(void)
{
    cavs__gemm_openblas_init();
#ifdef HAVE_LIBXSMM
    cavs__gemm_libxsmm_init();
#endif
    cavs__gemm();
}

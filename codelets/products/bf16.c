/* SPDX-License-Identifier: Apache-2.0 */
/* bf16.c - which source of bfloat16 products this process uses. */
#include "codelets/products/bf16.h"
#include "codelets/products/bf16_providers.h"
#include "core/base/notice.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

const struct cavs__bf16_provider *const cavs__bf16_providers[] = {
#if defined __x86_64__ && defined __linux__
    &cavs__bf16_amx,
#endif
#ifdef __x86_64__
    &cavs__bf16_avx512,
#endif
    &cavs__bf16_converted, &cavs__bf16_reference, NULL,
};

static const struct cavs__bf16_provider *choose(const char *wanted)
{
    const struct cavs__bf16_provider *best = NULL;

    for (int i = 0; cavs__bf16_providers[i]; i++) {
        const struct cavs__bf16_provider *p = cavs__bf16_providers[i];
        if (!p->available())
            continue;
        if (wanted && !strcmp(wanted, p->name))
            return p;
        if (!best)
            best = p;
    }
    if (wanted && *wanted)
        cavs__notice("CAVS_BF16=%s: no such source of bfloat16 products works here; %s is used",
                     wanted, best->name);
    return best;
}

const struct cavs__bf16_provider *cavs__bf16(void)
{
    static _Atomic(const struct cavs__bf16_provider *) chosen;
    const struct cavs__bf16_provider *p = atomic_load_explicit(&chosen, memory_order_acquire);

    if (!p) {
        /* threads that race here come to the same answer */
        p = choose(getenv("CAVS_BF16"));
        atomic_store_explicit(&chosen, p, memory_order_release);
    }
    return p;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* bf16.c - which source of bfloat16 products this process uses. */
#include "codelets/products/bf16.h"
#include "codelets/products/bf16_providers.h"
#include "codelets/products/choice.h"

const struct cavs__bf16_provider *const cavs__bf16_providers[] = {
#if defined __x86_64__ && defined __linux__
    &cavs__bf16_amx,
#endif
#ifdef __x86_64__
    &cavs__bf16_avx512,
#endif
    &cavs__bf16_converted, &cavs__bf16_reference, NULL,
};

static const char *name(int i)
{
    return cavs__bf16_providers[i] ? cavs__bf16_providers[i]->name : NULL;
}

static bool available(int i)
{
    return cavs__bf16_providers[i]->available();
}

const struct cavs__bf16_provider *cavs__bf16(void)
{
    static struct cavs__choice choice = {"CAVS_BF16", "bfloat16 products", name, available, 0};

    return cavs__bf16_providers[cavs__choice(&choice)];
}

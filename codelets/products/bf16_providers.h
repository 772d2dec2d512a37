/* SPDX-License-Identifier: Apache-2.0 */
/* bf16_providers.h - the providers that bf16.c chooses from; nobody else needs to know them. */
#ifndef CAVS_CODELETS_PRODUCTS_BF16_PROVIDERS_H
#define CAVS_CODELETS_PRODUCTS_BF16_PROVIDERS_H

#include "codelets/products/bf16.h"

extern const struct cavs__bf16_provider cavs__bf16_amx;    /* only on x86-64 with Linux */
extern const struct cavs__bf16_provider cavs__bf16_avx512; /* only on x86-64 */
extern const struct cavs__bf16_provider cavs__bf16_converted;
extern const struct cavs__bf16_provider cavs__bf16_reference;

#endif

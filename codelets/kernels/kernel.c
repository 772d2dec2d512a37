/* SPDX-License-Identifier: Apache-2.0 */
/* kernel.c - the table of kernels. */
#include "codelets/kernels/kernel.h"
#include "codelets/kernels/kernel_table.h"

#include <string.h>

const struct cavs__kernel *const cavs__kernels[CAVS__KERNEL_COUNT] = {
#define CAVS__ENTRY(name) [CAVS__KERNEL_##name] = &cavs__kernel_##name,
    CAVS__KERNELS(CAVS__ENTRY)
#undef CAVS__ENTRY
};

const struct cavs__kernel *cavs__kernel_find(const char *name)
{
    for (int i = 0; i < CAVS__KERNEL_COUNT; i++)
        if (!strcmp(cavs__kernels[i]->name, name))
            return cavs__kernels[i];
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* same_name.h - names that are asked for with each symbol that is recorded: they are short, and a
 * call takes longer than to compare them. */
#ifndef CAVS_CORE_BASE_SAME_NAME_H
#define CAVS_CORE_BASE_SAME_NAME_H

#include <stdbool.h>

static inline bool cavs__same_name(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

#endif

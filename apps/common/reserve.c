/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/reserve.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool array_reserve(void *array_pointer, size_t *capacity, size_t n, size_t element_size)
{
    size_t want = *capacity > 16 ? *capacity : 16;
    void *old, *grown;

    if (n <= *capacity)
        return true;
    while (want < n)
        want *= 2;
    if (want > SIZE_MAX / element_size)
        return false;
    /* memcpy, because a pointer to int * must not be read as a void ** */
    memcpy(&old, array_pointer, sizeof old);
    grown = realloc(old, want * element_size);
    if (!grown)
        return false;
    memcpy(array_pointer, &grown, sizeof grown);
    *capacity = want;
    return true;
}

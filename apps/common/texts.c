/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/texts.h"

#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"

bool texts_add(struct texts *t, const char *text, size_t length)
{
    if (!array_reserve(&t->at, &t->at_cap, t->n + 1, sizeof *t->at) ||
        !array_reserve(&t->bytes, &t->bytes_cap, t->used + length + 1, 1))
        return false;
    t->at[t->n++] = t->used;
    memcpy(t->bytes + t->used, text, length);
    t->bytes[t->used + length] = '\0';
    t->used += length + 1;
    return true;
}

void texts_keep(struct texts *t, size_t n)
{
    if (n < t->n) {
        t->used = t->at[n];
        t->n = n;
    }
}

void texts_clear(struct texts *t)
{
    free(t->at);
    free(t->bytes);
    *t = (struct texts){0};
}

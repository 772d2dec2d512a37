/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/tape_rows.h"

#include <limits.h>
#include <stdlib.h>

#include "apps/common/reserve.h"

int tape_rows_reserve(struct tape_rows *r, size_t n, int width)
{
    if (n > INT_MAX || !array_reserve(&r->symbol, &r->symbol_room, n + 1, sizeof(void *)) ||
        !array_reserve(&r->row, &r->row_room, n + 1, sizeof(void *)) ||
        !array_reserve(&r->numbers, &r->numbers_room, n * (size_t)width + 1, sizeof(float)))
        return CAVS_ENOMEM;
    r->n = n;
    r->width = width;
    return 0;
}

int tape_rows_compute(struct tape_rows *r, struct cavs_tape *t)
{
    for (size_t i = 0; i < r->n; i++)
        r->row[i] = r->numbers + i * (size_t)r->width;
    return cavs_tape_values(t, (int)r->n, r->symbol, r->row);
}

void tape_rows_clear(struct tape_rows *r)
{
    free(r->symbol);
    free(r->numbers);
    free(r->row);
    *r = (struct tape_rows){0};
}

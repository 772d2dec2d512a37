/* SPDX-License-Identifier: Apache-2.0 */
/* device_sums.c - see device_sums.h. */
#include "codelets/device/device_sums.h"

/* ---- of all rows ---- */

/* Rows are summed in parts if there are many: so many groups, each with so many rows at least, and
 * then the parts in their order.  All of it depends on the shape only. */
enum { SUM_COLUMNS = 16, SUM_GROUPS = 1024, SUM_PARTS = 64, SUM_ROWS = 128 };

static int parts_of(int rows, int n)
{
    int tiles = (n + SUM_COLUMNS - 1) / SUM_COLUMNS, parts = tiles > 0 ? SUM_GROUPS / tiles : 1;

    parts = parts < SUM_PARTS ? parts : SUM_PARTS;
    parts = parts < rows / SUM_ROWS ? parts : rows / SUM_ROWS;
    return parts > 1 ? parts : 1;
}

int cavs__device_column_sums(int rows, int n)
{
    return parts_of(rows, n) > 1 ? 2 : 1;
}

int cavs__device_column_sum_room(int n)
{
    return (n + SUM_ROWS - 1) / SUM_ROWS;
}

/* Rows of y are the sums of as many parts. */
static int sum_parts(const struct cavs__device_call *c, int rows, int parts, bool accumulate,
                     const struct cavs__device_view *x, const struct cavs__device_view *y)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, c->device, CAVS__DEVICE_column_sum,
                        (y->cols + SUM_COLUMNS - 1) / SUM_COLUMNS, parts, 256);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, rows);
    cavs__argument_int(&l, y->cols);
    cavs__argument_int(&l, (rows + parts - 1) / parts);
    cavs__argument_int(&l, accumulate);
    cavs__argument_view(&l, x);
    cavs__argument_view(&l, y);
    return cavs__launch(c->device, &l);
}

int cavs__device_column_sum(const struct cavs__device_call *c)
{
    const struct cavs__device_view *x = &c->v[0], *y = &c->v[1];
    const struct cavs__device_view sums = {
        .memory = c->room, .ld = y->cols, .cols = y->cols, .index = -1};
    int parts = parts_of(c->rows, y->cols);
    bool accumulate = !(c->flags & CAVS__FIRST);

    if (parts == 1)
        return sum_parts(c, c->rows, 1, accumulate, x, y);
    return sum_parts(c, c->rows, parts, false, x, &sums) ||
                   sum_parts(c, parts, 1, accumulate, &sums, y)
               ? -1
               : 0;
}

/* ---- of named rows ---- */

/* An item takes so many numbers. */
static int sum_named(const struct cavs__device_call *c, enum cavs__device_kernel kernel,
                     int numbers)
{
    struct cavs__launch l;

    cavs__launch_numbers(&l, c->device->kernels[kernel], c->index, c->rows, c->v[1].cols, numbers);
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_int(&l, c->v[0].ptr);
    cavs__argument_view(&l, &c->v[1]);
    return cavs__launch(c->device, &l);
}

int cavs__device_sum_rows(const struct cavs__device_call *c)
{
    return sum_named(c, CAVS__DEVICE_sum_rows, CAVS__NUMBERS);
}

int cavs__device_sum_pieces(const struct cavs__device_call *c)
{
    return sum_named(c, CAVS__DEVICE_sum_pieces, 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* launching.c - kernels, their arguments, and how many were launched; see device.h. */
#include <string.h>

#include <starpu.h>

#include "codelets/device/device.h"

static struct cavs__launch_counts launched[STARPU_NMAXWORKERS];

void cavs__launches_forget(void)
{
    memset(launched, 0, sizeof launched);
}

struct cavs__launch_counts *cavs__launched_here(void)
{
    return &launched[starpu_worker_get_id()];
}

void cavs__count_launch(void)
{
    __atomic_add_fetch(&cavs__launched_here()->all, 1, __ATOMIC_RELAXED);
}

struct cavs__launch_counts cavs__devices_launched(void)
{
    struct cavs__launch_counts sum = {0};

    for (int i = 0; i < STARPU_NMAXWORKERS; i++) {
        sum.all += __atomic_load_n(&launched[i].all, __ATOMIC_RELAXED);
        for (int c = 0; c < CAVS__CHAINS; c++) {
            sum.vt[c] += __atomic_load_n(&launched[i].vt[c], __ATOMIC_RELAXED);
            sum.of_vt[c] += __atomic_load_n(&launched[i].of_vt[c], __ATOMIC_RELAXED);
        }
    }
    return sum;
}

void cavs__launch_kernel(struct cavs__launch *l, void *kernel, int64_t groups_x, int64_t groups_y,
                         int items)
{
    l->kernel = kernel;
    l->groups[0] = (size_t)groups_x;
    l->groups[1] = (size_t)groups_y;
    l->items = (size_t)items;
    l->nargs = 0;
}

void cavs__launch_groups(struct cavs__launch *l, struct cavs__device *d, enum cavs__device_kernel k,
                         int64_t x, int64_t y, int items)
{
    cavs__launch_kernel(l, d->kernels[k], x, y, items);
}

void cavs__launch_items(struct cavs__launch *l, struct cavs__device *d, enum cavs__device_kernel k,
                        int64_t n)
{
    cavs__launch_groups(l, d, k, (n + 63) / 64, 1, 64);
}

int cavs__lanes(int64_t n, int numbers)
{
    int lanes = 0;

    while (1 << lanes < CAVS__ROW_ITEMS && (int64_t)numbers << lanes < n)
        lanes++;
    return lanes;
}

static void argument_rows(struct cavs__launch *l, void *index, int64_t rows, int64_t n, int lanes)
{
    cavs__argument_pointer(l, index);
    cavs__argument_int(l, rows);
    cavs__argument_int(l, n);
    cavs__argument_int(l, lanes);
}

void cavs__launch_whole_rows(struct cavs__launch *l, void *kernel, void *index, int64_t rows,
                             int64_t n)
{
    int lanes = cavs__lanes(n, CAVS__NUMBERS), least = cavs__lanes(n, CAVS__MANY), at_once;

    lanes = lanes < CAVS__LANES_AT_HAND   ? lanes
            : least < CAVS__LANES_AT_HAND ? CAVS__LANES_AT_HAND
                                          : least;
    at_once = CAVS__ROW_ITEMS >> lanes;
    cavs__launch_kernel(l, kernel, (rows + at_once - 1) / at_once, 1, CAVS__ROW_ITEMS);
    argument_rows(l, index, rows, n, lanes);
}

void cavs__launch_numbers(struct cavs__launch *l, void *kernel, void *index, int64_t rows,
                          int64_t n, int numbers)
{
    int lanes = cavs__lanes(n, numbers), at_once = CAVS__ROW_ITEMS >> lanes;

    cavs__launch_kernel(l, kernel, (rows + at_once - 1) / at_once,
                        (n + ((int64_t)numbers << lanes) - 1) / ((int64_t)numbers << lanes),
                        CAVS__ROW_ITEMS);
    argument_rows(l, index, rows, n, lanes);
}

void cavs__launch_rows(struct cavs__launch *l, struct cavs__device *d, void *kernel, void *index,
                       int64_t rows, int64_t n, int numbers)
{
    bool many = rows * n >= (int64_t)numbers * d->units * CAVS__UNIT_ITEMS;

    cavs__launch_numbers(l, kernel, index, rows, n, many ? numbers : 1);
}

void cavs__argument_int(struct cavs__launch *l, int64_t value)
{
    l->argument[l->nargs].size = sizeof(int32_t);
    l->argument[l->nargs++].value.i = (int32_t)value;
}

void cavs__argument_float(struct cavs__launch *l, float value)
{
    l->argument[l->nargs].size = sizeof value;
    l->argument[l->nargs++].value.f = value;
}

void cavs__argument_pointer(struct cavs__launch *l, void *p)
{
    l->argument[l->nargs].size = sizeof p;
    l->argument[l->nargs++].value.p = p;
}

void cavs__argument_memory(struct cavs__launch *l, struct cavs__memory m)
{
    cavs__argument_pointer(l, m.p);
    l->argument[l->nargs].size = sizeof m.at;
    l->argument[l->nargs++].value.l = m.at;
}

void cavs__argument_view(struct cavs__launch *l, const struct cavs__device_view *v)
{
    cavs__argument_memory(l, v->memory);
    cavs__argument_int(l, v->ld);
    cavs__argument_int(l, v->index);
}

int cavs__launch(struct cavs__device *d, const struct cavs__launch *l)
{
    if (l->groups[0] == 0 || l->groups[1] == 0)
        return 0;
    cavs__count_launch();
    return d->driver->launch(d, l);
}

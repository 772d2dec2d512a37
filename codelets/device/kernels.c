/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - the kernels of kernel.h on a device: shapes become work-groups, views arguments. */
#include "codelets/device/device.h"
#include "codelets/device/kernels.h"
#include "codelets/philox.h"

/* A view that a library of products cannot read: indexed, or one row repeated. */
static bool scattered(const struct cavs__device_view *v)
{
    return v->index >= 0 || v->ld < v->cols;
}

/* ---- matrix products ---- */

/* Rows of a view at a fixed pitch: where they are, or packed into *room, which moves on. */
static int packed(const struct cavs__device_call *c, const struct cavs__device_view *v,
                  struct cavs__memory *room, struct cavs__device_view *out)
{
    struct cavs__launch l;

    *out = *v;
    if (!scattered(v))
        return 0;
    *out = (struct cavs__device_view){.memory = *room, .ld = v->cols, .cols = v->cols, .index = -1};
    room->at += (int64_t)c->rows * v->cols;
    cavs__launch_items(&l, c->device, CAVS__DEVICE_copy_rows, (int64_t)c->rows * v->cols);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, v->cols);
    cavs__argument_view(&l, v);
    cavs__argument_view(&l, out);
    return cavs__launch(c->device, &l);
}

/* With the kernel of kernels.cl; m and n: of the result. */
static int own_product(const struct cavs__device_call *c, enum cavs__device_kernel kernel, int m,
                       int k, int n, bool accumulate)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, c->device, kernel, (m + 63) / 64, (n + 63) / 64, 256);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, k);
    cavs__argument_int(&l, n);
    cavs__argument_int(&l, accumulate);
    for (int i = 0; i < 3; i++)
        cavs__argument_view(&l, &c->v[i]);
    return cavs__launch(c->device, &l);
}

int cavs__device_gemm(const struct cavs__device_call *c)
{
    const struct cavs__device_view *w = &c->v[1], *y = &c->v[2];
    const struct cavs__device_api *api = c->device->api;
    struct cavs__memory room = c->room;
    struct cavs__device_view x;
    int k = c->v[0].cols, n = y->cols;

    if (c->rows == 0 || n == 0)
        return 0;
    if (k == 0 || !api->has_gemm(c->device))
        return own_product(c, CAVS__DEVICE_gemm, c->rows, k, n, c->call->accumulate);
    if (packed(c, &c->v[0], &room, &x))
        return -1;
    return api->gemm(c->device, false, c->rows, n, k, x.memory, x.ld, w->memory, w->ld, y->memory,
                     y->ld, c->call->accumulate);
}

int cavs__device_gemm_tn(const struct cavs__device_call *c)
{
    const struct cavs__device_api *api = c->device->api;
    const struct cavs__device_view *dw = &c->v[2];
    struct cavs__memory room = c->room;
    struct cavs__device_view x, dy;
    bool accumulate = !(c->flags & CAVS__FIRST);
    int k = c->v[0].cols, n = dw->cols;

    if (k == 0 || n == 0)
        return 0;
    if (c->rows == 0 || !api->has_gemm(c->device))
        return own_product(c, CAVS__DEVICE_gemm_tn, k, k, n, accumulate);
    if (packed(c, &c->v[0], &room, &x) || packed(c, &c->v[1], &room, &dy))
        return -1;
    return api->gemm(c->device, true, k, n, c->rows, x.memory, x.ld, dy.memory, dy.ld, dw->memory,
                     dw->ld, accumulate);
}

int cavs__device_room(const struct cavs__call *call, const int *cols, const bool *is_scattered)
{
    int room = 0, n = call->kernel == &cavs__kernel_gemm      ? 1
                      : call->kernel == &cavs__kernel_gemm_tn ? 2
                                                              : 0;

    for (int i = 0; i < n; i++)
        room += is_scattered[i] ? cols[i] : 0;
    return room;
}

/* ---- sums ---- */

int cavs__device_column_sum(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, c->device, CAVS__DEVICE_column_sum, (c->v[1].cols + 15) / 16, 1, 256);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[1].cols);
    cavs__argument_int(&l, !(c->flags & CAVS__FIRST));
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_view(&l, &c->v[1]);
    return cavs__launch(c->device, &l);
}

int cavs__device_sum_rows(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_sum_rows, (int64_t)c->rows * c->v[1].cols);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[1].cols);
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_int(&l, c->v[0].ptr);
    cavs__argument_view(&l, &c->v[1]);
    return cavs__launch(c->device, &l);
}

/* ---- a group each row ---- */

/* index, n, views; ids are one number. */
static int each_row(const struct cavs__device_call *c, enum cavs__device_kernel kernel)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, c->device, kernel, c->rows, 1, 64);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->v[0].cols);
    for (int i = 0; i < c->nviews; i++) {
        if (!c->v[i].memory.p)
            cavs__argument_int(&l, c->v[i].index);
        else
            cavs__argument_view(&l, &c->v[i]);
    }
    return cavs__launch(c->device, &l);
}

int cavs__device_row_sum(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_row_sum);
}

int cavs__device_softmax_xent(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_softmax_xent);
}

int cavs__device_softmax_xent_grad(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_softmax_xent_grad);
}

int cavs__device_correct(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_correct);
}

int cavs__device_row_max(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_row_max);
}

int cavs__device_row_max_grad(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_row_max_grad);
}

int cavs__device_softmax(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_softmax);
}

int cavs__device_log_softmax(const struct cavs__device_call *c)
{
    return each_row(c, CAVS__DEVICE_log_softmax);
}

/* ---- the rest ---- */

int cavs__device_pick(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_pick, c->rows);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].cols);
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_int(&l, c->v[1].index);
    cavs__argument_view(&l, &c->v[2]);
    return cavs__launch(c->device, &l);
}

int cavs__device_pick_grad(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_pick_grad, (int64_t)c->rows * c->v[2].cols);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[2].cols);
    cavs__argument_int(&l, c->v[0].index);
    cavs__argument_view(&l, &c->v[1]);
    cavs__argument_view(&l, &c->v[2]);
    return cavs__launch(c->device, &l);
}

int cavs__device_dropout(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_dropout, (int64_t)c->rows * c->v[3].cols);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[3].cols);
    cavs__argument_int(&l, (int32_t)c->call->site);
    cavs__argument_int(&l, (int32_t)cavs__dropout_limit(c->call->rate));
    cavs__argument_float(&l, 1 / (1 - c->call->rate));
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_int(&l, c->v[1].index);
    cavs__argument_int(&l, c->v[2].index);
    cavs__argument_view(&l, &c->v[3]);
    return cavs__launch(c->device, &l);
}

int cavs__device_metric(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_groups(&l, c->device, CAVS__DEVICE_metric, 1, 1, 256);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, !(c->flags & CAVS__FIRST));
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_int(&l, c->v[1].index);
    cavs__argument_view(&l, &c->v[2]);
    return cavs__launch(c->device, &l);
}

int cavs__device_mask(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_mask, c->rows);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].index);
    cavs__argument_view(&l, &c->v[1]);
    return cavs__launch(c->device, &l);
}

int cavs__device_elementwise(const struct cavs__device_call *c)
{
    struct cavs__launch l;
    int width = cavs__ew_program_spec(c->call->program)->width;

    cavs__launch_kernel(&l, cavs__device_group(c->call->program, c->device),
                        ((int64_t)c->rows * width + 63) / 64, 1, 64);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    for (int i = 0; i < c->nviews; i++)
        cavs__argument_view(&l, &c->v[i]);
    return cavs__launch(c->device, &l);
}

/* ---- products with a selected block ---- */

static int select_block(const struct cavs__device_call *c, int row_step, int column_step)
{
    struct cavs__launch l;
    int n = c->v[3].cols;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_gemm_select, (int64_t)c->rows * n);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].cols);
    cavs__argument_int(&l, n);
    cavs__argument_int(&l, row_step);
    cavs__argument_int(&l, column_step);
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_int(&l, c->v[1].index);
    cavs__argument_view(&l, &c->v[2]);
    cavs__argument_view(&l, &c->v[3]);
    return cavs__launch(c->device, &l);
}

int cavs__device_gemm_select(const struct cavs__device_call *c)
{
    return select_block(c, c->v[0].cols, 0);
}

int cavs__device_gemm_select_t(const struct cavs__device_call *c)
{
    return select_block(c, 0, c->v[3].cols);
}

int cavs__device_gemm_tn_select(const struct cavs__device_call *c)
{
    struct cavs__launch l;
    int n = c->v[3].cols;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_gemm_tn_select, (int64_t)c->call->rows * n);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].cols);
    cavs__argument_int(&l, n);
    cavs__argument_int(&l, c->call->rows);
    cavs__argument_int(&l, !(c->flags & CAVS__FIRST));
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_view(&l, &c->v[1]);
    cavs__argument_int(&l, c->v[2].index);
    cavs__argument_view(&l, &c->v[3]);
    return cavs__launch(c->device, &l);
}

/* ---- lists ---- */

/* index, rows, n, the list, views */
static int each_list(const struct cavs__device_call *c, enum cavs__device_kernel kernel)
{
    struct cavs__launch l;
    int n = c->v[c->nviews - 1].cols;

    cavs__launch_items(&l, c->device, kernel, (int64_t)c->rows * n);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, n);
    cavs__argument_int(&l, c->v[0].ptr);
    for (int i = 0; i < c->nviews; i++)
        cavs__argument_view(&l, &c->v[i]);
    return cavs__launch(c->device, &l);
}

int cavs__device_list_sum(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_sum);
}

int cavs__device_list_max(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_max);
}

int cavs__device_list_max_grad(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_max_grad);
}

int cavs__device_list_softmax(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_softmax);
}

int cavs__device_list_softmax_grad(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_softmax_grad);
}

int cavs__device_list_share(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_list_share, c->rows);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].ptr);
    cavs__argument_view(&l, &c->v[1]);
    return cavs__launch(c->device, &l);
}

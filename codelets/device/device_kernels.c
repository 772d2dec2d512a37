/* SPDX-License-Identifier: Apache-2.0 */
/* device_kernels.c - the kernels of kernel.h on a device: shapes become work-groups, views arguments. */
#include "codelets/device/device.h"
#include "codelets/device/device_kernels.h"
#include "codelets/kernels/philox.h"

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

/* SPDX-License-Identifier: Apache-2.0 */
/* device_kernels.c - the kernels of kernel.h on a device: shapes become work-groups, views
 * arguments. */
#include "codelets/device/device.h"
#include "codelets/device/device_sums.h"
#include "codelets/device/products.h"
#include "codelets/groups/elementwise.h"
#include "codelets/kernels/philox.h"

/* Launches a kernel of kernels.cl whose items take so many numbers of a row. */
static void launch_rows(struct cavs__launch *l, const struct cavs__device_call *c,
                        enum cavs__device_kernel kernel, int n, int numbers)
{
    cavs__launch_rows(l, c->device, c->device->kernels[kernel], c->index, c->rows, n, numbers);
}

/* ---- moving rows ---- */

int cavs__device_copy_rows(struct cavs__device *d, void *index, int rows,
                           const struct cavs__device_view *from, const struct cavs__device_view *to)
{
    struct cavs__launch l;

    cavs__launch_rows(&l, d, d->kernels[CAVS__DEVICE_copy_rows], index, rows, to->cols,
                      CAVS__NUMBERS);
    cavs__argument_view(&l, from);
    cavs__argument_view(&l, to);
    return cavs__launch(d, &l);
}

/* ---- whole rows ---- */

/* The views; ids are one number. */
static int each_row(const struct cavs__device_call *c)
{
    static const enum cavs__device_kernel number[CAVS__KERNEL_COUNT] = {
#define CAVS__NUMBER(name) [CAVS__KERNEL_##name] = CAVS__DEVICE_##name,
        CAVS__ROW_KERNELS(CAVS__NUMBER)
#undef CAVS__NUMBER
    };
    struct cavs__launch l;

    cavs__launch_whole_rows(&l, c->device->kernels[number[c->call->kernel->number]], c->index,
                            c->rows, c->v[0].cols);
    for (int i = 0; i < c->nviews; i++) {
        if (!c->v[i].memory.p)
            cavs__argument_int(&l, c->v[i].index);
        else
            cavs__argument_view(&l, &c->v[i]);
    }
    return cavs__launch(c->device, &l);
}

/* ---- the rest ---- */

static int pick(const struct cavs__device_call *c)
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

static int pick_grad(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    launch_rows(&l, c, CAVS__DEVICE_pick_grad, c->v[2].cols, 1);
    cavs__argument_int(&l, c->v[0].index);
    cavs__argument_view(&l, &c->v[1]);
    cavs__argument_view(&l, &c->v[2]);
    return cavs__launch(c->device, &l);
}

static int dropout(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    launch_rows(&l, c, CAVS__DEVICE_dropout, (c->v[3].cols + 63) / 64 * 16, 1);
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

static int metric(const struct cavs__device_call *c)
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

static int mask(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_mask, c->rows);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].index);
    cavs__argument_view(&l, &c->v[1]);
    return cavs__launch(c->device, &l);
}

static int elementwise(const struct cavs__device_call *c)
{
    struct cavs__launch l;
    const struct cavs__ew_spec *spec = cavs__ew_program_spec(c->call->program);

    cavs__launch_rows(&l, c->device, cavs__device_group(c->call->program, c->device), c->index,
                      c->rows, spec->width, cavs__ew_at_once(spec));
    for (int i = 0; i < c->nviews; i++)
        cavs__argument_view(&l, &c->v[i]);
    return cavs__launch(c->device, &l);
}

/* ---- products with a selected block ---- */

static int select_block(const struct cavs__device_call *c, bool transposed)
{
    struct cavs__launch l;
    int n = c->v[3].cols;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_gemm_select, (int64_t)c->rows * n);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].cols);
    cavs__argument_int(&l, n);
    cavs__argument_int(&l, transposed);
    cavs__argument_view(&l, &c->v[0]);
    cavs__argument_int(&l, c->v[1].index);
    cavs__argument_view(&l, &c->v[2]);
    cavs__argument_view(&l, &c->v[3]);
    return cavs__launch(c->device, &l);
}

static int gemm_select(const struct cavs__device_call *c)
{
    return select_block(c, false);
}

static int gemm_select_t(const struct cavs__device_call *c)
{
    return select_block(c, true);
}

static int gemm_tn_select(const struct cavs__device_call *c)
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

/* ---- products of rows ---- */

/* The steps from one row of the result to the next and from one term of its sums to the next, in
 * the first operand; in the second from one column and from one term. */
static int gemm_rows(const struct cavs__device_call *c)
{
    int m = c->call->rows, k = c->v[0].cols / m, n = c->v[2].cols / m;
    bool a_transposed = c->call->transposed == 1, b_transposed = c->call->transposed == 2;
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_gemm_rows, (int64_t)c->rows * c->v[2].cols);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[2].cols);
    cavs__argument_int(&l, n);
    cavs__argument_int(&l, k);
    cavs__argument_int(&l, a_transposed ? 1 : k);
    cavs__argument_int(&l, a_transposed ? m : 1);
    cavs__argument_int(&l, b_transposed ? k : 1);
    cavs__argument_int(&l, b_transposed ? 1 : n);
    for (int i = 0; i < 3; i++)
        cavs__argument_view(&l, &c->v[i]);
    return cavs__launch(c->device, &l);
}

/* ---- lists ---- */

/* The list, views; an item takes so many numbers. */
static int some_of_list(const struct cavs__device_call *c, enum cavs__device_kernel kernel,
                        int numbers)
{
    struct cavs__launch l;

    cavs__launch_numbers(&l, c->device->kernels[kernel], c->index, c->rows,
                         c->v[c->nviews - 1].cols, numbers);
    cavs__argument_int(&l, c->v[0].ptr);
    for (int i = 0; i < c->nviews; i++)
        cavs__argument_view(&l, &c->v[i]);
    return cavs__launch(c->device, &l);
}

static int each_list(const struct cavs__device_call *c, enum cavs__device_kernel kernel)
{
    return some_of_list(c, kernel, 1);
}

static int list_sum(const struct cavs__device_call *c)
{
    return some_of_list(c, CAVS__DEVICE_list_sum, CAVS__NUMBERS);
}

static int list_max(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_max);
}

static int list_max_grad(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_max_grad);
}

static int list_softmax(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_softmax);
}

static int list_softmax_grad(const struct cavs__device_call *c)
{
    return each_list(c, CAVS__DEVICE_list_softmax_grad);
}

static int list_share(const struct cavs__device_call *c)
{
    struct cavs__launch l;

    cavs__launch_items(&l, c->device, CAVS__DEVICE_list_share, c->rows);
    cavs__argument_pointer(&l, c->index);
    cavs__argument_int(&l, c->rows);
    cavs__argument_int(&l, c->v[0].ptr);
    cavs__argument_view(&l, &c->v[1]);
    return cavs__launch(c->device, &l);
}

/* ---- all of them ---- */

const struct cavs__device_implementation cavs__device_kernels[CAVS__KERNEL_COUNT] = {
#define CAVS__EACH_ROW(name) [CAVS__KERNEL_##name] = {.queue = each_row},
    CAVS__ROW_KERNELS(CAVS__EACH_ROW)
#undef CAVS__EACH_ROW
        [CAVS__KERNEL_gemm] = {.queue = cavs__device_gemm},
    [CAVS__KERNEL_gemm_tn] = {.queue = cavs__device_gemm_tn},
    [CAVS__KERNEL_column_sum] = {.queue = cavs__device_column_sum},
    [CAVS__KERNEL_sum_rows] = {.queue = cavs__device_sum_rows},
    [CAVS__KERNEL_sum_pieces] = {.queue = cavs__device_sum_pieces},
    [CAVS__KERNEL_dropout] = {.queue = dropout},
    [CAVS__KERNEL_pick] = {.queue = pick},
    [CAVS__KERNEL_pick_grad] = {.queue = pick_grad},
    [CAVS__KERNEL_metric] = {.queue = metric, .needs_double = true},
    [CAVS__KERNEL_mask] = {.queue = mask},
    [CAVS__KERNEL_gemm_select] = {.queue = gemm_select},
    [CAVS__KERNEL_gemm_select_t] = {.queue = gemm_select_t},
    [CAVS__KERNEL_gemm_tn_select] = {.queue = gemm_tn_select},
    [CAVS__KERNEL_gemm_rows] = {.queue = gemm_rows},
    [CAVS__KERNEL_list_sum] = {.queue = list_sum},
    [CAVS__KERNEL_list_max] = {.queue = list_max},
    [CAVS__KERNEL_list_max_grad] = {.queue = list_max_grad},
    [CAVS__KERNEL_list_softmax] = {.queue = list_softmax},
    [CAVS__KERNEL_list_softmax_grad] = {.queue = list_softmax_grad},
    [CAVS__KERNEL_list_share] = {.queue = list_share},
    [CAVS__KERNEL_elementwise] = {.queue = elementwise},
};

int cavs__device_queue(const struct cavs__device_call *c)
{
    return cavs__device_kernels[c->call->kernel->number].queue(c);
}

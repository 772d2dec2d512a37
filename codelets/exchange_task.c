/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_task.c - see exchange_task.h.  On CPUs alone: so are ranks. */
#include "codelets/exchange_task.h"

#include <string.h>

#include "codelets/task_model.h"
#include "memory/handover.h"

static float *buffer(void *descr[], int i)
{
    return (float *)STARPU_MATRIX_GET_PTR(descr[i]);
}

/* ---- dense gradients ---- */

static void sum_item(void *descr[], const struct cavs__sum_args *a,
                     const struct cavs__parcel_item *it, int first, int others)
{
    const float *g[CAVS__PARTIALS] = {NULL};
    ptrdiff_t ld[CAVS__PARTIALS] = {0};

    for (int i = 0; i < it->ngrads; i++) {
        g[it->partial[i]] = buffer(descr, first + i) + it->first * it->ld;
        ld[it->partial[i]] = it->ld;
    }
    for (int i = 0; i < a->nothers; i++) {
        g[a->other[i]] = buffer(descr, others + i) + it->at;
        ld[a->other[i]] = it->cols;
    }
    cavs__sum_dense(it->rows, it->cols, buffer(descr, 0) + it->at, g, ld);
}

static void run_sum(void *descr[], void *arg)
{
    const struct cavs__sum_args *a = arg;
    int first = 1, others = 1;

    cavs__handover_begin();
    for (int i = 0; i < a->nitems; i++)
        others += a->items[i].ngrads;
    for (int i = 0; i < a->nitems; i++) {
        sum_item(descr, a, &a->items[i], first, others);
        first += a->items[i].ngrads;
    }
    cavs__handover_end();
}

/* ---- touched rows ---- */

static void sum_rows(void *descr[], const struct cavs__sum_rows_args *a)
{
    int b = 0;

    for (; b < a->nwritten; b++)
        a->blocks[a->number[b]] = buffer(descr, b);
    for (; b < a->nwritten + a->nread; b++) {
        a->sources[a->number[b]] = buffer(descr, b);
        a->ld[a->number[b]] = a->cols;
    }
    for (int i = 0; i < a->ngrads; i++) {
        a->sources[a->nblocks + i] = buffer(descr, b + i);
        a->ld[a->nblocks + i] = a->ldg;
    }
    for (int i = 0; i < a->n; i++)
        a->places[i] = a->blocks[a->to[i]] + (ptrdiff_t)a->at[i] * a->cols;
    cavs__sum_sparse(a->n, a->ptr, a->source, a->row, a->cols, a->places, a->sources, a->ld);
}

static void run_sum_rows(void *descr[], void *arg)
{
    const struct cavs__sum_rows_args *a = arg;

    cavs__handover_begin();
    sum_rows(descr, a);
    cavs__handover_end();
}

/* ---- values ---- */

static void run_pack(void *descr[], void *arg)
{
    const struct cavs__values_args *a = arg;

    cavs__handover_begin();
    for (int i = 0; i < a->nitems; i++) {
        const struct cavs__parcel_item *it = &a->items[i];
        const float *w = buffer(descr, 1 + i);

        for (int r = 0; r < it->rows; r++)
            memcpy(buffer(descr, 0) + it->at + (size_t)r * (size_t)it->cols,
                   w + (it->first + r) * it->ld, (size_t)it->cols * sizeof *w);
    }
    cavs__handover_end();
}

static void run_unpack(void *descr[], void *arg)
{
    const struct cavs__values_args *a = arg;
    int b = a->there ? 0 : 1;

    cavs__handover_begin();
    for (int i = 0; i < a->nitems; i++) {
        const struct cavs__parcel_item *it = &a->items[i];
        struct cavs__copy copies[CAVS__LAYOUTS];
        float *w = buffer(descr, b++);

        for (int k = 0; k < it->ncopies; k++) {
            copies[k] = it->copies[k];
            copies[k].p = buffer(descr, b++);
        }
        cavs__set_dense(it->first, it->rows, it->cols, w, it->ld,
                        a->there ? NULL : buffer(descr, 0) + it->at, it->ncopies, copies);
    }
    cavs__handover_end();
}

/* ---- norms ---- */

static void run_norms(void *descr[], void *arg)
{
    const struct cavs__norms_args *a = arg;
    double *norms = (double *)buffer(descr, 0);

    cavs__handover_begin();
    for (int i = 0; i < a->nparams; i++) {
        if (a->source[i] >= 0)
            norms[i] = ((const double *)buffer(descr, 1 + a->source[i]))[i];
    }
    cavs__handover_end();
}

/* ---- codelets ---- */

/* What is read and written, at 16 bytes a nanosecond: whole buffers, */
static size_t size(struct starpu_task *task, unsigned implementation)
{
    size_t bytes = 0;

    (void)implementation;
    for (int i = 0; i < task->nbuffers; i++)
        bytes += starpu_data_get_size(STARPU_TASK_GET_HANDLE(task, i));
    return bytes / 16 + 1;
}

static uint32_t footprint(struct starpu_task *task)
{
    return cavs__size_class(size(task, 0));
}

/* or rows of parameters: of each number so many. */
static size_t size_of_items(const struct cavs__parcel_item *items, int n, int besides)
{
    size_t numbers = 0;

    for (int i = 0; i < n; i++)
        numbers += (size_t)items[i].rows * (size_t)items[i].cols *
                   (size_t)(besides + items[i].ngrads + 2 * items[i].ncopies);
    return numbers * sizeof(float) / 16 + 1;
}

static size_t size_of_sum(struct starpu_task *task, unsigned implementation)
{
    const struct cavs__sum_args *a;

    (void)implementation;
    cavs__handover_asked(task);
    a = task->cl_arg;
    return size_of_items(a->items, a->nitems, 1 + a->nothers);
}

static uint32_t footprint_of_sum(struct starpu_task *task)
{
    return cavs__size_class(size_of_sum(task, 0));
}

static size_t size_of_values(struct starpu_task *task, unsigned implementation)
{
    const struct cavs__values_args *a;

    (void)implementation;
    cavs__handover_asked(task);
    a = task->cl_arg;
    return size_of_items(a->items, a->nitems, a->there ? 0 : 2);
}

static uint32_t footprint_of_values(struct starpu_task *task)
{
    return cavs__size_class(size_of_values(task, 0));
}

static void init(struct starpu_codelet *cl, const char *name, starpu_cpu_func_t func,
                 const struct cavs__task_measure *measure)
{
    starpu_codelet_init(cl);
    cl->cpu_funcs[0] = func;
    cl->cpu_funcs_name[0] = name;
    cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
    cl->name = name;
    cl->model = cavs__task_model(name, measure);
}

static const struct cavs__task_measure of_buffers = {.footprint = footprint, .size = size},
                                       of_sums = {.footprint = footprint_of_sum,
                                                  .size = size_of_sum},
                                       of_values = {.footprint = footprint_of_values,
                                                    .size = size_of_values};

void cavs__sum_codelet(struct starpu_codelet *cl)
{
    init(cl, "cavs_sum", run_sum, &of_sums);
}

void cavs__sum_rows_codelet(struct starpu_codelet *cl)
{
    init(cl, "cavs_sum_rows", run_sum_rows, &of_buffers);
}

void cavs__pack_codelet(struct starpu_codelet *cl)
{
    init(cl, "cavs_pack", run_pack, &of_values);
}

void cavs__unpack_codelet(struct starpu_codelet *cl)
{
    init(cl, "cavs_unpack", run_unpack, &of_values);
}

void cavs__norms_codelet(struct starpu_codelet *cl)
{
    init(cl, "cavs_norms", run_norms, &of_buffers);
}

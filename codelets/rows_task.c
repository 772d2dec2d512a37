/* SPDX-License-Identifier: Apache-2.0 */
/* rows_task.c - see rows_task.h.  On CPUs alone. */
#include "codelets/rows_task.h"

#include <string.h>

#include "core/base/stopwatch.h"
#include "memory/handover.h"

static float *buffer(void *descr[], int i)
{
    return (float *)STARPU_MATRIX_GET_PTR(descr[i]);
}

static void run_rows(void *descr[], void *arg)
{
    const struct cavs__rows_args *a;
    const int32_t *lists;
    float *out;
    uint64_t start;

    cavs__handover_begin();
    a = arg;
    start = cavs__stopwatch_start(a->nanoseconds);
    out = buffer(descr, 0);
    lists = (const int32_t *)buffer(descr, 1);
    for (int i = 0; i < a->nsources; i++)
        a->gradients[i] = a->buffer[i] < 0 ? NULL : buffer(descr, 2 + a->buffer[i]);
    if (a->first)
        memset(out, 0, (size_t)a->rows * (size_t)a->ld * sizeof *out);
    cavs__add_rows(a->n, lists, lists + a->ptr, lists + a->source, lists + a->row, a->cols,
                   out + a->from, a->ld, a->gradients, a->ldg);
    cavs__stopwatch_stop(a->nanoseconds, start);
    cavs__handover_end();
}

void cavs__rows_codelet(struct starpu_codelet *cl)
{
    starpu_codelet_init(cl);
    cl->cpu_funcs[0] = run_rows;
    cl->cpu_funcs_name[0] = "cavs_rows";
    cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
    cl->name = "cavs_rows";
}

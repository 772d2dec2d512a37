/* SPDX-License-Identifier: Apache-2.0 */
/* sum_task.c - see sum_task.h.  On CPUs alone: so are ranks. */
#include "codelets/sum_task.h"

#include <string.h>

#include "codelets/task.h"
#include "memory/handover.h"

static float *buffer(void *descr[], int i)
{
    return (float *)STARPU_MATRIX_GET_PTR(descr[i]);
}

static void sum_rows(void *descr[], const struct cavs__sum_args *a)
{
    float *out = buffer(descr, 0);

    if (a->old > 0)
        memcpy(out, buffer(descr, 1), (size_t)a->old * (size_t)a->cols * sizeof *out);
    cavs__sum_sparse(a->n, a->ptr, a->source, a->row, a->place, a->old, a->cols, out, a->gradients,
                     a->ldg);
}

static void run_sum(void *descr[], void *arg)
{
    const struct cavs__sum_args *a = arg;
    int first = a->sparse && a->old > 0 ? 2 : 1;

    cavs__handover_begin();
    for (int i = 0; i < a->ngrads; i++)
        a->gradients[i] = buffer(descr, first + i);
    if (a->sparse)
        sum_rows(descr, a);
    else
        cavs__sum_dense(a->rows, a->cols, a->adds, buffer(descr, 0) + a->at, a->ngrads,
                        a->gradients, a->ldg);
    cavs__handover_end();
}

void cavs__sum_codelet(struct starpu_codelet *cl)
{
    starpu_codelet_init(cl);
    cl->cpu_funcs[0] = run_sum;
    cl->cpu_funcs_name[0] = "cavs_sum";
    cl->nbuffers = STARPU_VARIABLE_NBUFFERS;
    cl->name = "cavs_sum";
}

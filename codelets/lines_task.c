/* SPDX-License-Identifier: Apache-2.0 */
/* lines_task.c - see lines_task.h. */
#include "codelets/lines_task.h"

#include <string.h>

#include "codelets/task.h"
#include "codelets/task_model.h"
#include "memory/handover.h"

static void run_lines(void *descr[], void *arg)
{
    const struct cavs__lines_args *a;
    const int32_t *which;
    const float *from;
    float *to;

    cavs__handover_begin();
    a = arg;
    to = (float *)STARPU_MATRIX_GET_PTR(descr[0]);
    which = (const int32_t *)STARPU_MATRIX_GET_PTR(descr[1]);
    from = (const float *)STARPU_MATRIX_GET_PTR(descr[2]);
    for (int i = 0; i < a->n; i++)
        memcpy(to + (ptrdiff_t)i * CAVS__LINE, from + (ptrdiff_t)which[i] * CAVS__LINE,
               CAVS__LINE * sizeof *to);
    cavs__handover_end();
}

static size_t size(struct starpu_task *task, unsigned implementation)
{
    const struct cavs__lines_args *a;

    (void)implementation;
    cavs__handover_asked(task);
    a = task->cl_arg;
    return (size_t)a->n * CAVS__LINE + 1;
}

static uint32_t footprint(struct starpu_task *task)
{
    return cavs__size_class(size(task, 0));
}

static struct cavs__device_work device_work(struct starpu_task *task)
{
    return (struct cavs__device_work){.launches = 1,
                                      .bytes = 2.0 * sizeof(float) * (double)size(task, 0)};
}

void cavs__lines_codelet(struct starpu_codelet *cl)
{
    starpu_codelet_init(cl);
    cl->cpu_funcs[0] = run_lines;
    cl->cpu_funcs_name[0] = "cavs_lines";
    cl->nbuffers = 3;
    cl->modes[0] = STARPU_W;
    cl->modes[1] = cl->modes[2] = STARPU_R;
    cl->name = "cavs_lines";
    cl->model =
        cavs__task_model("cavs_lines", &(struct cavs__task_measure){footprint, size, device_work});
    cavs__task_run_on_devices(cl, false, cavs__devices->run_lines);
}

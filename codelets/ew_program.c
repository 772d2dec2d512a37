/* SPDX-License-Identifier: Apache-2.0 */
/* ew_program.c - interim: interpreter only. */
#include <stdlib.h>
#include <string.h>

#include "codelets/ew_internal.h"
#include "codelets/kernels.h"

static void *copy(const void *p, size_t n)
{
    void *q = malloc(n + 1);

    if (q && n)
        memcpy(q, p, n);
    return q;
}

struct cavs__ew_program *cavs__ew_program_create(const struct cavs__ew_spec *spec, enum cavs__ew_mode mode)
{
    struct cavs__ew_program *p = calloc(1, sizeof *p);

    (void)mode;
    p->spec = *spec;
    p->spec.scalar = copy(spec->scalar, (size_t)spec->ninputs * sizeof *spec->scalar);
    p->spec.nodes = copy(spec->nodes, (size_t)spec->nnodes * sizeof *spec->nodes);
    p->spec.outputs = copy(spec->outputs, (size_t)spec->noutputs * sizeof *spec->outputs);
    cavs__ew_plan_make(&p->plan, &p->spec);
    return p;
}

void cavs__ew_program_destroy(struct cavs__ew_program *p)
{
    if (!p)
        return;
    cavs__ew_plan_free(&p->plan);
    free((void *)p->spec.scalar);
    free((void *)p->spec.nodes);
    free((void *)p->spec.outputs);
    free(p);
}

const struct cavs__ew_spec *cavs__ew_program_spec(const struct cavs__ew_program *p)
{
    return &p->spec;
}

bool cavs__ew_program_compiled(const struct cavs__ew_program *p)
{
    return p->compiled != NULL;
}

void cavs__ew_run(const struct cavs__ew_program *p, int rows, const struct cavs__view *v)
{
    cavs__ew_interpret(p, rows, v);
}

static void run(const struct cavs__call *call, int rows, const struct cavs__view *v, unsigned flags)
{
    (void)flags;
    cavs__ew_run(call->program, rows, v);
}

static void reference(const struct cavs__call *call, int rows, const struct cavs__view *v, unsigned flags)
{
    (void)flags;
    cavs__ew_run_reference(call->program, rows, v);
}

const struct cavs__kernel cavs__kernel_elementwise = {.name = "elementwise", .cpu = run, .reference = reference};

void cavs__ew_batch_begin(void)
{
}

void cavs__ew_batch_end(void)
{
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sequences.c - see sequences.h. */
#include "codelets/device/sequences.h"

#include "codelets/groups/ew_internal.h"
#include "codelets/kernels/kernel_table.h"

/* ---- the text ---- */

/* Numbers of a fused group in row r. */
static const struct cavs__ew_dialect numbers = {
    .name = "OpenCL and CUDA, numbers of a row",
    .preamble = "",
    .open = "\nEW_FN void $f(GLOBAL const int *index, int r, int column, int step",
    .far_body = ")\n{\n",
    CAVS__DIALECT_OF_NUMBERS,
};

static int width_of(const struct cavs__step *s)
{
    return s->v[s->nviews - 1].cols;
}

/* A row each group: as many items as the widest step keeps busy. */
static int items_of(const struct cavs__sequence *q)
{
    int widest = 0;

    for (int i = 0; i < q->n; i++)
        widest = width_of(&q->steps[i]) > widest ? width_of(&q->steps[i]) : widest;
    return widest <= 64 ? 64 : widest <= 128 ? 128 : 256;
}

static void put_parameters(FILE *to, const struct cavs__step *s, int k)
{
    fprintf(to, ", int ptr%d", k);
    for (int i = 0; i < s->nviews; i++)
        fprintf(to, ", VIEW(v%d_%d)", k, i);
}

static void put_views(FILE *to, const struct cavs__step *s, int k)
{
    for (int i = 0; i < s->nviews; i++)
        fprintf(to, ", PASS(v%d_%d)", k, i);
    fprintf(to, ");\n");
}

/* Step k of sequence `of`, a fused group, over the columns of the vertex's row or of each of its
 * entries. */
static void put_group(FILE *to, const struct cavs__step *s, int of, int k, int items)
{
    int at_once = cavs__ew_at_once(cavs__ew_program_spec(s->call.program));

    if (s->list > 0)
        fprintf(to, "    for (int e = FIRST_OF(ptr%d); e < END_OF(ptr%d); e++)\n    ", k, k);
    fprintf(to, "    for (int c = ITEM; c < %d; c += %d)\n", width_of(s), at_once * items);
    fprintf(to, "            step%d_%d(index, %s, c, %d", of, k, s->list > 0 ? "e" : "r", items);
}

static void put_step(FILE *to, const struct cavs__step *s, int of, int k, int items)
{
    if (s->call.program)
        put_group(to, s, of, k, items);
    else
        fprintf(to, "    %s(index, r, ITEM, %d, %d, ptr%d", s->call.kernel->name, items,
                width_of(s), k);
    put_views(to, s, k);
}

void cavs__device_sequence_text(FILE *to, const struct cavs__sequence *q, int of)
{
    char name[40];

    for (int k = 0; k < q->n; k++) {
        snprintf(name, sizeof name, "step%d_%d", of, k);
        if (q->steps[k].call.program)
            cavs__ew_generate(to, &numbers, cavs__ew_program_spec(q->steps[k].call.program), name);
    }
    fprintf(to, "\nKERNEL(%d) sequence%d(GLOBAL const int *index", items_of(q), of);
    for (int k = 0; k < q->n; k++)
        put_parameters(to, &q->steps[k], k);
    fprintf(to, ")\n{\n    const int r = GROUP_X;\n\n    IN_TURN;\n");
    for (int k = 0; k < q->n; k++) {
        if (k > 0)
            fprintf(to, "    BARRIER_OF_ALL_MEMORY;\n");
        put_step(to, &q->steps[k], of, k, items_of(q));
    }
    fprintf(to, "}\n");
}

/* ---- launching ---- */

/* Where a step finds the entries or the rows of its first vertex. */
static int ptr_of(const struct cavs__device_call *c)
{
    return c->call->program ? c->ptr : c->v[0].ptr;
}

int cavs__device_sequence(int n, const struct cavs__device_call *const *calls)
{
    struct cavs__device *d = calls[0]->device;
    const struct cavs__sequence *q = calls[0]->sequence;
    struct cavs__launch l;

    cavs__launch_kernel(&l, cavs__device_sequence_kernel(q, d), calls[0]->vertices, 1, items_of(q));
    cavs__argument_pointer(&l, calls[0]->index);
    for (int k = 0; k < n; k++) {
        cavs__argument_int(&l, ptr_of(calls[k]));
        for (int i = 0; i < calls[k]->nviews; i++)
            cavs__argument_view(&l, &calls[k]->v[i]);
    }
    return cavs__launch(d, &l);
}

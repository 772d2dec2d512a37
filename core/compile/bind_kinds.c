/* SPDX-License-Identifier: Apache-2.0 */
/* bind_kinds.c - task kinds get their buffers: operands name tensors by number, and from here on
 * buffers of the task. */
#include "codelets/task.h"
#include "core/base/error.h"
#include "core/compile/place.h"
#include "core/compile/work.h"
#include "memory/tensor.h"

static int buffer_of(struct cavs__task_kind *k, int tensor)
{
    for (int i = 0; i < k->nbuffers; i++) {
        if (k->tensor[i] == tensor)
            return i;
    }
    if (k->nbuffers == CAVS__MAX_BUFFERS)
        return CAVS_EPROGRAM;
    k->tensor[k->nbuffers] = tensor;
    return k->nbuffers++;
}

/* The chains of a tape read so many parameters that buffers keep the numbers of their tensors. Each
 * task then lists the tensors that it needs. */
static bool lists_buffers(const struct cavs__task_kind *k)
{
    return k->stage->recorded && k->klass == CAVS__CHAIN;
}

static int bind_to_tensor(const struct cavs__plan *p, struct cavs__operand *o)
{
    if (o->buffer >= 0 && o->space != CAVS__LINES)
        o->ld = cavs__tensor_ld(p->tensors[o->buffer].cols);
    return CAVS_OK;
}

static int bind_operand(const struct cavs__plan *p, struct cavs__task_kind *k,
                        struct cavs__operand *o, bool output)
{
    int b = o->buffer;

    if (lists_buffers(k))
        return bind_to_tensor(p, o);

    if (o->mode == CAVS__INDEXED || o->mode == CAVS__IDS || o->mode == CAVS__SUMMED ||
        o->mode == CAVS__REPEATED || o->list > 0) {
        k->index_buffer = buffer_of(k, p->stages[k->stage->number].index);
        if (k->index_buffer < 0)
            return k->index_buffer;
    }
    if (b < 0)
        return CAVS_OK;
    if (o->space != CAVS__LINES)
        o->ld = cavs__tensor_ld(p->tensors[b].cols);
    b = buffer_of(k, b);
    if (b < 0)
        return b;
    o->buffer = (int16_t)b;
    k->written[b] |= output;
    return CAVS_OK;
}

/* The operand's place follows from a row, or from an edge, of the stage. */
static bool lies_by_stage(const struct cavs__operand *o)
{
    bool in_place = o->mode == CAVS__DIRECT || o->mode == CAVS__REPEATED;

    return (o->mode == CAVS__SUMMED && o->space != CAVS__FROWS) ||
           (in_place && (o->space == CAVS__ROWS || o->space == CAVS__EDGES));
}

/* Bytes of a weight in panels that a step reads; of bfloat16 it reads half of them. */
static int64_t panel_bytes(const struct cavs__step *s)
{
    if (s->call.kernel->number != CAVS__KERNEL_gemm || !s->call.panels)
        return 0;
    return (int64_t)s->v[0].cols * s->v[s->nviews - 1].cols * (int64_t)sizeof(float);
}

int cavs__bind_part(const struct cavs__plan *p, struct cavs__task_kind *k, struct cavs__part *part)
{
    for (int i = 0; i < part->nsteps; i++) {
        struct cavs__step *s = &part->steps[i];

        *(s->list > 0 ? &part->lists[s->list - 1].flops : &part->flops) += s->flops;
        part->panel_bytes += panel_bytes(s);
        for (int j = 0; j < s->nviews; j++) {
            part->stage_rows |= lies_by_stage(&s->v[j]);
            if (bind_operand(p, k, &s->v[j], j >= s->nviews - s->noutputs))
                return cavs__fail(CAVS_EPROGRAM,
                                  "task %s touches more than %d tensors; split the function",
                                  k->name, CAVS__MAX_BUFFERS);
        }
        if (s->call.kernel->reduces)
            part->adds_to |= (uint64_t)1 << s->v[s->nviews - 1].buffer;
    }
    return CAVS_OK;
}

void cavs__name_codelet(struct cavs__task_kind *k)
{
    cavs__task_codelet(k->name, &k->codelet);
    k->codelet.color = cavs__work_color(cavs__work_of(k->name));
}

int cavs__bind_kind(const struct cavs__plan *p, struct cavs__task_kind *k)
{
    for (int f = 0; f < k->stage->nfunctions; f++) {
        int rc = k->parts[f] ? cavs__bind_part(p, k, k->parts[f]) : CAVS_OK;

        if (rc)
            return rc;
    }
    cavs__name_codelet(k);
    return CAVS_OK;
}

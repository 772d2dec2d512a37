/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recorded.c - a plan that grows: the operators of a tape are functions that come while it records.
 *
 * They are placed and made as any other function is.  What is different is where rows are: results
 * of all widths lie in one tensor of lines (part.h), and their gradients in another, since any of
 * them may be read by any.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/compile/place.h"

/* ---- stages ---- */

/* A tensor of the stage: one that a stage of the same number has left, or a new one. */
static int stage_tensor(struct cavs__plan *p, const struct cavs_stage *s,
                        enum cavs__tensor_kind kind, int cols, const char *what)
{
    char name[64];

    snprintf(name, sizeof name, "%s%d.%s", s->name, s->number, what);
    for (int i = 0; i < p->ntensors; i++) {
        struct cavs__tensor_desc *d = &p->tensors[i];

        if (!d->stage && d->kind == kind && strcmp(d->name, name) == 0) {
            d->stage = s;
            return i;
        }
    }
    return cavs__plan_tensor(
        p, (struct cavs__tensor_desc){.kind = kind, .space = CAVS__FIXED, .cols = cols, .stage = s},
        "%s", name);
}

static int lines_tensor(struct cavs__plan *p, const struct cavs_stage *s, const char *what)
{
    return stage_tensor(p, s, CAVS__T_LINES, CAVS__LINE, what);
}

static int add_tensors(struct cavs__plan *p, struct cavs__stage_plan *sp)
{
    const struct cavs_stage *s = sp->stage;
    int rc = CAVS_OK;

    for (int i = 0; i < s->ninputs && rc >= 0; i++) {
        sp->input[i] = -1;
        if (!s->inputs[i]->ids)
            rc = sp->input[i] = stage_tensor(p, s, CAVS__T_INPUT, CAVS__LINE, "given");
    }
    sp->state = lines_tensor(p, s, "rows");
    sp->push[0] = lines_tensor(p, s, "gradients");
    sp->edge = lines_tensor(p, s, "gradients.of.operands");
    sp->index = stage_tensor(p, s, CAVS__T_INDEX, 1, "index");
    return rc < 0 || sp->state < 0 || sp->push[0] < 0 || sp->edge < 0 || sp->index < 0 ? CAVS_ENOMEM
                                                                                       : CAVS_OK;
}

int cavs__plan_next_stage(const struct cavs__plan *p)
{
    int i = 0;

    while (i < p->nstages && p->stages[i].stage)
        i++;
    return i;
}

static bool reserve_stage(struct cavs__plan *p, int number)
{
    size_t room = (size_t)p->nstages;

    if (number < p->nstages)
        return true;
    if (!cavs__array_reserve(&p->stages, &room, room + 1, sizeof *p->stages))
        return false;
    p->nstages++;
    return true;
}

int cavs__plan_add_stage(struct cavs__plan *p, const struct cavs_stage *s)
{
    struct cavs__stage_plan *sp;
    int rc = CAVS_OK;

    if (!reserve_stage(p, s->number))
        return cavs__fail_nomem("plan: stage", cavs__array_bytes(p->nstages, sizeof *p->stages));
    sp = &p->stages[s->number];
    *sp = (struct cavs__stage_plan){.stage = s};
    sp->push = calloc(1, sizeof *sp->push);
    sp->input = calloc((size_t)s->ninputs + 1, sizeof *sp->input);
    if (!sp->push || !sp->input)
        rc = cavs__fail_nomem("plan: stage", ((size_t)s->ninputs + 2) * sizeof *sp->input);
    else
        rc = add_tensors(p, sp);
    if (rc)
        cavs__plan_drop_stage(p, s->number);
    return rc;
}

void cavs__plan_drop_stage(struct cavs__plan *p, int stage)
{
    for (int i = 0; i < p->ntensors; i++) {
        if (p->tensors[i].stage == p->stages[stage].stage)
            p->tensors[i].stage = NULL;
    }
    cavs__stage_plan_destroy(&p->stages[stage]);
    p->stages[stage] = (struct cavs__stage_plan){0};
}

/* ---- functions ---- */

/* Rows of kept values are as far apart as all kept values of one vertex are wide. */
static void set_pitch(struct cavs__part *part, int lines, int kept)
{
    for (int i = 0; i < part->nsteps; i++) {
        for (int j = 0; j < part->steps[i].nviews; j++) {
            struct cavs__operand *o = &part->steps[i].v[j];

            if (o->buffer >= 0 && o->space == CAVS__LINES && o->slot == lines)
                o->ld = (ptrdiff_t)cavs__lines_of(kept) * CAVS__LINE;
        }
    }
}

/* Undoes the addition of the function. */
static void drop_parts(struct cavs__stage_plan *sp, struct cavs_function *f)
{
    for (int i = 0; i < sp->nkinds; i++) {
        struct cavs__task_kind *k = sp->kinds[i];

        if (f->number >= k->nparts)
            continue;
        cavs__part_destroy(k->parts[f->number]);
        k->parts[f->number] = NULL;
    }
    f->kept = f->kept_entries = 0;
}

int cavs__plan_add_function(struct cavs__plan *p, struct cavs_function *f)
{
    struct cavs__stage_plan *sp = &p->stages[f->stage->number];
    int rc;

    drop_parts(sp, f); /* of an attempt that failed behind this one */
    rc = cavs__place_function(p, f);
    for (int i = 0; i < sp->nkinds && !rc; i++) {
        struct cavs__task_kind *k = sp->kinds[i];
        struct cavs__part *part = f->number < k->nparts ? k->parts[f->number] : NULL;

        if (!k->codelet.cpu_funcs[0])
            cavs__name_codelet(k);
        if (!part)
            continue;
        set_pitch(part, CAVS__LINES_KEPT, f->kept);
        set_pitch(part, CAVS__LINES_KEPT_ENTRIES, f->kept_entries);
        rc = cavs__bind_part(p, k, part);
    }
    if (rc)
        drop_parts(sp, f);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* compiled.c - signatures become parts of the session's plan, when the first symbol of their sort
 * is computed. */
#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/tape/tape.h"

/* Notes in the signature that section `number` of the plan, which is `sec`, is the one by which an
 * operand of it, its keys of dropout, the user's rows or its lists are read. */
static void find_section(const struct cavs__section *sec, int number, struct cavs__signature *s)
{
    if (sec->kind == CAVS__S_NOISE_LOW || sec->kind == CAVS__S_NOISE_HIGH)
        s->noise[sec->kind == CAVS__S_NOISE_HIGH] = number;
    else if (sec->kind == CAVS__S_LIST_PTR)
        s->first = number;
    else if (sec->kind == CAVS__S_LIST_OWNER)
        s->owner = number;
    else if ((sec->kind == CAVS__S_CHILD || sec->kind == CAVS__S_IDS) && sec->number < s->n)
        s->operands[sec->number].section = number;
    else if (sec->kind == CAVS__S_CHILD)
        s->given = number;
}

/* Finds the sections of the signature: those from `first` on are its own, but for the pair that all
 * signatures share. */
static void find_sections(const struct cavs__stage_plan *sp, int first, struct cavs__signature *s)
{
    s->noise[0] = s->noise[1] = s->given = s->first = s->owner = -1;
    for (int k = 0; k < s->n; k++)
        s->operands[k].section = -1;
    for (int i = first; i < sp->nsections; i++) {
        if (sp->sections[i].function == s->function)
            find_section(&sp->sections[i], i, s);
    }
}

static bool is_param(const struct cavs__plan *p, int tensor)
{
    return tensor >= 0 &&
           (p->tensors[tensor].kind == CAVS__T_PARAM || p->tensors[tensor].kind == CAVS__T_COPY);
}

static int add_param(struct cavs__read_params *r, int tensor)
{
    for (int i = 0; i < r->n; i++) {
        if (r->tensor[i] == tensor)
            return CAVS_OK;
    }
    return CAVS__APPEND(r->tensor, r->n, (int16_t)tensor)
               ? CAVS_OK
               : cavs__fail_nomem("plan: parameters of a part", 2 * (size_t)r->n + 2);
}

static int find_params(const struct cavs_tape *t, struct cavs__signature *s, enum cavs__phase phase)
{
    const struct cavs__task_kind *k = cavs__find_chain(cavs__tape_plan(t), phase);
    struct cavs__read_params *r = &s->chain[phase];
    int rc = CAVS_OK;

    r->n = 0; /* drops what an attempt left that failed */
    r->part = k && s->function->number < k->nparts ? k->parts[s->function->number] : NULL;
    for (int i = 0; r->part && i < r->part->nsteps; i++) {
        const struct cavs__step *step = &r->part->steps[i];

        for (int j = 0; j < step->nviews && !rc; j++) {
            if (is_param(t->session->plan, step->v[j].buffer))
                rc = add_param(r, step->v[j].buffer);
        }
    }
    return rc;
}

/* Adds the parts of the signature to the plan.  again: an attempt before has failed, and has left
 * sections behind. */
static int compile(struct cavs_tape *t, struct cavs__signature *s, bool again)
{
    int before = again ? 0 : cavs__tape_plan(t)->nsections;
    int rc = cavs__plan_add_function(t->session->plan, s->function);

    find_sections(cavs__tape_plan(t), before, s);
    if (!rc)
        rc = find_params(t, s, CAVS__FORWARD);
    if (!rc)
        rc = find_params(t, s, CAVS__BACKWARD);
    if (!rc && (s->chain[0].n > CAVS__MOST_PARAMS || s->chain[1].n > CAVS__MOST_PARAMS))
        rc = cavs__fail(CAVS_EPROGRAM, "tape: function %s reads more than %d parameters",
                        s->function->name, CAVS__MOST_PARAMS);
    s->flops = cavs__function_flops(s->function, 0, true);
    s->flops_forward = cavs__function_flops(s->function, 0, false);
    for (int forward = 0; forward < 2; forward++)
        s->entry_flops[forward] = cavs__function_flops(s->function, 1, !forward);
    return rc;
}

/* Has the groups of declared functions compiled that nobody has compiled yet, all at once, and
 * beside those of devices. */
static int compile_new(struct cavs_tape *t, struct cavs__ew_compiling *cores)
{
    int n = t->recording.signatures.n, rc = CAVS_OK;
    bool again = t->behind, groups = false;

    t->behind = true;
    for (int i = t->compiled; i < n; i++)
        groups |= t->recording.signatures.all[i]->function->compiled;
    if (groups) {
        cavs__end_blocks(t); /* the compiler is at work for these */
        cavs__ew_batch_begin();
    }
    while (t->compiled < n && !rc) {
        rc = compile(t, t->recording.signatures.all[t->compiled], again);
        t->compiled += !rc;
    }
    if (groups)
        cavs__ew_batch_end_aside(t->session->engine.devices, cores);
    return rc;
}

int cavs__compile_signatures(struct cavs_tape *t)
{
    struct cavs__ew_compiling cores = {.threaded = false};
    int rc;

    if (t->compiled == t->recording.signatures.n && !t->behind)
        return CAVS_OK;
    rc = compile_new(t, &cores);
    if (!rc)
        rc = cavs__session_follow_plan(t->session);
    cavs__ew_batch_wait(&cores);
    t->behind = rc != 0;
    return rc;
}

int cavs__compile_block(struct cavs_tape *t, int signature)
{
    struct cavs__signature *s = t->recording.signatures.all[signature];
    int rc = compile(t, s, t->behind);

    t->behind = true;
    t->compiled = signature + 1; /* if that failed, nobody computes it */
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_plan.c - how the interpreter runs a group: which loop each node is, and which values share a
 * slot because they are not alive at the same time.
 */
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/ew_internal.h"

#define BUFFER    6144 /* numbers in all slots together: 24 KiB */
#define MAX_STRIP 1024

/* Slots given to values while one walks through the nodes. */
struct slots {
    int *last_use; /* [ninputs + nnodes] by operand + ninputs: the node that reads the value last */
    int *slot_of;  /* likewise; -1: none yet */
    int *unused;   /* stack of free slots */
    int nunused, nslots;
};

static void take_slot(struct slots *s, int value)
{
    if (s->slot_of[value] < 0)
        s->slot_of[value] = s->nunused > 0 ? s->unused[--s->nunused] : s->nslots++;
}

static void drop_slot(struct slots *s, int value, int node)
{
    if (s->last_use[value] == node && s->slot_of[value] >= 0) {
        s->unused[s->nunused++] = s->slot_of[value];
        s->last_use[value] = -1;
    }
}

static int operands_of(const struct cavs__ew_node *node)
{
    return node->op < 0 ? 0 : (int)strlen(cavs__ew_operands(node->op, node->which));
}

static void assign_slots(struct slots *s, const struct cavs__ew_spec *spec)
{
    for (int j = 0; j < spec->nnodes; j++)
        for (int i = 0; i < operands_of(&spec->nodes[j]); i++)
            s->last_use[spec->nodes[j].in[i] + spec->ninputs] = j;
    for (int k = 0; k < spec->noutputs; k++)
        if (cavs__ew_over(spec, k) >= 0)
            s->last_use[spec->outputs[k] + spec->ninputs] = spec->nnodes;
    for (int j = 0; j < spec->nnodes; j++) {
        const struct cavs__ew_node *node = &spec->nodes[j];
        int n = operands_of(node);

        for (int i = 0; i < n; i++)
            take_slot(s, node->in[i] + spec->ninputs);
        take_slot(s, j + spec->ninputs);
        for (int i = 0; i < n; i++)
            drop_slot(s, node->in[i] + spec->ninputs, j);
    }
}

static void make_step(struct cavs__ew_step *step, const struct cavs__ew_node *node, int slot,
                      int output, bool later)
{
    const char *letters = node->op < 0 ? "" : cavs__ew_operands(node->op, node->which);

    step->output = output;
    step->later = later;
    step->loop = node->op < 0 ? NULL : cavs__ew_loop_of(node->op, node->which);
    step->slot = slot;
    step->s = node->s;
    for (int l = 0; l < 4; l++) {
        const char *at = strchr(letters, "abyg"[l]);

        step->from[l] = node->in[at ? at - letters : 0];
    }
}

static int first_output(const struct cavs__ew_spec *spec, int node)
{
    for (int k = 0; k < spec->noutputs; k++)
        if (spec->outputs[k] == node)
            return k;
    return -1;
}

int cavs__ew_plan_make(struct cavs__ew_plan *plan, const struct cavs__ew_spec *spec)
{
    int n = spec->ninputs + spec->nnodes;
    int *memory = malloc(3 * (size_t)(n + 1) * sizeof *memory);
    struct slots s;

    plan->steps = malloc(((size_t)spec->nnodes + 1) * sizeof *plan->steps);
    plan->input_slot = malloc(((size_t)spec->ninputs + 1) * sizeof *plan->input_slot);
    if (!memory || !plan->steps || !plan->input_slot) {
        cavs__ew_plan_free(plan);
        free(memory);
        return -1;
    }
    s = (struct slots){.last_use = memory, .slot_of = memory + n, .unused = memory + 2 * n};
    for (int i = 0; i < 2 * n; i++)
        memory[i] = -1;
    assign_slots(&s, spec);
    for (int i = 0; i < spec->ninputs; i++)
        plan->input_slot[i] = s.slot_of[~i + spec->ninputs];
    for (int j = 0; j < spec->nnodes; j++) {
        int output = first_output(spec, j);

        make_step(&plan->steps[j], &spec->nodes[j], s.slot_of[j + spec->ninputs], output,
                  output >= 0 && cavs__ew_over(spec, output) >= 0);
    }
    plan->nslots = s.nslots;
    plan->strip = BUFFER / (s.nslots + 1) / CAVS__EW_MIN_STRIP * CAVS__EW_MIN_STRIP;
    plan->strip = plan->strip < CAVS__EW_MIN_STRIP ? CAVS__EW_MIN_STRIP
                  : plan->strip > MAX_STRIP        ? MAX_STRIP
                                                   : plan->strip;
    free(memory);
    return 0;
}

void cavs__ew_plan_free(struct cavs__ew_plan *plan)
{
    free(plan->steps);
    free(plan->input_slot);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_interpret.c - runs a group without a compiler: strip by strip, one vector loop for each node
 * of the group.
 *
 * A strip is a few rows, or a part of one wide row, small enough that all values alive at once stay
 * in the first-level cache. A value is where its numbers lie: in an input or output itself where
 * those are side by side there, else in one of the plan's slots. Slots are shared by values that
 * are not alive at the same time.
 */
#include <stdlib.h>
#include <string.h>

#include "codelets/ew_internal.h"

#define BUFFER    6144 /* numbers in all slots together: 24 KiB */
#define MIN_STRIP 16   /* when many values are alive: the cache then misses, nothing else */
#define MAX_STRIP 1024
#define WHOLE_ROW \
    200 /* from this width on a strip is one row at most, so that strided rows are not copied */

/* ---- the plan ---- */

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
                      int output)
{
    const char *letters = node->op < 0 ? "" : cavs__ew_operands(node->op, node->which);

    step->output = output;
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
    struct slots s = {.last_use = memory, .slot_of = memory + n, .unused = memory + 2 * n};

    plan->steps = malloc(((size_t)spec->nnodes + 1) * sizeof *plan->steps);
    plan->input_slot = malloc(((size_t)spec->ninputs + 1) * sizeof *plan->input_slot);
    if (!memory || !plan->steps || !plan->input_slot) {
        cavs__ew_plan_free(plan);
        free(memory);
        return -1;
    }
    for (int i = 0; i < 2 * n; i++)
        memory[i] = -1;
    assign_slots(&s, spec);
    for (int i = 0; i < spec->ninputs; i++)
        plan->input_slot[i] = s.slot_of[~i + spec->ninputs];
    for (int j = 0; j < spec->nnodes; j++)
        make_step(&plan->steps[j], &spec->nodes[j], s.slot_of[j + spec->ninputs],
                  first_output(spec, j));
    plan->nslots = s.nslots;
    plan->strip = BUFFER / (s.nslots + 1) / MIN_STRIP * MIN_STRIP;
    plan->strip = plan->strip < MIN_STRIP   ? MIN_STRIP
                  : plan->strip > MAX_STRIP ? MAX_STRIP
                                            : plan->strip;
    free(memory);
    return 0;
}

void cavs__ew_plan_free(struct cavs__ew_plan *plan)
{
    free(plan->steps);
    free(plan->input_slot);
}

/* ---- a strip ---- */

/* Rows [row, row + rows) x columns [column, column + columns) of the views; rows > 1 only with
 * whole rows. */
struct strip {
    const struct cavs__ew_program *p;
    const struct cavs__view *v;
    int row, rows, column, columns;
    float *slots;
    const float **values; /* values[j] node j, values[~i] input i; NULL: not read yet */
};

/* The first of the strip's columns in one of its rows; NULL: zeros. */
static float *row_of(const struct strip *s, const struct cavs__view *v, int r, bool scalar)
{
    ptrdiff_t at = v->index ? v->index[s->row + r] : s->row + r;

    return at < 0 ? NULL : v->p + at * v->ld + (scalar ? 0 : s->column);
}

static bool side_by_side(const struct strip *s, const struct cavs__view *v)
{
    return s->rows == 1 || (!v->index && v->ld == s->columns);
}

static void fill(float *to, int n, float x)
{
    for (int i = 0; i < n; i++)
        to[i] = x;
}

static void collect_row(const struct strip *s, int input, int r, float *to)
{
    const float *from = row_of(s, &s->v[input], r, s->p->spec.scalar[input]);

    if (!from)
        fill(to, s->columns, 0);
    else if (s->p->spec.scalar[input])
        fill(to, s->columns, *from);
    else
        memcpy(to, from, (size_t)s->columns * sizeof *to);
}

static float *slot(const struct strip *s, int number)
{
    return s->slots + (ptrdiff_t)number * s->p->plan.strip;
}

static const float *input(const struct strip *s, int i)
{
    bool scalar = s->p->spec.scalar[i];
    const float *from = row_of(s, &s->v[i], 0, scalar);
    float *to = slot(s, s->p->plan.input_slot[i]);

    if (from && !scalar && side_by_side(s, &s->v[i]))
        return from;
    for (int r = 0; r < s->rows; r++)
        collect_row(s, i, r, to + (ptrdiff_t)r * s->columns);
    return to;
}

static const float *operand(const struct strip *s, int from)
{
    if (!s->values[from])
        s->values[from] = input(s, ~from);
    return s->values[from];
}

static void copy_rows(const struct strip *s, const struct cavs__view *out, const float *from)
{
    for (int r = 0; r < s->rows; r++)
        memcpy(row_of(s, out, r, false), from + (ptrdiff_t)r * s->columns,
               (size_t)s->columns * sizeof *from);
}

static void run_step(const struct strip *s, int j)
{
    const struct cavs__ew_step *step = &s->p->plan.steps[j];
    const struct cavs__view *out =
        step->output < 0 ? NULL : &s->v[s->p->spec.ninputs + step->output];
    bool in_place = out && side_by_side(s, out);
    float *to = in_place ? row_of(s, out, 0, false) : slot(s, step->slot);
    const float *in[4];

    s->values[j] = to;
    if (step->loop) {
        for (int l = 0; l < 4; l++)
            in[l] = operand(s, step->from[l]);
        step->loop(s->rows * s->columns, to, in[0], in[1], in[2], in[3], step->s);
    } else {
        fill(to, s->rows * s->columns, step->s);
    }
    if (out && !in_place)
        copy_rows(s, out, to);
}

/* Output k repeats an input, or the output that the node's step has written. */
static void repeat_output(const struct strip *s, int k)
{
    const struct cavs__ew_spec *spec = &s->p->spec;
    int from = spec->outputs[k];

    for (int r = 0; r < s->rows; r++) {
        float *to = row_of(s, &s->v[spec->ninputs + k], r, false);

        if (from < 0)
            collect_row(s, ~from, r, to);
        else
            memcpy(to, row_of(s, &s->v[spec->ninputs + s->p->plan.steps[from].output], r, false),
                   (size_t)s->columns * sizeof *to);
    }
}

static void run_strip(const struct strip *s)
{
    const struct cavs__ew_spec *spec = &s->p->spec;

    memset(s->values - spec->ninputs, 0, (size_t)spec->ninputs * sizeof *s->values);
    for (int j = 0; j < spec->nnodes; j++)
        run_step(s, j);
    for (int k = 0; k < spec->noutputs; k++)
        if (spec->outputs[k] < 0 || s->p->plan.steps[spec->outputs[k]].output != k)
            repeat_output(s, k);
}

static int at_most(int n, int limit)
{
    return n < limit ? n : limit;
}

void cavs__ew_interpret(const struct cavs__ew_program *p, int rows, const struct cavs__view *v)
{
    float slots[CAVS__EW_MAX_VALUES * MIN_STRIP] __attribute__((aligned(64)));
    const float *values[CAVS__EW_MAX_VALUES];
    struct strip s = {.p = p, .v = v, .slots = slots, .values = values + p->spec.ninputs};
    int width = p->spec.width, strip = p->plan.strip;
    int nrows = width >= WHOLE_ROW || width > strip ? 1 : strip / width;

    for (s.row = 0; s.row < rows; s.row += s.rows) {
        s.rows = at_most(nrows, rows - s.row);
        for (s.column = 0; s.column < width; s.column += s.columns) {
            s.columns = at_most(strip, width - s.column);
            run_strip(&s);
        }
    }
}

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
#include <string.h>

#include "codelets/groups/ew_internal.h"
#include "codelets/products/fetch.h"

/* From this width on a strip is one row at most, so that rows at a distance are not copied. */
#define WHOLE_ROW 200

/* Rows [row, row + rows) x columns [column, column + columns) of the views; rows > 1 only with
 * whole rows. */
struct strip {
    const struct cavs__ew_program *p;
    const struct cavs__view *v;
    int row, rows, column, columns;
    int end; /* of all rows */
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

/* Fetches row r of the next strip, if there is one. */
CAVS__FETCHES void fetch_row(const struct strip *s, const struct cavs__view *v, int r)
{
    r += s->rows;
    if (v->index && s->row + r < s->end)
        cavs__fetch(s->columns, row_of(s, v, r, false));
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
    for (int r = 0; r < s->rows; r++) {
        fetch_row(s, &s->v[i], r);
        collect_row(s, i, r, to + (ptrdiff_t)r * s->columns);
    }
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
        step->output < 0 || step->later ? NULL : &s->v[s->p->spec.ninputs + step->output];
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

/* Copies what lies over inputs to its place, since all nodes have read these by now. */
static void write_over(const struct strip *s)
{
    const struct cavs__ew_spec *spec = &s->p->spec;

    for (int j = 0; j < spec->nnodes; j++) {
        const struct cavs__ew_step *step = &s->p->plan.steps[j];

        if (step->later)
            copy_rows(s, &s->v[spec->ninputs + step->output], slot(s, step->slot));
    }
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
    write_over(s);
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
    float slots[CAVS__EW_MAX_VALUES * CAVS__EW_MIN_STRIP] __attribute__((aligned(64)));
    const float *values[CAVS__EW_MAX_VALUES];
    struct strip s = {
        .p = p, .v = v, .end = rows, .slots = slots, .values = values + p->spec.ninputs};
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

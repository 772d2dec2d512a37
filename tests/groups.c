/* SPDX-License-Identifier: Apache-2.0 */
/* groups.c - see groups.h. */
#include "tests/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

void group_start(struct group *g, int width)
{
    memset(g, 0, sizeof *g);
    g->spec.width = width;
    g->spec.scalar = g->scalar;
    g->spec.nodes = g->nodes;
    g->spec.outputs = g->outputs;
}

int group_input(struct group *g)
{
    return ~g->spec.ninputs++;
}

int group_scalar(struct group *g)
{
    g->scalar[g->spec.ninputs] = true;
    return group_input(g);
}

int group_constant(struct group *g, float s)
{
    g->nodes[g->spec.nnodes] = (struct cavs__ew_node){.op = -1, .s = s};
    return g->spec.nnodes++;
}

int group_node(struct group *g, int op, int which, const int *in, float s)
{
    struct cavs__ew_node *node = &g->nodes[g->spec.nnodes];

    *node = (struct cavs__ew_node){.op = op, .which = which, .s = s};
    memcpy(node->in, in, strlen(cavs__ew_operands(op, which)) * sizeof *in);
    return g->spec.nnodes++;
}

int group_op1(struct group *g, const char *name, int a)
{
    return group_node(g, cavs__ew_find(name), 0, &a, 0);
}

int group_op2(struct group *g, const char *name, int a, int b)
{
    return group_node(g, cavs__ew_find(name), 0, (int[]){a, b}, 0);
}

int group_grad(struct group *g, const char *name, int y, int grad)
{
    return group_node(g, cavs__ew_find(name), 1, (int[]){y, grad}, 0);
}

void group_output(struct group *g, int operand)
{
    g->outputs[g->spec.noutputs++] = operand;
}

void group_lstm(struct group *g, int width)
{
    int z[4], gate[4], child, c, tanh_c;

    group_start(g, width);
    for (int i = 0; i < 4; i++)
        z[i] = group_input(g);
    for (int i = 0; i < 4; i++)
        gate[i] =
            group_op1(g, i < 3 ? "sigmoid" : "tanh", group_op2(g, "add", z[i], group_input(g)));
    child = group_input(g);
    c = group_op2(g, "add", group_op2(g, "mul", gate[1], child),
                  group_op2(g, "mul", gate[0], gate[3]));
    tanh_c = group_op1(g, "tanh", c);
    for (int i = 0; i < 4; i++)
        group_output(g, gate[i]);
    group_output(g, c);
    group_output(g, tanh_c);
    group_output(g, group_op2(g, "mul", gate[2], tanh_c));
}

void group_lstm_grad(struct group *g, int width)
{
    int in[8], dc, through;
    enum { DH, DC, I, F, O, G, TANH_C, CHILD };

    group_start(g, width);
    for (int i = 0; i < 8; i++)
        in[i] = group_input(g);
    through = group_grad(g, "tanh", in[TANH_C], group_op2(g, "mul", in[DH], in[O]));
    dc = group_op2(g, "add", in[DC], through);
    group_output(g, group_grad(g, "sigmoid", in[I], group_op2(g, "mul", dc, in[G])));
    group_output(g, group_grad(g, "sigmoid", in[F], group_op2(g, "mul", dc, in[CHILD])));
    group_output(g, group_grad(g, "sigmoid", in[O], group_op2(g, "mul", in[DH], in[TANH_C])));
    group_output(g, group_grad(g, "tanh", in[G], group_op2(g, "mul", dc, in[I])));
    group_output(g, group_op2(g, "mul", dc, in[F]));
}

/* ---- operands ---- */

#define SOURCE_ROWS 19 /* of what is gathered from */

static void *keep(struct group_data *d, size_t size)
{
    void *p = malloc(size ? size : 1);

    if (!p)
        abort();
    return d->memory[d->nmemory++] = p;
}

static struct cavs__view random_view(struct group_data *d, int cols, int rows, bool input,
                                     uint64_t *random)
{
    int kind = input ? random_int(random, 0, 3) : 0,
        pad = random_int(random, 0, 1) * random_int(random, 1, 9);
    struct cavs__view v = {.ld = cols + pad, .cols = cols};
    int32_t *index;

    if (kind == 1)
        v.ld = 0;
    if (kind == 2) {
        v.index = index = keep(d, (size_t)rows * sizeof *index);
        for (int r = 0; r < rows; r++)
            index[r] = random_int(random, -1, SOURCE_ROWS - 1);
        rows = SOURCE_ROWS;
    }
    v.p = keep(d, ((size_t)rows + 1) * (size_t)(cols + pad) * sizeof *v.p);
    return v;
}

void group_data_init(struct group_data *d, const struct cavs__ew_spec *spec, int rows, double lo,
                     double hi, uint64_t *random)
{
    *d = (struct group_data){.spec = spec, .rows = rows};
    for (int i = 0; i < spec->ninputs + spec->noutputs; i++) {
        bool input = i < spec->ninputs;
        struct cavs__view *v = &d->views[i];

        *v = random_view(d, input && spec->scalar[i] ? 1 : spec->width, rows, input, random);
        for (ptrdiff_t k = 0;
             input && k < (v->index ? SOURCE_ROWS : rows + 1) * (v->ld ? v->ld : v->cols); k++)
            if (v->ld || k < v->cols)
                v->p[k] = (float)random_double(random, lo, hi);
    }
    group_data_unset(d);
}

void group_data_free(struct group_data *d)
{
    while (d->nmemory > 0)
        free(d->memory[--d->nmemory]);
}

float group_data_input(const struct group_data *d, int i, int row, int column)
{
    const struct cavs__view *v = &d->views[i];
    ptrdiff_t at = v->index ? v->index[row] : row;

    return at < 0 ? 0 : v->p[at * v->ld + (d->spec->scalar[i] ? 0 : column)];
}

float group_data_output(const struct group_data *d, int k, int row, int column)
{
    const struct cavs__view *v = &d->views[d->spec->ninputs + k];

    return v->p[row * v->ld + column];
}

void group_data_unset(struct group_data *d)
{
    for (int k = 0; k < d->spec->noutputs; k++) {
        const struct cavs__view *v = &d->views[d->spec->ninputs + k];

        for (ptrdiff_t i = 0; i < (d->rows + 1) * v->ld; i++)
            v->p[i] = NAN;
    }
}

bool group_data_untouched_outside(const struct group_data *d)
{
    for (int k = 0; k < d->spec->noutputs; k++) {
        const struct cavs__view *v = &d->views[d->spec->ninputs + k];

        for (ptrdiff_t i = 0; i < (d->rows + 1) * v->ld; i++)
            if ((i / v->ld == d->rows || i % v->ld >= v->cols) && !isnan(v->p[i]))
                return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/groups.h"

#include <string.h>

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
        gate[i] = group_op1(g, i < 3 ? "sigmoid" : "tanh", group_op2(g, "add", z[i], group_input(g)));
    child = group_input(g);
    c = group_op2(g, "add", group_op2(g, "mul", gate[1], child), group_op2(g, "mul", gate[0], gate[3]));
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/lstm_chain.h"

#include <stdio.h>

static struct cavs_param *param(struct cavs_model *m, const char *lstm, const char *name, int rows,
                                int hidden)
{
    char full[100];

    snprintf(full, sizeof full, "%s_%s", lstm, name);
    /* gates side by side are four matrices, each with its own range */
    return cavs_model_param(m, full, rows, 4 * hidden,
                            rows > 1 ? cavs_init_glorot(rows, hidden) : CAVS_CONSTANT(0));
}

struct lstm lstm_declare(struct cavs_model *m, const char *name, int width, int hidden)
{
    return (struct lstm){
        .stage = cavs_stage_create(m, name, 2 * hidden),
        .W = param(m, name, "W", width, hidden),
        .U = param(m, name, "U", hidden, hidden),
        .b = param(m, name, "b", 1, hidden),
    };
}

void lstm_define(const struct lstm *l, struct cavs_function *f, struct cavs_symbol *x)
{
    struct cavs_symbol *before[2] = {NULL}, *gate[4] = {NULL}, *state[2];
    struct cavs_symbol *c, *h;

    cavs_split(cavs_gather(f, 0), 2, before); /* c', h' */
    cavs_split(cavs_add(cavs_affine(x, l->W, l->b), cavs_matmul(before[1], l->U)), 4, gate);
    c = cavs_add(cavs_mul(cavs_sigmoid(gate[0]), cavs_tanh(gate[3])),
                 cavs_mul(cavs_sigmoid(cavs_shift(gate[1], 1)), before[0]));
    h = cavs_mul(cavs_sigmoid(gate[2]), cavs_tanh(c));
    state[0] = c;
    state[1] = h;
    cavs_scatter(f, cavs_concat(2, state));
    cavs_push(f, "h", h);
}

void lstm_graph(enum lstm_way way, int n, int *child_ptr, int *children)
{
    for (int v = 0; v <= n; v++)
        child_ptr[v] = v;
    for (int v = 0; v < n; v++)
        children[v] = way == LSTM_FORWARD ? v - 1 : v + 1;
    if (n > 0 && way == LSTM_BACKWARD)
        children[n - 1] = -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ew_reference.c - a group evaluated element by element in double, with the C library's functions:
 * the oracle. */
#include <math.h>
#include <stdlib.h>

#include "codelets/groups/ew_internal.h"

#define ew_exp   exp
#define ew_expm1 expm1
#define ew_log   log
#define ew_tanh  tanh
#define ew_sqrt  sqrt
#define ew_abs   fabs

static double ew_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double ew_softplus(double x)
{
    return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
}

#define FUNCTION(name, expression)                                       \
    static double name(double a, double b, double y, double g, double s) \
    {                                                                    \
        (void)a, (void)b, (void)y, (void)g, (void)s;                     \
        return expression;                                               \
    }

#define CAVS_EW1(name, y, grad_a)         FUNCTION(name##_y, y) FUNCTION(name##_grad_a, grad_a)
#define CAVS_EW2(name, y, grad_a, grad_b) CAVS_EW1(name, y, grad_a) FUNCTION(name##_grad_b, grad_b)
#include "codelets/groups/elementwise.def"
#undef CAVS_EW1
#undef CAVS_EW2

static double (*const functions[][3])(double a, double b, double y, double g, double s) = {
#define CAVS_EW1(name, y, grad_a)         {name##_y, name##_grad_a, NULL},
#define CAVS_EW2(name, y, grad_a, grad_b) {name##_y, name##_grad_a, name##_grad_b},
#include "codelets/groups/elementwise.def"
};

/* One element of an input. */
static double input(const struct cavs__view *v, bool scalar, int row, int column)
{
    ptrdiff_t at = v->index ? v->index[row] : row;

    return at < 0 ? 0 : v->p[at * v->ld + (scalar ? 0 : column)];
}

static double apply(const struct cavs__ew_node *node, const double *values)
{
    const char *letters = node->op < 0 ? "" : cavs__ew_operands(node->op, node->which);
    double letter[128] = {0};

    if (node->op < 0)
        return node->s;
    for (int i = 0; letters[i]; i++)
        letter[(unsigned char)letters[i]] = values[node->in[i]];
    return functions[node->op][node->which](letter['a'], letter['b'], letter['y'], letter['g'],
                                            node->s);
}

/* values[j] is node j, values[~i] input i: the array extends to both sides of the pointer. */
static void element(const struct cavs__ew_spec *spec, const struct cavs__view *v, int row,
                    int column, double *values)
{
    for (int i = 0; i < spec->ninputs; i++)
        values[~i] = input(&v[i], spec->scalar[i], row, column);
    for (int j = 0; j < spec->nnodes; j++)
        values[j] = apply(&spec->nodes[j], values);
    for (int k = 0; k < spec->noutputs; k++) {
        const struct cavs__view *out = &v[spec->ninputs + k];

        out->p[row * out->ld + column] = (float)values[spec->outputs[k]];
    }
}

void cavs__ew_run_reference(const struct cavs__ew_program *p, int rows, const struct cavs__view *v)
{
    double values[CAVS__EW_MAX_VALUES];

    for (int row = 0; row < rows; row++)
        for (int column = 0; column < p->spec.width; column++)
            element(&p->spec, v, row, column, values + p->spec.ninputs);
}

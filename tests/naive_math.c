/* SPDX-License-Identifier: Apache-2.0 */
/* naive_math.c - element-wise operators in double, each with its derivatives, written from the textbook. */
#include <math.h>
#include <string.h>

#include "tests/naive.h"

#define OPERATOR(name) static struct naive_dual name(double a, double b, double s)
#define UNUSED(x) ((void)(x))

OPERATOR(op_add)
{
    UNUSED(s);
    return (struct naive_dual){a + b, 1, 1};
}

OPERATOR(op_sub)
{
    UNUSED(s);
    return (struct naive_dual){a - b, 1, -1};
}

OPERATOR(op_mul)
{
    UNUSED(s);
    return (struct naive_dual){a * b, b, a};
}

OPERATOR(op_div)
{
    UNUSED(s);
    return (struct naive_dual){a / b, 1 / b, -a / (b * b)};
}

OPERATOR(op_neg)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){-a, -1, 0};
}

OPERATOR(op_scale)
{
    UNUSED(b);
    return (struct naive_dual){s * a, s, 0};
}

OPERATOR(op_shift)
{
    UNUSED(b);
    return (struct naive_dual){a + s, 1, 0};
}

OPERATOR(op_sigmoid)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){1 / (1 + exp(-a)), 1 / ((1 + exp(-a)) * (1 + exp(a))), 0};
}

OPERATOR(op_tanh)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){tanh(a), 1 / (cosh(a) * cosh(a)), 0};
}

OPERATOR(op_relu)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){fmax(a, 0), a > 0, 0};
}

OPERATOR(op_exp)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){exp(a), exp(a), 0};
}

OPERATOR(op_log)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){log(a), 1 / a, 0};
}

OPERATOR(op_square)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){a * a, 2 * a, 0};
}

static const struct {
    const char *name;
    struct naive_dual (*apply)(double a, double b, double s);
} operators[] = {
    {"add", op_add},         {"sub", op_sub},   {"mul", op_mul},   {"div", op_div}, {"neg", op_neg},
    {"scale", op_scale},     {"shift", op_shift}, {"sigmoid", op_sigmoid}, {"tanh", op_tanh},
    {"relu", op_relu},       {"exp", op_exp},   {"log", op_log},   {"square", op_square},
};

bool naive_elementwise(const char *op, double a, double b, double s, struct naive_dual *out)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!strcmp(op, operators[i].name)) {
            *out = operators[i].apply(a, b, s);
            return true;
        }
    }
    return false;
}

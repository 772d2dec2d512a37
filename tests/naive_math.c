/* SPDX-License-Identifier: Apache-2.0 */
/* naive_math.c - element-wise operators in double, each with its derivatives, written from the
 * textbook. */
#include <math.h>
#include <string.h>

#include "tests/naive.h"

#define OPERATOR(name) static struct naive_dual name(double a, double b, double s)
#define UNUSED(x)      ((void)(x))

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

/* Equal operands: the second one gets the gradient. */
OPERATOR(op_max)
{
    UNUSED(s);
    return (struct naive_dual){a > b ? a : b, a > b, a <= b};
}

OPERATOR(op_min)
{
    UNUSED(s);
    return (struct naive_dual){a < b ? a : b, a < b, a >= b};
}

OPERATOR(op_copy)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){a, 1, 0};
}

OPERATOR(op_stop_gradient)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){a, 0, 0};
}

OPERATOR(op_abs)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){fabs(a), (a > 0) - (a < 0), 0};
}

OPERATOR(op_sqrt)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){sqrt(a), 1 / (2 * sqrt(a)), 0};
}

OPERATOR(op_leaky_relu)
{
    UNUSED(b);
    return (struct naive_dual){a < 0 ? s * a : a, a > 0 ? 1 : s, 0};
}

OPERATOR(op_elu)
{
    UNUSED(b);
    return (struct naive_dual){a < 0 ? s * (exp(a) - 1) : a, a > 0 ? 1 : s * exp(a), 0};
}

OPERATOR(op_softplus)
{
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){fmax(a, 0) + log1p(exp(-fabs(a))), 1 / (1 + exp(-a)), 0};
}

OPERATOR(op_silu)
{
    double e = exp(-a);
    UNUSED(b), UNUSED(s);
    return (struct naive_dual){a / (1 + e), (1 + e + a * e) / ((1 + e) * (1 + e)), 0};
}

OPERATOR(op_clip)
{
    UNUSED(b);
    return (struct naive_dual){fmin(fmax(a, -s), s), fabs(a) < s, 0};
}

/* 1/2 a (1 + tanh(u)), u = sqrt(2 / pi) (a + 0.044715 a^3) */
OPERATOR(op_gelu)
{
    UNUSED(b), UNUSED(s);
    double c = sqrt(2 / M_PI), t = tanh(c * (a + 0.044715 * a * a * a));
    double du = c * (1 + 3 * 0.044715 * a * a);
    return (struct naive_dual){a / 2 * (1 + t), (1 + t) / 2 + a / 2 * (1 - t * t) * du, 0};
}

/* d^2 / 2 up to |d| = s, then a line of slope s */
OPERATOR(op_huber)
{
    UNUSED(b);
    double d = fabs(a);
    return (struct naive_dual){d <= s ? d * d / 2 : s * d - s * s / 2,
                               fmin(d, s) * (a > 0 ? 1 : -1), 0};
}

/* -b log p - (1 - b) log(1 - p), p = 1 / (1 + e^-a) */
OPERATOR(op_logit_cross_entropy)
{
    UNUSED(s);
    double yes = -log1p(exp(-a)), no = -log1p(exp(a));
    return (struct naive_dual){-b * yes - (1 - b) * no, 1 / (1 + exp(-a)) - b, -a};
}

static const struct {
    const char *name;
    struct naive_dual (*apply)(double a, double b, double s);
} operators[] = {
    {"add", op_add},
    {"sub", op_sub},
    {"mul", op_mul},
    {"div", op_div},
    {"neg", op_neg},
    {"scale", op_scale},
    {"shift", op_shift},
    {"sigmoid", op_sigmoid},
    {"tanh", op_tanh},
    {"relu", op_relu},
    {"exp", op_exp},
    {"log", op_log},
    {"square", op_square},
    {"max", op_max},
    {"min", op_min},
    {"copy", op_copy},
    {"stop_gradient", op_stop_gradient},
    {"abs", op_abs},
    {"sqrt", op_sqrt},
    {"leaky_relu", op_leaky_relu},
    {"elu", op_elu},
    {"softplus", op_softplus},
    {"silu", op_silu},
    {"clip", op_clip},
    {"gelu", op_gelu},
    {"huber", op_huber},
    {"logit_cross_entropy", op_logit_cross_entropy},
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

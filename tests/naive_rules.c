/* SPDX-License-Identifier: Apache-2.0 */
/* naive_rules.c - see naive_rules.h. */
#include "tests/naive_rules.h"

#include <math.h>

#define RULE(name)                                                                                 \
    static double name(const struct cavs_session_options *o, double lr, int t, double w, double g, \
                       double s[2])

/* Weight decay as the gradient of weight_decay / 2 times the square of w. */
static double decayed(const struct cavs_session_options *o, double w, double g)
{
    return g + o->weight_decay * w;
}

RULE(sgd)
{
    (void)t, (void)s;
    return w - lr * decayed(o, w, g);
}

RULE(momentum)
{
    (void)t;
    s[0] = o->momentum * s[0] + decayed(o, w, g);
    return w - lr * s[0];
}

RULE(nesterov)
{
    double d = decayed(o, w, g);

    (void)t;
    s[0] = o->momentum * s[0] + d;
    return w - lr * (d + o->momentum * s[0]);
}

RULE(adagrad)
{
    double d = decayed(o, w, g);

    (void)t;
    s[0] += d * d;
    return w - lr * d / (sqrt(s[0]) + o->epsilon);
}

RULE(rmsprop)
{
    double d = decayed(o, w, g);

    (void)t;
    s[0] = o->decay * s[0] + (1 - o->decay) * d * d;
    return w - lr * d / (sqrt(s[0]) + o->epsilon);
}

/* Adam's direction: algorithm 1 of Kingma & Ba 2015. */
static double moments(const struct cavs_session_options *o, int t, double g, double s[2])
{
    double m, v;

    s[0] = o->beta1 * s[0] + (1 - o->beta1) * g;
    s[1] = o->beta2 * s[1] + (1 - o->beta2) * g * g;
    m = s[0] / (1 - pow(o->beta1, t));
    v = s[1] / (1 - pow(o->beta2, t));
    return m / (sqrt(v) + o->epsilon);
}

RULE(adam)
{
    return w - lr * moments(o, t, decayed(o, w, g), s);
}

/* Algorithm 2 of Loshchilov & Hutter 2019. */
RULE(adamw)
{
    return w - lr * (moments(o, t, g, s) + o->weight_decay * w);
}

naive_rule *const naive_rules[CAVS_OPTIMIZERS] = {
    [CAVS_SGD] = sgd,         [CAVS_MOMENTUM] = momentum, [CAVS_NESTEROV] = nesterov,
    [CAVS_ADAGRAD] = adagrad, [CAVS_RMSPROP] = rmsprop,   [CAVS_ADAM] = adam,
    [CAVS_ADAMW] = adamw,
};

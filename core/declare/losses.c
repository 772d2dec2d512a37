/* SPDX-License-Identifier: Apache-2.0 */
/* losses.c - losses that are made of other operators: one number per vertex. */
#include "core/declare/build.h"

static struct cavs_symbol *sum1(const char *op, struct cavs_symbol *a, float s,
                                struct cavs_place at)
{
    return cavs_sum_at(cavs_apply1_at(op, a, s, at), at);
}

struct cavs_symbol *cavs_squared_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                          struct cavs_place at)
{
    struct cavs_symbol *d = cavs_apply2_at("sub", a, b, at);

    return cavs_apply1_at("scale", sum1("square", d, 0, at), 0.5f, at);
}

struct cavs_symbol *cavs_absolute_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                           struct cavs_place at)
{
    return sum1("abs", cavs_apply2_at("sub", a, b, at), 0, at);
}

struct cavs_symbol *cavs_huber_error_at(struct cavs_symbol *a, struct cavs_symbol *b, float s,
                                        struct cavs_place at)
{
    struct cavs_symbol *d = cavs_apply2_at("sub", a, b, at);

    if (d && !(s > 0)) {
        FAIL(d->function, CAVS_EINVAL, "huber_error: the limit %g is not positive", (double)s);
        return NULL;
    }
    return sum1("huber", d, s, at);
}

struct cavs_symbol *cavs_binary_cross_entropy_at(struct cavs_symbol *logits,
                                                 struct cavs_symbol *truths, struct cavs_place at)
{
    return cavs_sum_at(cavs_apply2_at("logit_cross_entropy", logits, truths, at), at);
}

/* The label's own term of the sum is the margin. */
struct cavs_symbol *cavs_hinge_at(struct cavs_symbol *x, struct cavs_symbol *labels, float margin,
                                  struct cavs_place at)
{
    struct cavs_symbol *own = cavs_pick_at(x, labels, at), *above, *sum, *counts;

    if (own && !(margin > 0)) {
        FAIL(own->function, CAVS_EINVAL, "hinge: the margin %g is not positive", (double)margin);
        return NULL;
    }
    above = cavs_apply1_at("shift", cavs_apply2_at("sub", x, own, at), margin, at);
    sum = cavs_apply1_at("shift", sum1("relu", above, 0, at), -margin, at);
    if (!sum)
        return NULL;
    counts = cavs__add_symbol(
        sum->function, (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1, .at = at}, 1, &labels);
    return cavs_apply2_at("mul", sum, counts, at);
}

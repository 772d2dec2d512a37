/* SPDX-License-Identifier: Apache-2.0 */
/* losses.c - losses that are made of other operators: one number per vertex. */
#include "core/declare/build.h"

static struct cavs_symbol *sum1(const char *op, struct cavs_symbol *a, float s, const char *file,
                                int line)
{
    return cavs_sum_at(cavs_apply1_at(op, a, s, file, line), file, line);
}

struct cavs_symbol *cavs_squared_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                          const char *file, int line)
{
    struct cavs_symbol *d = cavs_apply2_at("sub", a, b, file, line);

    return cavs_apply1_at("scale", sum1("square", d, 0, file, line), 0.5f, file, line);
}

struct cavs_symbol *cavs_absolute_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                           const char *file, int line)
{
    return sum1("abs", cavs_apply2_at("sub", a, b, file, line), 0, file, line);
}

struct cavs_symbol *cavs_huber_error_at(struct cavs_symbol *a, struct cavs_symbol *b, float s,
                                        const char *file, int line)
{
    struct cavs_symbol *d = cavs_apply2_at("sub", a, b, file, line);

    if (d && !(s > 0)) {
        FAIL(d->function, CAVS_EINVAL, "huber_error: the limit %g is not positive", (double)s);
        return NULL;
    }
    return sum1("huber", d, s, file, line);
}

struct cavs_symbol *cavs_binary_cross_entropy_at(struct cavs_symbol *logits,
                                                 struct cavs_symbol *truths, const char *file,
                                                 int line)
{
    return cavs_sum_at(cavs_apply2_at("logit_cross_entropy", logits, truths, file, line), file,
                       line);
}

/* The label's own term of the sum is the margin. */
struct cavs_symbol *cavs_hinge_at(struct cavs_symbol *x, struct cavs_symbol *labels, float margin,
                                  const char *file, int line)
{
    struct cavs_symbol *own = cavs_pick_at(x, labels, file, line), *above, *sum, *counts;

    if (own && !(margin > 0)) {
        FAIL(own->function, CAVS_EINVAL, "hinge: the margin %g is not positive", (double)margin);
        return NULL;
    }
    above = cavs_apply1_at("shift", cavs_apply2_at("sub", x, own, file, line), margin, file, line);
    sum = cavs_apply1_at("shift", sum1("relu", above, 0, file, line), -margin, file, line);
    if (!sum)
        return NULL;
    counts = cavs__add_symbol(
        sum->function,
        (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1, .file = file, .line = line}, 1,
        &labels);
    return cavs_apply2_at("mul", sum, counts, file, line);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* losses.c - what is reported of vertices, and losses: one number per vertex. */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/operators/family.h"

/* ---- metrics ---- */

/* The model's metric of that name, made at first mention; NULL: reported. */
static struct cavs__metric *find_metric(struct cavs_function *f, const char *name,
                                        struct cavs_place at)
{
    struct cavs_model *m = f->stage->model;
    struct cavs__metric *metric = cavs__known_metric(m, name);

    if (metric || !cavs__may_note(f, "metric", at))
        return metric;
    metric = cavs__model_metric(m, name);
    if (!metric && m->finished && m->nmetrics == m->most_metrics)
        FAIL(f, CAVS_EINVAL, "metric %s: a model counts at most %d metrics of tapes", name,
             CAVS__TAPE_METRICS);
    else if (!metric)
        FAIL(f, CAVS_ENOMEM, "out of memory for metric %s", name);
    return metric;
}

/* The same, while a tape records; NULL: there is none yet.  It is likely that of the last time. */
static struct cavs__metric *likely_metric(const struct cavs_function *f, const char *name)
{
    struct cavs__metric *metric = (*f->recorder->likely)->metric;

    return metric && strcmp(metric->name, name) == 0 ? metric
                                                     : cavs__known_metric(f->stage->model, name);
}

static __attribute__((noinline)) void checked_metric(struct cavs_function *f, const char *name,
                                                     struct cavs_symbol *x,
                                                     struct cavs_symbol *where, bool is_loss,
                                                     struct cavs_place at)
{
    const char *op = is_loss ? "loss" : "metric";
    struct cavs_symbol *in[2] = {x, where};
    struct cavs__metric *metric;

    if (!cavs__is_function_for(f, x, op, at) || !cavs__open_for(f, op, at))
        return;
    if (!x || !name) {
        FAIL(f, CAVS_EPROGRAM, "%s %s of %s", op, name ? name : "(without a name)",
             x ? cavs__symbol_label(x) : "NULL");
        return;
    }
    if (!cavs__is_value(f, x, op, at) || !cavs__is_of_vertices(f, x, op, at) ||
        (where && (!cavs__is_ids(f, where, op, at) || !cavs__is_of_vertices(f, where, op, at))))
        return;
    if (x->width != 1) {
        FAIL(f, CAVS_ESHAPE, "%s %s: %s has width %d, not 1 (cavs_sum)", op, name,
             cavs__symbol_label(x), x->width);
        return;
    }
    if (is_loss && !f->recorder)
        f->stage->model->has_loss = true;
    metric = find_metric(f, name, at);
    if (metric)
        cavs__add_symbol(
            f,
            (struct cavs_symbol){
                .op = CAVS__OP_METRIC, .width = 1, .metric = metric, .is_loss = is_loss, .at = at},
            where ? 2 : 1, in);
}

void cavs_metric_at(struct cavs_function *f, const char *name, struct cavs_symbol *x,
                    struct cavs_symbol *where, bool is_loss, struct cavs_place at)
{
    bool usual = false;

    if (f && f->recorder && name && x)
        usual = cavs__add_usual(f,
                                (struct cavs_symbol){.op = CAVS__OP_METRIC,
                                                     .width = 1,
                                                     .metric = likely_metric(f, name),
                                                     .is_loss = is_loss,
                                                     .at = at},
                                where ? 2 : 1, (struct cavs_symbol *[]){x, where});
    if (!usual)
        checked_metric(f, name, x, where, is_loss, at);
}

/* The gradient of a metric is 1 where the loss counts. Elsewhere a cross-entropy of the same labels
 * is 0, and so is its gradient. */
static void diff_metric(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *x = y->inputs[0];
    bool masked = y->ninputs == 2 && !(x->op == CAVS__OP_XENT && x->inputs[1] == y->inputs[1]);

    (void)g;
    if (!y->is_loss)
        return;
    cavs__contribute(
        d, y, x,
        masked ? cavs__diff_symbol(d, y, (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1}, 1,
                                   &y->inputs[1])
               : cavs__diff_constant(d, y, 1, 1));
}

static int emit_metric(struct cavs__placer *p, const struct cavs_symbol *x)
{
    struct cavs__step *s;
    int rc = cavs__new_step(p, x, 3, &s);

    if (rc)
        return rc;
    s->v[0] = cavs__operand_of(p, x->inputs[0], true);
    s->v[1] = (struct cavs__operand){.buffer = CAVS__NO_BUFFER, .mode = CAVS__ABSENT};
    if (x->ninputs == 2)
        s->v[1] = cavs__operand_of(p, x->inputs[1], true);
    s->v[2] = cavs__fixed_operand(p->plan->metric, 4 * x->metric->number, 4);
    return CAVS_OK;
}

const struct cavs__operator cavs__operator_metric = {
    .name = "metric",
    .role = CAVS__ROLE_SUM,
    .domain = cavs__domain_of_operands,
    .diff = diff_metric,
    .kernel = &cavs__kernel_metric,
    .emit = emit_metric,
};

/* ---- against labels ---- */

static __attribute__((noinline)) struct cavs_symbol *checked_against_labels(
    enum cavs__op op, struct cavs_symbol *logits, struct cavs_symbol *labels, struct cavs_place at)
{
    struct cavs_function *f = logits ? logits->function : NULL;
    struct cavs_symbol *in[2] = {logits, labels};
    const char *name = cavs__operators[op]->name;

    if (!labels || !cavs__open_for(f, name, at) || !cavs__is_value(f, logits, name, at) ||
        !cavs__is_ids(f, labels, name, at) || !cavs__to_one_domain(f, name, 2, in, at))
        return NULL;
    if (!cavs__limit_ids(labels, logits->width, name, at))
        return NULL;
    return cavs__add_symbol(f, (struct cavs_symbol){.op = op, .width = 1, .at = at}, 2, in);
}

static inline struct cavs_symbol *against_labels(enum cavs__op op, struct cavs_symbol *logits,
                                                 struct cavs_symbol *labels, struct cavs_place at)
{
    struct cavs_symbol *usual = NULL;

    if (logits && labels && labels->k < logits->width)
        usual =
            cavs__add_usual(logits->function, (struct cavs_symbol){.op = op, .width = 1, .at = at},
                            2, (struct cavs_symbol *[]){logits, labels});
    return usual ? usual : checked_against_labels(op, logits, labels, at);
}

struct cavs_symbol *cavs_softmax_cross_entropy_at(struct cavs_symbol *logits,
                                                  struct cavs_symbol *labels, struct cavs_place at)
{
    return against_labels(CAVS__OP_XENT, logits, labels, at);
}

static void diff_xent(struct cavs__diff *d, struct cavs_symbol *y, struct cavs_symbol *g)
{
    struct cavs_symbol *in[3] = {y->inputs[0], y->inputs[1], g};

    if (y->inputs[0]->needs_grad)
        cavs__contribute(d, y, y->inputs[0],
                         cavs__diff_symbol(d, y,
                                           (struct cavs_symbol){.op = CAVS__OP_XENT_GRAD,
                                                                .width = y->inputs[0]->width},
                                           3, in));
}

const struct cavs__operator cavs__operator_xent = {
    .name = "softmax_cross_entropy",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = diff_xent,
    .kernel = &cavs__kernel_softmax_xent,
    .emit = cavs__emit_plain,
};

const struct cavs__operator cavs__operator_xent_grad = {
    .name = "softmax_cross_entropy_grad",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__of_df,
    .kernel = &cavs__kernel_softmax_xent_grad,
    .emit = cavs__emit_plain,
};

struct cavs_symbol *cavs_correct_at(struct cavs_symbol *logits, struct cavs_symbol *labels,
                                    struct cavs_place at)
{
    return against_labels(CAVS__OP_CORRECT, logits, labels, at);
}

const struct cavs__operator cavs__operator_correct = {
    .name = "correct",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
    .diff = cavs__not_differentiable,
    .kernel = &cavs__kernel_correct,
    .emit = cavs__emit_plain,
};

/* ---- losses that are made of other operators ---- */

struct cavs_symbol *cavs_squared_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                          struct cavs_place at)
{
    struct cavs_symbol *d = cavs_sub_at(a, b, at);

    return cavs_scale_at(cavs_sum_at(cavs_square_at(d, 0, at), at), 0.5f, at);
}

struct cavs_symbol *cavs_absolute_error_at(struct cavs_symbol *a, struct cavs_symbol *b,
                                           struct cavs_place at)
{
    return cavs_sum_at(cavs_abs_at(cavs_sub_at(a, b, at), 0, at), at);
}

struct cavs_symbol *cavs_huber_error_at(struct cavs_symbol *a, struct cavs_symbol *b, float s,
                                        struct cavs_place at)
{
    struct cavs_symbol *d = cavs_sub_at(a, b, at);

    if (d && !(s > 0)) {
        FAIL(d->function, CAVS_EINVAL, "huber_error: the limit %g is not positive", (double)s);
        return NULL;
    }
    return cavs_sum_at(cavs_huber_at(d, s, at), at);
}

struct cavs_symbol *cavs_binary_cross_entropy_at(struct cavs_symbol *logits,
                                                 struct cavs_symbol *truths, struct cavs_place at)
{
    return cavs_sum_at(cavs_logit_cross_entropy_at(logits, truths, at), at);
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
    above = cavs_shift_at(cavs_sub_at(x, own, at), margin, at);
    sum = cavs_shift_at(cavs_sum_at(cavs_relu_at(above, 0, at), at), -margin, at);
    if (!sum)
        return NULL;
    counts = cavs__add_symbol(
        sum->function, (struct cavs_symbol){.op = CAVS__OP_MASK, .width = 1, .at = at}, 1, &labels);
    return cavs_mul_at(sum, counts, at);
}

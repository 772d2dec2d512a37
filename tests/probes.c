/* SPDX-License-Identifier: Apache-2.0 */
/* probes.c - see probes.h. */
#include "tests/probes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"

enum { WIDTH = PROBE_WIDTH };

static struct cavs_symbol *apply_elementwise(const struct probe *p, struct cavs_function *f,
                                             struct cavs_symbol *a, struct cavs_symbol *b)
{
    (void)f;
    if (b)
        return cavs_apply2_at(cavs__ew_name(p->op), a, b, CAVS_HERE);
    return cavs_apply1_at(cavs__ew_name(p->op), a, p->s, CAVS_HERE);
}

/* ---- structural operators: a has WIDTH columns, b too ---- */

static struct cavs_model *model_of(struct cavs_function *f)
{
    return f->stage->model;
}

#define STRUCTURAL(name)                                                            \
    static struct cavs_symbol *name(const struct probe *p, struct cavs_function *f, \
                                    struct cavs_symbol *a, struct cavs_symbol *b)

STRUCTURAL(apply_matmul)
{
    (void)p;
    return cavs_add(cavs_matmul(a, zoo_weight(model_of(f), "W", WIDTH, 4)), cavs_sum(b));
}

STRUCTURAL(apply_matmul_t)
{
    (void)p;
    return cavs_add(cavs_matmul_t(a, zoo_weight(model_of(f), "W", 4, WIDTH)), cavs_sum(b));
}

STRUCTURAL(apply_tied)
{
    (void)p;
    struct cavs_param *words = zoo_weight(model_of(f), "words", 5, WIDTH);
    return cavs_mul(cavs_matmul_t(cavs_mul(a, cavs_lookup(words, cavs_pull_ids(f, "word"))), words),
                    cavs_sum(b));
}

STRUCTURAL(apply_matmul_select)
{
    (void)p;
    return cavs_add(cavs_matmul_select(a, zoo_weight(model_of(f), "W", 2 * WIDTH, 4), 2,
                                       cavs_pull_ids(f, "block")),
                    cavs_sum(b));
}

STRUCTURAL(apply_affine)
{
    (void)p, (void)b;
    return cavs_affine(a, zoo_weight(model_of(f), "W", WIDTH, 4),
                       zoo_weight(model_of(f), "bias", 1, 4));
}

STRUCTURAL(apply_use)
{
    (void)p;
    return cavs_mul(cavs_mul(a, b), cavs_use(f, zoo_weight(model_of(f), "bias", 1, WIDTH)));
}

STRUCTURAL(apply_lookup)
{
    (void)p;
    struct cavs_symbol *row =
        cavs_lookup(zoo_weight(model_of(f), "words", 5, WIDTH), cavs_pull_ids(f, "word"));
    return cavs_mul(cavs_mul(a, row), b);
}

STRUCTURAL(apply_dot)
{
    (void)p, (void)f;
    return cavs_mul(cavs_dot(a, b), cavs_dot(b, b));
}

STRUCTURAL(apply_outer)
{
    (void)p, (void)f;
    return cavs_outer(cavs_slice(a, 0, 2), b);
}

/* a and its square, below one another: a matrix of two rows. */
static struct cavs_symbol *two_rows(struct cavs_symbol *a)
{
    return cavs_concat(2, ((struct cavs_symbol *[]){a, cavs_square(a)}));
}

STRUCTURAL(apply_product)
{
    (void)p, (void)f;
    return cavs_product(cavs_product(two_rows(a), two_rows(b), 2, 2), two_rows(b), 2, WIDTH);
}

STRUCTURAL(apply_product_tn)
{
    (void)p, (void)f;
    return cavs_product_tn(two_rows(a), two_rows(b), WIDTH, WIDTH);
}

STRUCTURAL(apply_product_nt)
{
    (void)p, (void)f;
    return cavs_product_nt(two_rows(a), two_rows(b), 2, 2);
}

STRUCTURAL(apply_matrix_times_vector)
{
    (void)p, (void)f;
    return cavs_product(two_rows(a), b, 2, 1);
}

STRUCTURAL(apply_vector_times_matrix)
{
    (void)p, (void)f;
    return cavs_product(cavs_slice(a, 1, 2), two_rows(b), 1, WIDTH);
}

STRUCTURAL(apply_concat)
{
    (void)p, (void)f;
    return cavs_square(cavs_concat(3, ((struct cavs_symbol *[]){b, a, b})));
}

STRUCTURAL(apply_slice)
{
    (void)p, (void)f;
    return cavs_mul(cavs_slice(a, 1, 2), cavs_slice(b, 0, 2));
}

STRUCTURAL(apply_overlapping_slices)
{
    (void)p, (void)f;
    struct cavs_symbol *both = cavs_mul(a, b);
    return cavs_mul(cavs_slice(both, 0, 2), cavs_slice(both, 1, 2));
}

STRUCTURAL(apply_split)
{
    (void)p, (void)f;
    struct cavs_symbol *part[WIDTH];
    cavs_split(cavs_mul(a, b), WIDTH, part);
    return cavs_mul(part[0], cavs_mul(part[2], part[1]));
}

STRUCTURAL(apply_sum)
{
    (void)p, (void)f;
    return cavs_mul(cavs_sum(cavs_square(a)), cavs_sum(b));
}

STRUCTURAL(apply_cross_entropy)
{
    (void)p;
    return cavs_softmax_cross_entropy(cavs_scale(cavs_mul(a, b), 2), cavs_pull_ids(f, "label"));
}

STRUCTURAL(apply_squared_error)
{
    (void)p, (void)f;
    return cavs_squared_error(a, b);
}

STRUCTURAL(apply_broadcast)
{
    (void)p, (void)f;
    struct cavs_symbol *one = cavs_slice(a, 0, 1), *other = cavs_slice(b, 2, 1);
    return cavs_add(cavs_mul(one, b), cavs_sub(other, cavs_mul(other, a)));
}

STRUCTURAL(apply_same_operand_twice)
{
    (void)p, (void)f;
    return cavs_mul(cavs_div(cavs_shift(a, 3), cavs_shift(a, 3)), cavs_mul(b, b));
}

STRUCTURAL(apply_constant)
{
    (void)p;
    return cavs_mul(cavs_sub(cavs_constant(f, WIDTH, 0.7f), a),
                    cavs_add(b, cavs_constant(f, 1, 0.3f)));
}

STRUCTURAL(apply_mean)
{
    (void)p, (void)f;
    return cavs_mul(cavs_mean(a), cavs_mean(cavs_square(b)));
}

/* Column i lies between i and i + 1, whatever a and b are: none of them overtakes another. */
STRUCTURAL(apply_largest)
{
    (void)p, (void)f;
    struct cavs_symbol *small = cavs_scale(cavs_mul(a, b), 0.1f), *part[WIDTH];
    cavs_split(small, WIDTH, part);
    for (int i = 0; i < WIDTH; i++)
        part[i] = cavs_shift(part[i], (float)(i * 2 % WIDTH));
    return cavs_mul(cavs_largest(cavs_concat(WIDTH, part)), b);
}

STRUCTURAL(apply_softmax)
{
    (void)p, (void)f;
    return cavs_mul(cavs_softmax(cavs_scale(a, 2)), b);
}

STRUCTURAL(apply_log_softmax)
{
    (void)p, (void)f;
    return cavs_mul(cavs_log_softmax(cavs_scale(a, 2)), b);
}

STRUCTURAL(apply_pick)
{
    (void)p;
    return cavs_mul(cavs_pick(cavs_square(a), cavs_pull_ids(f, "label")), b);
}

STRUCTURAL(apply_layer_norm)
{
    (void)p;
    return cavs_mul(cavs_layer_norm(cavs_scale(a, 3), zoo_weight(model_of(f), "gain", 1, WIDTH),
                                    zoo_weight(model_of(f), "bias", 1, WIDTH)),
                    b);
}

STRUCTURAL(apply_rms_norm)
{
    (void)p;
    return cavs_mul(cavs_rms_norm(cavs_scale(a, 3), zoo_weight(model_of(f), "gain", 1, WIDTH)), b);
}

/* What is subtracted is far from zero. */
STRUCTURAL(apply_absolute_error)
{
    (void)p, (void)f;
    return cavs_absolute_error(cavs_shift(a, 4), cavs_mul(a, b));
}

STRUCTURAL(apply_huber_error)
{
    (void)p, (void)f;
    return cavs_add(cavs_huber_error(a, b, 9), cavs_huber_error(cavs_shift(a, 9), b, 2));
}

STRUCTURAL(apply_binary_cross_entropy)
{
    (void)p, (void)f;
    return cavs_binary_cross_entropy(cavs_scale(a, 3), cavs_sigmoid(b));
}

/* Every term but one of three is above zero, by far more than a step. */
STRUCTURAL(apply_hinge)
{
    (void)p;
    struct cavs_symbol *small = cavs_scale(cavs_mul(a, b), 0.1f), *part[WIDTH];
    cavs_split(small, WIDTH, part);
    part[0] = cavs_shift(part[0], -10);
    return cavs_hinge(cavs_concat(WIDTH, part), cavs_pull_ids(f, "label"), 2);
}

static const struct probe structural[] = {
    {"matmul", apply_matmul, -1, WIDTH, WIDTH, 0},
    {"matmul t", apply_matmul_t, -1, WIDTH, WIDTH, 0},
    {"tied", apply_tied, -1, WIDTH, WIDTH, 0},
    {"matmul select", apply_matmul_select, -1, WIDTH, WIDTH, 0},
    {"affine", apply_affine, -1, WIDTH, WIDTH, 0},
    {"use", apply_use, -1, WIDTH, WIDTH, 0},
    {"lookup", apply_lookup, -1, WIDTH, WIDTH, 0},
    {"dot", apply_dot, -1, WIDTH, WIDTH, 0},
    {"outer", apply_outer, -1, WIDTH, WIDTH, 0},
    {"product", apply_product, -1, WIDTH, WIDTH, 0},
    {"product tn", apply_product_tn, -1, WIDTH, WIDTH, 0},
    {"product nt", apply_product_nt, -1, WIDTH, WIDTH, 0},
    {"matrix times vector", apply_matrix_times_vector, -1, WIDTH, WIDTH, 0},
    {"vector times matrix", apply_vector_times_matrix, -1, WIDTH, WIDTH, 0},
    {"concat", apply_concat, -1, WIDTH, WIDTH, 0},
    {"slice", apply_slice, -1, WIDTH, WIDTH, 0},
    {"overlapping slices", apply_overlapping_slices, -1, WIDTH, WIDTH, 0},
    {"split", apply_split, -1, WIDTH, WIDTH, 0},
    {"sum", apply_sum, -1, WIDTH, WIDTH, 0},
    {"softmax cross entropy", apply_cross_entropy, -1, WIDTH, WIDTH, 0},
    {"squared error", apply_squared_error, -1, WIDTH, WIDTH, 0},
    {"mean", apply_mean, -1, WIDTH, WIDTH, 0},
    {"largest", apply_largest, -1, WIDTH, WIDTH, 0},
    {"softmax", apply_softmax, -1, WIDTH, WIDTH, 0},
    {"log softmax", apply_log_softmax, -1, WIDTH, WIDTH, 0},
    {"pick", apply_pick, -1, WIDTH, WIDTH, 0},
    {"layer norm", apply_layer_norm, -1, WIDTH, WIDTH, 0},
    {"rms norm", apply_rms_norm, -1, WIDTH, WIDTH, 0},
    {"absolute error", apply_absolute_error, -1, WIDTH, WIDTH, 0},
    {"huber error", apply_huber_error, -1, WIDTH, WIDTH, 0},
    {"binary cross entropy", apply_binary_cross_entropy, -1, WIDTH, WIDTH, 0},
    {"hinge", apply_hinge, -1, WIDTH, WIDTH, 0},
    {"broadcast", apply_broadcast, -1, WIDTH, WIDTH, 0},
    {"same operand twice", apply_same_operand_twice, -1, WIDTH, WIDTH, 0},
    {"constant", apply_constant, -1, WIDTH, WIDTH, 0},
};

/* ---- the model around a probe ---- */

static struct cavs_symbol *operand(struct cavs_function *f, const char *name, int width)
{
    return cavs_lookup(zoo_weight(model_of(f), name, PROBE_VERTICES, width),
                       cavs_pull_ids(f, "vertex"));
}

struct cavs_model *probe_model(const struct probe *p)
{
    struct cavs_model *m = NULL;
    check_ok(cavs_model_create(&m));
    struct cavs_function *f = cavs_function_create(cavs_stage_create(m, "s", 0), "f");
    struct cavs_symbol *a = operand(f, "a", p->wa), *b = p->wb ? operand(f, "b", p->wb) : NULL;
    struct cavs_symbol *y = p->apply(p, f, a, b);
    struct cavs_symbol *weight = cavs_pull(f, "weight", cavs_symbol_width(y));
    cavs_loss(f, "loss", cavs_sum(cavs_mul(y, weight)), cavs_pull_ids(f, "counted"));
    check_ok(cavs_model_finish(m));
    return m;
}

/* ---- the list of probes ---- */

/* Where the operator has none, it is passed over. */
static float attribute(const char *op)
{
    if (!strcmp(op, "clip") || !strcmp(op, "huber"))
        return PROBE_LIMIT;
    return !strcmp(op, "elu") || !strcmp(op, "leaky_relu")
               ? 0.3f
               : -0.75f; /* must not be negative there */
}

static int add_probe(struct probe *list, int op, int wa, int wb)
{
    *list = (struct probe){.apply = apply_elementwise,
                           .op = op,
                           .s = attribute(cavs__ew_name(op)),
                           .wa = wa,
                           .wb = wb};
    if (wb)
        snprintf(list->name, sizeof list->name, "%s of widths %d and %d", cavs__ew_name(op), wa,
                 wb);
    else
        snprintf(list->name, sizeof list->name, "%s", cavs__ew_name(op));
    return 1;
}

/* All operators of the table, those of two operands with every way of repeating a column. */
static int list_probes(struct probe *list)
{
    int n = 0;
    for (int op = 0; op < cavs__ew_count(); op++) {
        if (cavs__ew_arity(op) == 1) {
            n += add_probe(list + n, op, WIDTH, 0);
            continue;
        }
        n += add_probe(list + n, op, WIDTH, WIDTH);
        n += add_probe(list + n, op, 1, WIDTH);
        n += add_probe(list + n, op, WIDTH, 1);
    }
    for (size_t i = 0; i < sizeof structural / sizeof *structural; i++)
        list[n++] = structural[i];
    return n;
}

int probe_list(const struct probe **list)
{
    static struct probe *probes;
    static int n;

    if (!probes) {
        probes = calloc(3 * (size_t)cavs__ew_count() + sizeof structural / sizeof *structural,
                        sizeof *probes);
        assert_non_null(probes);
        n = list_probes(probes);
    }
    *list = probes;
    return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_fusion.c - which steps a plan makes of a function: element-wise operators that become one
 * group, those that do not, and products that may run at once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/compile/plan.h"
#include "tests/zoo.h"

enum { W = 256, MOST = 40 };

/* The steps of a chain part that computes one function of gathered states. */
struct built {
    struct cavs_model *model;
    struct cavs__plan *plan;
    const struct cavs__part *part;
};

typedef void declaration(struct cavs_model *m, struct cavs_function *f);

static struct built build_with(declaration *declare, struct cavs__plan_options options)
{
    struct built b = {0};
    struct cavs_function *f;

    setenv("CAVS_FUSION", "interpret", 1);
    assert_int_equal(cavs_model_create(&b.model), 0);
    f = cavs_function_create(cavs_stage_create(b.model, "tree", W), "node");
    declare(b.model, f);
    if (cavs_model_finish(b.model) || cavs__plan_create(b.model, &options, &b.plan))
        fail_msg("%s", cavs_error_message());
    for (int i = 0; i < b.plan->stages[0].nkinds; i++)
        if (b.plan->stages[0].kinds[i]->klass == CAVS__CHAIN)
            b.part = b.plan->stages[0].kinds[i]->parts[0];
    assert_non_null(b.part);
    return b;
}

static struct built build(declaration *declare, bool no_fusion)
{
    return build_with(declare,
                      (struct cavs__plan_options){.no_fusion = no_fusion, .l2_bytes = 1 << 20});
}

static void drop(struct built *b)
{
    cavs__plan_destroy(b->plan);
    cavs_model_destroy(b->model);
}

/* Fails unless these are the steps: e for a group, p for a product, one letter each. */
static void has_steps(const struct built *b, const char *want)
{
    char got[MOST + 1] = "";

    assert_true(b->part->nsteps <= MOST);
    for (int i = 0; i < b->part->nsteps; i++) {
        const char *kernel = b->part->steps[i].call.kernel->name;

        got[i] = strcmp(kernel, "elementwise") == 0 ? 'e' : strcmp(kernel, "gemm") == 0 ? 'p' : '?';
    }
    assert_string_equal(got, want);
}

static struct cavs_symbol *times(struct cavs_model *m, struct cavs_symbol *x, const char *name)
{
    return cavs_matmul(x, zoo_weight(m, name, W, W));
}

static struct cavs_symbol *sum(struct cavs_symbol *const *x, int n)
{
    struct cavs_symbol *all = x[0];

    for (int i = 1; i < n; i++)
        all = cavs_add(all, x[i]);
    return all;
}

/* ---- groups ---- */

/* Nothing that one strand reads is read by another; each ends in a product. */
static void strands(struct cavs_model *m, struct cavs_function *f, int n)
{
    struct cavs_symbol *y[MOST];
    char name[16];

    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "w%d", i);
        y[i] = cavs_matmul(cavs_tanh(cavs_neg(cavs_gather(f, i))), zoo_weight(m, name, W, W));
    }
    cavs_scatter(f, sum(y, n));
}

static void three_strands(struct cavs_model *m, struct cavs_function *f)
{
    strands(m, f, 3);
}

static void groups_that_share_nothing_are_one_step(void **unused)
{
    struct built b = build(three_strands, false);

    (void)unused;
    has_steps(&b, "epppe");
    assert_int_equal(b.part->steps[0].nviews, 6);
    drop(&b);
}

static void without_fusion_every_operator_is_a_step(void **unused)
{
    struct built b = build(three_strands, true);

    (void)unused;
    has_steps(&b, "eeeeeepppee");
    drop(&b);
}

/* Two operands each: thirteen have more than a joined group may have. */
static void thirteen_strands(struct cavs_model *m, struct cavs_function *f)
{
    strands(m, f, 13);
}

static void a_joined_group_has_a_limit(void **unused)
{
    struct built b = build(thirteen_strands, false);

    (void)unused;
    has_steps(&b, "eepppppppppppppe");
    assert_int_equal(b.part->steps[0].nviews, 24);
    assert_int_equal(b.part->steps[1].nviews, 2);
    drop(&b);
}

/* ---- products ---- */

static void products_are_taken_together_up_to_eight(void **unused)
{
    struct built b = build(thirteen_strands, false);

    (void)unused;
    assert_int_equal(b.part->steps[2].together, 8);
    assert_int_equal(b.part->steps[9].together, 1);
    assert_int_equal(b.part->steps[10].together, 5);
    drop(&b);
}

static void a_product_of_a_product(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "first", W, W));

    cavs_scatter(f, cavs_matmul(x, zoo_weight(m, "second", W, W)));
}

static void a_product_waits_for_the_one_it_reads(void **unused)
{
    struct built b = build(a_product_of_a_product, false);

    (void)unused;
    has_steps(&b, "pp");
    assert_int_equal(b.part->steps[0].together, 1);
    assert_int_equal(b.part->steps[1].together, 1);
    drop(&b);
}

/* Products that run at once read and write different memory. */
static void scratch_of_products_taken_together_is_apart(void **unused)
{
    struct built b = build(three_strands, false);
    const struct cavs__step *s = &b.part->steps[1];

    (void)unused;
    assert_int_equal(s->together, 3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            assert_int_equal(s[i].v[2].buffer, CAVS__SCRATCH);
            assert_int_not_equal(s[i].v[2].region, s[j].v[0].region);
            assert_true(i == j || s[i].v[2].region != s[j].v[2].region);
        }
    drop(&b);
}

/* ---- groups that are made beside products ---- */

static void a_product_of_both_children(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *both[] = {cavs_gather(f, 0), cavs_gather(f, 1)};

    cavs_scatter(f, cavs_tanh(cavs_matmul(cavs_concat(2, both), zoo_weight(m, "both", 2 * W, W))));
}

static void copies_are_made_beside_the_product_that_reads_them(void **unused)
{
    struct built b = build(a_product_of_both_children, false);

    (void)unused;
    has_steps(&b, "epe");
    assert_int_equal(b.part->steps[0].together, 2);
    assert_int_equal(b.part->steps[1].together, 1);
    drop(&b);
}

/* A product of both children, which are copied for it, beside one of each child. */
static void products_of_both_and_of_each(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *both[] = {cavs_gather(f, 0), cavs_gather(f, 1)};
    struct cavs_symbol *x = cavs_matmul(cavs_concat(2, both), zoo_weight(m, "both", 2 * W, W));
    struct cavs_symbol *each = times(m, cavs_each_child(f), "each");

    cavs_scatter(f, cavs_sum_children(cavs_tanh(cavs_add(each, x))));
}

static void copies_are_made_before_products_of_other_rows(void **unused)
{
    struct built b = build_with(
        products_of_both_and_of_each,
        (struct cavs__plan_options){.few_launches = true, .no_sharing = true, .l2_bytes = 1 << 20});

    (void)unused;
    has_steps(&b, "eppe?");
    assert_int_equal(b.part->steps[0].together, 1);
    assert_int_equal(b.part->steps[1].together, 2);
    drop(&b);
}

/* Half of one product and another one, twice. */
static void halves_and_products(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = cavs_gather(f, 0), *both[2];
    struct cavs_symbol *all = cavs_matmul(x, zoo_weight(m, "all", W, W));
    char name[16];

    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "half%d", i);
        both[i] = cavs_add(cavs_slice(all, i * W / 2, W / 2),
                           cavs_matmul(cavs_gather(f, i + 1), zoo_weight(m, name, W, W / 2)));
    }
    cavs_scatter(f, cavs_concat(2, both));
}

static void a_sum_of_products_is_made_with_them(void **unused)
{
    struct built b = build(halves_and_products, false);

    (void)unused;
    has_steps(&b, "pppe");
    assert_int_equal(b.part->steps[0].together, 4);
    drop(&b);
}

/* The second sum reads a product of the first one's. */
static void a_product_in_two_sums(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *a = cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "a", W, W));
    struct cavs_symbol *b = cavs_matmul(cavs_gather(f, 1), zoo_weight(m, "b", W, W));

    cavs_scatter(f, cavs_add(a, cavs_matmul(cavs_add(a, b), zoo_weight(m, "c", W, W))));
}

static void not_if_others_read_a_product(void **unused)
{
    struct built b = build(a_product_in_two_sums, false);

    (void)unused;
    has_steps(&b, "ppepe");
    assert_int_equal(b.part->steps[0].together, 2);
    assert_int_equal(b.part->steps[3].together, 1);
    drop(&b);
}

/* ---- tensors ---- */

/* A parameter that is multiplied by and trained has four tensors: its rows, its gradient, and two
 * copies that products read. */
static void more_tensors_than_operands_can_name_are_refused(void **unused)
{
    enum { FUNCTIONS = 500, PRODUCTS = 18 };
    const struct cavs__plan_options options = {
        .training = true, .panels = true, .l2_bytes = 1 << 20};
    struct cavs__plan *plan = NULL;
    struct cavs_model *m;
    struct cavs_stage *s;
    char name[16];

    (void)unused;
    setenv("CAVS_FUSION", "interpret", 1);
    assert_int_equal(cavs_model_create(&m), 0);
    s = cavs_stage_create(m, "points", 0);
    for (int i = 0; i < FUNCTIONS; i++) {
        struct cavs_function *f;
        struct cavs_symbol *y;

        snprintf(name, sizeof name, "f%d", i);
        f = cavs_function_create(s, name);
        y = cavs_pull(f, "x", 1);
        for (int k = 0; k < PRODUCTS; k++) {
            snprintf(name, sizeof name, "w%d.%d", i, k);
            y = cavs_matmul(y, zoo_weight(m, name, 1, 1));
        }
        cavs_loss(f, "loss", y, NULL);
    }
    assert_int_equal(cavs_model_finish(m), 0);
    assert_int_equal(cavs__plan_create(m, &options, &plan), CAVS_EPROGRAM);
    assert_non_null(strstr(cavs_error_message(), "more than 32768 tensors"));
    cavs_model_destroy(m);
}

/* ---- delays ---- */

/* The gate of one child waits for nothing, the other product for a sum. */
static void gate_beside_a_sum(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *a = cavs_gather(f, 0), *b = cavs_gather(f, 1);
    struct cavs_symbol *gate = cavs_sigmoid(cavs_matmul(a, zoo_weight(m, "gate", W, W)));
    struct cavs_symbol *all = cavs_matmul(cavs_add(a, b), zoo_weight(m, "sum", W, W));

    cavs_scatter(f, cavs_add(cavs_mul(gate, b), cavs_tanh(all)));
}

static void what_only_a_later_group_reads_is_computed_there(void **unused)
{
    struct built b = build(gate_beside_a_sum, false);

    (void)unused;
    has_steps(&b, "eppe");
    assert_int_equal(b.part->steps[1].together, 2);
    drop(&b);
    b = build(gate_beside_a_sum, true);
    has_steps(&b, "peeepee"); /* as soon as each can */
    drop(&b);
}

/* Of one group, which a product reads, and a later group. */
static void a_value_and_its_gate(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = cavs_tanh(cavs_gather(f, 0));

    cavs_scatter(f, cavs_add(cavs_sigmoid(x), cavs_matmul(x, zoo_weight(m, "w", W, W))));
}

/* The gate would only have its operand stored, or read once more. */
static void but_not_apart_from_what_it_is_computed_of(void **unused)
{
    struct built b = build(a_value_and_its_gate, false);

    (void)unused;
    has_steps(&b, "epe");
    assert_int_equal(b.part->steps[0].noutputs, 2);
    drop(&b);
}

/* ---- where values are kept ---- */

static int kept_columns(const struct built *b, const char *name)
{
    for (int i = 0; i < b->plan->ntensors; i++)
        if (strcmp(b->plan->tensors[i].name, name) == 0)
            return b->plan->tensors[i].cols;
    return 0;
}

static const struct cavs__task_kind *kind(const struct cavs__plan *p, const char *name)
{
    for (int i = 0; i < p->stages[0].nkinds; i++)
        if (strcmp(p->stages[0].kinds[i]->name, name) == 0)
            return p->stages[0].kinds[i];
    return NULL;
}

/* What that tensor keeps besides what was kept before, if it may be in its place, and if not. */
static void check_kept(declaration *declare, const char *tensor, int in_place, int apart)
{
    struct cavs__plan_options o = {.training = true, .no_sharing = true, .l2_bytes = 1 << 20};
    struct built b = build_with(declare, o);

    assert_int_equal(kept_columns(&b, tensor), apart);
    drop(&b);
    o.in_place = true;
    b = build_with(declare, o);
    assert_int_equal(kept_columns(&b, tensor), in_place);
    drop(&b);
}

static void lose(struct cavs_function *f, struct cavs_symbol *x)
{
    cavs_scatter(f, x);
    cavs_loss(f, "loss", cavs_sum(cavs_square(x)), NULL);
}

/* The gates' gradients are products' operands, and their values are read by them alone. */
static void two_gates(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *a = cavs_gather(f, 0), *b = cavs_gather(f, 1);
    struct cavs_symbol *gate = cavs_sigmoid(cavs_matmul(a, zoo_weight(m, "gate", W, W)));
    struct cavs_symbol *in = cavs_tanh(cavs_matmul(b, zoo_weight(m, "in", W, W)));

    lose(f, cavs_mul(gate, in));
}

/* Of the first product's result, the second one's gradient is made later. */
static void one_behind_the_other(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *a = cavs_gather(f, 0);
    struct cavs_symbol *first = cavs_sigmoid(cavs_matmul(a, zoo_weight(m, "first", W, W)));

    lose(f, cavs_mul(first, cavs_tanh(cavs_matmul(first, zoo_weight(m, "second", W, W)))));
}

/* A gate of one column: its gradient is one, too. */
static void a_gate_of_one_column(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *a = cavs_gather(f, 0), *b = cavs_gather(f, 1);
    struct cavs_symbol *gate = cavs_sigmoid(cavs_matmul(a, zoo_weight(m, "gate", W, 1)));
    struct cavs_symbol *in = cavs_tanh(cavs_matmul(b, zoo_weight(m, "in", W, W)));

    lose(f, cavs_mul(in, gate));
}

/* The value of one is copied to where others find it, when the chain is through. */
static void two_gates_and_a_push(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *gate = cavs_sigmoid(times(m, cavs_gather(f, 0), "gate"));
    struct cavs_symbol *in = cavs_tanh(times(m, cavs_gather(f, 1), "in"));
    struct cavs_symbol *both[] = {gate, in};

    lose(f, cavs_mul(gate, in));
    cavs_push(f, "both", cavs_concat(2, both));
}

static void gradients_lie_where_values_were_that_are_read_for_the_last_time(void **unused)
{
    (void)unused;
    check_kept(two_gates_and_a_push, "tree.node.grad.chain", 0, 2 * W + 16);
    check_kept(two_gates, "tree.node.grad.chain", 0,
               2 * W + 16); /* a line, so that rows are not 2 KB apart */
    check_kept(a_gate_of_one_column, "tree.node.grad.chain", 1, W + 1);
}

/* What a gate is computed of is partly there ahead of the chain. */
static void a_gate_of_an_input(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = times(m, cavs_pull(f, "x", W), "of_x");
    struct cavs_symbol *gate = cavs_sigmoid(cavs_add(x, times(m, cavs_gather(f, 0), "gate")));

    lose(f, cavs_mul(gate, cavs_tanh(times(m, cavs_gather(f, 1), "in"))));
}

/* The input's part is read in dF, too. */
static void a_gate_that_scales_an_input(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = times(m, cavs_pull(f, "x", W), "of_x");
    struct cavs_symbol *gate = cavs_sigmoid(cavs_mul(x, times(m, cavs_gather(f, 0), "gate")));

    lose(f, cavs_mul(gate, cavs_tanh(times(m, cavs_gather(f, 1), "in"))));
}

/* What the input's part is computed of is read when all of the chain's gradient is there. */
static void a_gate_of_a_hidden_input(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *hidden = cavs_tanh(times(m, cavs_pull(f, "x", W), "of_x"));
    struct cavs_symbol *gate =
        cavs_sigmoid(cavs_add(times(m, hidden, "hidden"), times(m, cavs_gather(f, 0), "gate")));

    lose(f, cavs_mul(gate, cavs_tanh(times(m, cavs_gather(f, 1), "in"))));
}

static void values_of_the_chain_lie_over_what_ran_ahead_of_it(void **unused)
{
    (void)unused;
    check_kept(a_gate_of_a_hidden_input, "tree.node.chain", W, 2 * W + 16);
    check_kept(a_gate_of_a_hidden_input, "tree.node.grad.chain", 0, 2 * W + 16);
    check_kept(a_gate_of_an_input, "tree.node.chain", W, 2 * W + 16);
    check_kept(a_gate_of_an_input, "tree.node.grad.chain", 0, 2 * W + 16);
    check_kept(a_gate_that_scales_an_input, "tree.node.chain", 3 * W + 16, 3 * W + 16);
}

/* Whoever in dF writes to the columns that F keeps its first value in. */
static int writers_over_the_first(const struct cavs__plan *p)
{
    const struct cavs__task_kind *k = kind(p, "tree.backward.chain");
    const struct cavs__part *part = k->parts[0];
    int n = 0;

    for (int i = 0; i < part->nsteps; i++) {
        const struct cavs__step *s = &part->steps[i];

        for (int j = s->nviews - s->noutputs; j < s->nviews; j++)
            n += s->v[j].buffer >= 0 && s->v[j].col == 0 &&
                 strcmp(p->tensors[k->tensor[s->v[j].buffer]].name, "tree.node.chain") == 0;
    }
    return n;
}

static void values_that_are_read_later_stay(void **unused)
{
    struct built b = build_with(
        two_gates, (struct cavs__plan_options){.training = true, .in_place = true, .l2_bytes = 1});

    (void)unused;
    assert_int_equal(writers_over_the_first(b.plan), 1);
    drop(&b);
    b = build_with(one_behind_the_other,
                   (struct cavs__plan_options){.training = true, .in_place = true, .l2_bytes = 1});
    assert_int_equal(writers_over_the_first(b.plan), 0);
    drop(&b);
}

/* What the vertices push has a loss in a stage over this one. */
static void pushed(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *h = cavs_tanh(cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "w", W, W)));
    struct cavs_stage *tree = f->stage;
    struct cavs_function *top;

    cavs_scatter(f, h);
    cavs_push(f, "h", h);
    top = cavs_function_create(cavs_stage_over(m, "top", tree, CAVS_ALL_VERTICES), "top");
    cavs_loss(top, "loss", cavs_sum(cavs_square(cavs_pull_from(top, tree, "h", NULL))), NULL);
}

/* Half of its gradient is read by the chain, half by what is made ahead of it. */
static void pushed_with_another(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *h = cavs_tanh(cavs_matmul(cavs_gather(f, 0), zoo_weight(m, "w", W, W)));
    struct cavs_symbol *x = cavs_matmul(cavs_pull(f, "x", W), zoo_weight(m, "ahead", W, W));
    struct cavs_symbol *both[] = {h, cavs_tanh(x)};
    struct cavs_stage *tree = f->stage;
    struct cavs_function *top;

    cavs_scatter(f, h);
    cavs_push(f, "h", cavs_concat(2, both));
    top = cavs_function_create(cavs_stage_over(m, "top", tree, CAVS_ALL_VERTICES), "top");
    cavs_loss(top, "loss", cavs_sum(cavs_square(cavs_pull_from(top, tree, "h", NULL))), NULL);
}

static bool adds_up_rows(const struct cavs__task_kind *k)
{
    bool found = false;

    assert_non_null(k);
    for (int i = 0; i < k->parts[0]->nsteps; i++)
        found |= strcmp(k->parts[0]->steps[i].call.kernel->name, "sum_rows") == 0;
    return found;
}

static void gradients_of_what_is_pushed_are_added_up_where_they_are_read(void **unused)
{
    struct cavs__plan_options o = {.training = true, .l2_bytes = 1 << 20};
    struct built b = build_with(pushed, o);

    (void)unused;
    assert_null(kind(b.plan, "tree.node.backward.eager"));
    drop(&b);
    b = build_with(pushed_with_another, o);
    assert_true(adds_up_rows(kind(b.plan, "tree.node.backward.eager")));
    drop(&b);
    o.few_launches = true;
    b = build_with(pushed, o);
    assert_non_null(kind(b.plan, "tree.node.backward.eager"));
    drop(&b);
}

/* ---- ahead of the chain ---- */

/* Fails unless these are the steps of what runs ahead of the chain. */
static void has_steps_ahead(declaration *declare, const char *want)
{
    struct built b =
        build_with(declare, (struct cavs__plan_options){.no_sharing = true, .l2_bytes = 1 << 20});

    assert_non_null(kind(b.plan, "tree.node.forward.eager"));
    b.part = kind(b.plan, "tree.node.forward.eager")->parts[0];
    has_steps(&b, want);
    drop(&b);
}

static struct cavs_symbol *biased(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = times(m, cavs_pull(f, "x", W), "ahead");

    return cavs_add(x, cavs_use(f, zoo_weight(m, "bias", 1, W)));
}

static void bias_for_the_chain(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = biased(m, f);

    cavs_scatter(f, cavs_tanh(cavs_add(x, times(m, cavs_gather(f, 0), "w"))));
}

static void bias_for_others_too(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = biased(m, f);

    cavs_push(f, "x", x);
    cavs_scatter(f, cavs_tanh(cavs_add(x, times(m, cavs_gather(f, 0), "w"))));
}

static void a_bias_is_added_where_the_chain_reads_the_product(void **unused)
{
    (void)unused;
    has_steps_ahead(bias_for_the_chain, "p");
    has_steps_ahead(bias_for_others_too, "pe");
}

static void gate_and_sum(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = cavs_pull(f, "x", W), *child = cavs_gather(f, 0);

    cavs_scatter(f, cavs_add(cavs_mul(child, times(m, x, "gate")), times(m, x, "in")));
}

static void gates_of_children(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *x = cavs_pull(f, "x", W), *child = cavs_each_child(f);

    cavs_scatter(
        f, cavs_add(cavs_sum_children(cavs_mul(child, times(m, x, "gate"))), times(m, x, "in")));
}

static void products_for_vertices_and_for_entries_are_not_joined(void **unused)
{
    (void)unused;
    has_steps_ahead(gate_and_sum, "p");
    has_steps_ahead(gates_of_children, "pp");
}

/* ---- sequences: steps that are one launch on a device ---- */

static void look_at_sequences(const struct cavs__part *part, int *n, int *most)
{
    for (int i = 0; part && i < part->nsteps; i++) {
        const struct cavs__sequence *q = part->steps[i].sequence;
        int views = 0;

        for (int k = 0; q && k < q->n; k++)
            views += q->steps[k].nviews;
        *n += q != NULL;
        *most = views > *most ? views : *most;
    }
}

/* The model has vertices with 100 children. */
static void sequences_have_few_operands(void **unused)
{
    const struct cavs__plan_options options = {.few_launches = true, .l2_bytes = 1 << 20};
    struct cavs_model *m;
    struct cavs__plan *plan = NULL;
    int n = 0, most = 0;

    (void)unused;
    assert_int_equal(cavs_model_create(&m), 0);
    zoo_find("wide")->build(m);
    if (cavs_model_finish(m) || cavs__plan_create(m, &options, &plan))
        fail_msg("%s", cavs_error_message());
    for (int i = 0; i < plan->stages[0].nkinds; i++) {
        const struct cavs__task_kind *k = plan->stages[0].kinds[i];

        for (int f = 0; f < k->nparts; f++)
            look_at_sequences(k->parts[f], &n, &most);
    }
    assert_true(n > 2);
    assert_in_range(most, 24, 64);
    cavs__plan_destroy(plan);
    cavs_model_destroy(m);
}

/* The sum cannot be delayed, since a product reads one of its terms; so the other term cannot. */
static void a_sum_of_what_a_product_reads(struct cavs_model *m, struct cavs_function *f)
{
    struct cavs_symbol *a = cavs_neg(cavs_gather(f, 0)), *b = cavs_tanh(cavs_gather(f, 1));

    cavs_scatter(f, cavs_mul(cavs_add(a, b), times(m, b, "w")));
}

static void so_what_is_not_delayed_has_its_operands(void **unused)
{
    struct built b = build(a_sum_of_what_a_product_reads, false);

    (void)unused;
    has_steps(&b, "epe");
    assert_int_equal(b.part->steps[0].nviews, 4); /* both children, and the sum and b */
    assert_int_equal(b.part->steps[2].nviews, 3);
    drop(&b);
}

/* ---- tiles ---- */

static int tile_with(int l2_bytes, int64_t l3_bytes)
{
    struct built b = build_with(
        three_strands, (struct cavs__plan_options){.l2_bytes = l2_bytes, .l3_bytes = l3_bytes});
    int tile = b.part->tile;

    drop(&b);
    return tile;
}

/* A weight is 256 KB, the values of a row some 6 KB. */
static void tiles_are_taller_the_further_away_the_weights_are(void **unused)
{
    int near = tile_with(1 << 20, 32 << 20), in_l3 = tile_with(64 << 10, 32 << 20),
        in_memory = tile_with(64 << 10, 512 << 10);

    (void)unused;
    assert_int_equal(near, 64);
    assert_int_equal(in_l3, 16); /* so that values stay in L2 */
    assert_true(in_memory >= 32 && in_memory <= 256);
}

/* Do the products of the plan of these functions count on weights in L2? */
static bool are_near(declaration *declare, int l2_bytes, bool training)
{
    struct built b = build_with(
        declare,
        (struct cavs__plan_options){.training = training, .panels = true, .l2_bytes = l2_bytes});
    bool near = false;

    for (int i = 0; i < b.part->nsteps; i++)
        near |= b.part->steps[i].call.near;
    drop(&b);
    return near;
}

/* A weight is 256 KB, and training has it twice. */
static void products_count_on_weights_in_l2_where_all_of_a_model_stay_there(void **unused)
{
    (void)unused;
    assert_true(are_near(pushed, 1 << 20, true));
    assert_false(are_near(pushed, 512 << 10, true));
    assert_true(are_near(pushed, 512 << 10, false));
    assert_false(are_near(pushed_with_another, 1 << 20, true));
    assert_true(are_near(pushed_with_another, 2 << 20, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_that_share_nothing_are_one_step),
        cmocka_unit_test(without_fusion_every_operator_is_a_step),
        cmocka_unit_test(a_joined_group_has_a_limit),
        cmocka_unit_test(products_are_taken_together_up_to_eight),
        cmocka_unit_test(a_product_waits_for_the_one_it_reads),
        cmocka_unit_test(copies_are_made_beside_the_product_that_reads_them),
        cmocka_unit_test(copies_are_made_before_products_of_other_rows),
        cmocka_unit_test(a_sum_of_products_is_made_with_them),
        cmocka_unit_test(not_if_others_read_a_product),
        cmocka_unit_test(scratch_of_products_taken_together_is_apart),
        cmocka_unit_test(more_tensors_than_operands_can_name_are_refused),
        cmocka_unit_test(what_only_a_later_group_reads_is_computed_there),
        cmocka_unit_test(but_not_apart_from_what_it_is_computed_of),
        cmocka_unit_test(so_what_is_not_delayed_has_its_operands),
        cmocka_unit_test(gradients_lie_where_values_were_that_are_read_for_the_last_time),
        cmocka_unit_test(values_of_the_chain_lie_over_what_ran_ahead_of_it),
        cmocka_unit_test(values_that_are_read_later_stay),
        cmocka_unit_test(gradients_of_what_is_pushed_are_added_up_where_they_are_read),
        cmocka_unit_test(a_bias_is_added_where_the_chain_reads_the_product),
        cmocka_unit_test(products_for_vertices_and_for_entries_are_not_joined),
        cmocka_unit_test(sequences_have_few_operands),
        cmocka_unit_test(tiles_are_taller_the_further_away_the_weights_are),
        cmocka_unit_test(products_count_on_weights_in_l2_where_all_of_a_model_stay_there),
    };

    return cmocka_run_group_tests_name("steps of a plan", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_operators.c - walks the tables of operators and of kernels, and finds whatever is missing: a
 * member of a record, a formula of the oracle, a probe of the gradient, a line of documentation.
 *
 * A test a question; it names every operator that has no answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "codelets/kernels/kernel_table.h"
#include "core/declare/operator.h"
#include "tests/probes.h"

/* Operators that the library makes itself: no call of the user does. */
static const char *const internal[] = {"repeat", "spread", "mask", "share_of_children"};
/* What core/tape puts around each operator that it records: tests/test_tape.c holds tapes against
 * the oracle. */
static const char *const around_recorded[] = {"operand", "operand_sum", "result", "apply",
                                              "mean_children"};
/* Element-wise ones that calls are made of which have other names. */
static const char *const internal_elementwise[] = {"copy", "huber", "logit_cross_entropy"};
/* What no oracle can foretell: tests/test_dropout.c asks what dropout does. */
static const char *const random_ones[] = {"dropout"};

static bool among(const char *name, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!strcmp(list[i], name))
            return true;
    }
    return false;
}
#define AMONG(name, list) among((name), (list), sizeof(list) / sizeof *(list))

/* ---- asking all operators ---- */

typedef bool question(const struct cavs__operator *o, enum cavs__op op);

/* Fails with the names of those for which the answer is no. */
static void ask(const char *what, question *asks)
{
    char missing[2000] = "";

    for (int i = 0; i < CAVS__OP_COUNT; i++) {
        const struct cavs__operator *o = cavs__operators[i];

        if (!o || !o->name || !asks(o, (enum cavs__op)i))
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), " %s (%d)",
                     o && o->name ? o->name : "without name", i);
    }
    if (missing[0])
        fail_msg("%s:%s", what, missing);
}

static bool is_forward(const struct cavs__operator *o)
{
    return o->diff != cavs__of_df && !AMONG(o->name, around_recorded);
}

static bool is_differentiable(const struct cavs__operator *o)
{
    return is_forward(o) && o->diff != cavs__not_differentiable;
}

static bool makes_steps(const struct cavs__operator *o)
{
    return o->role == CAVS__ROLE_SINGLE || o->role == CAVS__ROLE_SINGLE_LIST ||
           o->role == CAVS__ROLE_SUM;
}

static bool has_rows_elsewhere(const struct cavs__operator *o)
{
    return o->role == CAVS__ROLE_SOURCE || o->role == CAVS__ROLE_CONSTANT ||
           o->role == CAVS__ROLE_DESTINATION;
}

/* ---- records ---- */

static bool has_a_name_of_its_own(const struct cavs__operator *o, enum cavs__op op)
{
    for (int i = 0; i < (int)op; i++) {
        if (!strcmp(cavs__operators[i]->name, o->name))
            return false;
    }
    return o->name[0] != '\0';
}

static bool has_a_role(const struct cavs__operator *o, enum cavs__op op)
{
    (void)op;
    return o->role >= CAVS__ROLE_SOURCE && o->role <= CAVS__ROLE_SUM;
}

static bool has_a_domain(const struct cavs__operator *o, enum cavs__op op)
{
    (void)op;
    return o->domain != NULL;
}

static bool has_a_derivative_or_says_why_not(const struct cavs__operator *o, enum cavs__op op)
{
    (void)op;
    return o->diff != NULL;
}

static bool has_steps_if_its_role_wants_them(const struct cavs__operator *o, enum cavs__op op)
{
    (void)op;
    return (o->emit != NULL) == makes_steps(o) && (o->kernel != NULL) == makes_steps(o);
}

static bool has_rows_if_its_role_wants_them(const struct cavs__operator *o, enum cavs__op op)
{
    (void)op;
    return (o->where != NULL) == has_rows_elsewhere(o);
}

/* What is counted as work is what the products' kernels do. */
static bool counts_operations_if_it_is_a_product(const struct cavs__operator *o, enum cavs__op op)
{
    (void)op;
    return (o->flops != NULL) == (o->kernel && !strncmp(o->kernel->name, "gemm", 4));
}

static void every_record_is_whole(void **state)
{
    (void)state;
    ask("no name of their own", has_a_name_of_its_own);
    ask("no role", has_a_role);
    ask("no domain", has_a_domain);
    ask("neither a derivative nor cavs__not_differentiable or cavs__of_df",
        has_a_derivative_or_says_why_not);
    ask("a kernel and steps just if the role is SINGLE, SINGLE_LIST or SUM",
        has_steps_if_its_role_wants_them);
    ask("rows just if the role is SOURCE, CONSTANT or DESTINATION",
        has_rows_if_its_role_wants_them);
    ask("nominal operations just if the kernel is a product", counts_operations_if_it_is_a_product);
}

/* ---- kernels ---- */

static bool has_a_whole_kernel(const struct cavs__operator *o, enum cavs__op op)
{
    const struct cavs__kernel *k = o->kernel;

    (void)op;
    return !k || (k->cpu && k->reference && cavs__kernel_find(k->name) == k);
}

static void every_kernel_has_a_reference(void **state)
{
    (void)state;
    ask("a kernel without code, without reference or not in the table", has_a_whole_kernel);
}

/* ---- the oracle ---- */

static bool is_known_to_the_oracle(const struct cavs__operator *o, enum cavs__op op)
{
    return !is_forward(o) || AMONG(o->name, random_ones) || naive_knows(op);
}

static void the_oracle_has_a_formula_of_each(void **state)
{
    struct naive_dual dual;

    (void)state;
    ask("no pair in tests/naive_ops.c", is_known_to_the_oracle);
    for (int i = 0; i < cavs__ew_count(); i++) {
        if (!naive_elementwise(cavs__ew_name(i), 0.5, 0.25, 0.75, &dual))
            fail_msg("no formula of %s in tests/naive_math.c", cavs__ew_name(i));
    }
}

/* ---- gradients ---- */

/* Operators through which a gradient passes somewhere. */
static bool passed[CAVS__OP_COUNT];

static void note_passed(const struct cavs_model *m)
{
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++) {
            const struct cavs_function *f = m->stages[i]->functions[j];

            for (int k = 0; k < f->nsymbols; k++)
                passed[f->symbols[k]->op] |= f->symbols[k]->adjoint || f->symbols[k]->needs_grad;
        }
    }
}

static void note_probes(void)
{
    const struct probe *list;
    int n = probe_list(&list);

    for (int i = 0; i < n; i++) {
        struct cavs_model *m = probe_model(&list[i]);

        note_passed(m);
        cavs_model_destroy(m);
    }
}

static void note_zoo(void)
{
    for (int i = 0; i < zoo_count(); i++) {
        struct cavs_model *m = zoo_model(zoo_at(i));

        note_passed(m);
        cavs_model_destroy(m);
    }
}

static bool is_probed(const struct cavs__operator *o, enum cavs__op op)
{
    return !is_differentiable(o) || AMONG(o->name, random_ones) || passed[op];
}

/* What needs nothing but one vertex can be a probe. */
static bool is_probed_alone(const struct cavs__operator *o, enum cavs__op op)
{
    return o->role != CAVS__ROLE_SINGLE || is_probed(o, op);
}

static void the_gradient_of_each_is_looked_at(void **state)
{
    (void)state;
    memset(passed, 0, sizeof passed);
    note_probes();
    ask("no probe in tests/probes.c", is_probed_alone);
    note_zoo();
    ask("neither a probe in tests/probes.c nor in a model of tests/zoo.h", is_probed);
}

/* ---- documents ---- */

/* A file of the tree as text; freed by the caller. */
static char *text_of(const char *path)
{
    const char *top = getenv("abs_top_srcdir");
    char whole[4096], *text = NULL;
    size_t size = 0;
    FILE *f;

    snprintf(whole, sizeof whole, "%s/%s", top ? top : ".", path);
    f = fopen(whole, "r");
    if (!f || getdelim(&text, &size, '\0', f) <= 0)
        fail_msg("cannot read %s", whole);
    fclose(f);
    return text;
}

static bool says(const char *text, const char *before, const char *name, const char *after)
{
    char words[128];

    snprintf(words, sizeof words, "%s%s%s", before, name, after);
    return strstr(text, words) != NULL;
}

static char *header, *guide;

static bool has_a_call(const struct cavs__operator *o, enum cavs__op op)
{
    return !is_forward(o) || op == CAVS__OP_ELEMENTWISE || AMONG(o->name, internal) ||
           says(header, "#define cavs_", o->name, "(");
}

static bool is_in_the_guide(const struct cavs__operator *o, enum cavs__op op)
{
    return !is_forward(o) || op == CAVS__OP_ELEMENTWISE || AMONG(o->name, internal) ||
           says(guide, "`", o->name, "`");
}

static void every_operator_has_a_call_and_a_line_in_the_guide(void **state)
{
    (void)state;
    header = text_of("core/cavs.h");
    guide = text_of("doc/guide.md");
    ask("no macro in core/cavs.h", has_a_call);
    ask("not in the table of doc/guide.md", is_in_the_guide);
    for (int i = 0; i < cavs__ew_count(); i++) {
        const char *name = cavs__ew_name(i);

        if (!AMONG(name, internal_elementwise) && !says(header, "#define cavs_", name, "("))
            fail_msg("no macro of %s in core/cavs.h", name);
    }
    free(header);
    free(guide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_record_is_whole),
        cmocka_unit_test(every_kernel_has_a_reference),
        cmocka_unit_test(the_oracle_has_a_formula_of_each),
        cmocka_unit_test(the_gradient_of_each_is_looked_at),
        cmocka_unit_test(every_operator_has_a_call_and_a_line_in_the_guide),
    };

    return cmocka_run_group_tests_name("operators", tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mistakes.c - makes the usual mistakes and prints what the library says to each; see "When
 * something is wrong" in doc/guide.md.
 */
#include <cavs.h>

#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 100, HIDDEN = 8, CLASSES = 5 };

/* A small model in which one thing is then done wrong. */
struct scene {
    struct cavs_model *model;
    struct cavs_param *table, *U, *W;
    struct cavs_stage *tree, *head;
    struct cavs_function *inner, *judge;
    struct cavs_symbol *words, *both;
    struct cavs_data *data;
};

static void must(int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "mistakes: unexpected: %s\n", cavs_error_message());
    exit(1);
}

/* The mistake was made: say what came of it. */
static void expect(const char *what, int rc)
{
    if (rc == 0) {
        fprintf(stderr, "mistakes: %s was not noticed\n", what);
        exit(1);
    }
    printf("%s\n    %s\n", what, cavs_error_message());
}

static void open_scene(struct scene *a)
{
    struct cavs_symbol *children[2];

    *a = (struct scene){0};
    must(cavs_model_create(&a->model));
    a->table = cavs_model_param(a->model, "table", WORDS, HIDDEN, CAVS_UNIFORM(-1, 1));
    a->U = cavs_model_param(a->model, "U", 2 * HIDDEN, HIDDEN, CAVS_UNIFORM(-1, 1));
    a->W = cavs_model_param(a->model, "W", HIDDEN, CLASSES, CAVS_UNIFORM(-1, 1));
    a->tree = cavs_stage_create(a->model, "tree", HIDDEN);
    a->inner = cavs_function_create(a->tree, "inner");
    children[0] = cavs_gather(a->inner, 0);
    children[1] = cavs_gather(a->inner, 1);
    a->both = cavs_concat(2, children);
    a->words = cavs_pull_ids(a->inner, "word");
    a->head = cavs_stage_over(a->model, "head", a->tree, CAVS_ROOTS);
    a->judge = cavs_function_create(a->head, "judge");
}

/* The rest of the model, done right. */
static void finish_scene(struct scene *a)
{
    struct cavs_symbol *h = cavs_matmul(a->both, a->U), *label = cavs_pull_ids(a->judge, "label"),
                       *z;

    h = cavs_add(h, cavs_lookup(a->table, a->words));
    cavs_scatter(a->inner, h);
    cavs_push(a->inner, "h", h);
    z = cavs_matmul(cavs_pull_from(a->judge, a->tree, "h", NULL), a->W);
    cavs_loss(a->judge, "loss", cavs_softmax_cross_entropy(z, label), label);
    must(cavs_model_finish(a->model));
    must(cavs_data_create(a->model, &a->data));
}

static void close_scene(struct scene *a)
{
    cavs_data_destroy(a->data);
    cavs_model_destroy(a->model);
}

/* ---- while the model is declared: reported when it is finished ------------------------------- */

static void wrong_shape(struct scene *a)
{
    cavs_scatter(a->inner, cavs_tanh(cavs_matmul(a->both, a->W)));
    expect("a product whose shapes do not fit", cavs_model_finish(a->model));
}

static void wrong_state(struct scene *a)
{
    cavs_scatter(a->inner, a->both);
    expect("a state of the wrong width", cavs_model_finish(a->model));
}

static void no_scatter(struct scene *a)
{
    cavs_push(a->inner, "h", cavs_matmul(a->both, a->U));
    expect("a function that gathers but does not scatter", cavs_model_finish(a->model));
}

static void ids_as_numbers(struct scene *a)
{
    cavs_scatter(a->inner, cavs_add(cavs_matmul(a->both, a->U), a->words));
    expect("ids taken for numbers", cavs_model_finish(a->model));
}

static void no_channel(struct scene *a)
{
    cavs_scatter(a->inner, cavs_matmul(a->both, a->U));
    cavs_pull_from(a->judge, a->tree, "h", NULL);
    expect("a channel that nothing is pushed on yet", cavs_model_finish(a->model));
}

static void wide_loss(struct scene *a)
{
    cavs_scatter(a->inner, cavs_matmul(a->both, a->U));
    cavs_loss(a->inner, "size", cavs_square(a->both), NULL);
    expect("a loss wider than one number", cavs_model_finish(a->model));
}

static void same_name(struct scene *a)
{
    cavs_model_param(a->model, "U", 1, HIDDEN, CAVS_CONSTANT(0));
    expect("two parameters of one name", cavs_model_finish(a->model));
}

/* ---- while samples are made ------------------------------------------------------------------ */

static void cycle(struct scene *a)
{
    static const int child_ptr[] = {0, 1, 2, 3}, children[] = {1, 2, 0};

    finish_scene(a);
    must(cavs_data_begin(a->data));
    expect("a cycle", cavs_data_graph(a->data, a->tree, 3, NULL, child_ptr, children));
}

static void three_children(struct scene *a)
{
    static const int child_ptr[] = {0, 0, 0, 0, 3}, children[] = {0, 1, 2};

    finish_scene(a);
    must(cavs_data_begin(a->data));
    expect("more children than are gathered",
           cavs_data_graph(a->data, a->tree, 4, NULL, child_ptr, children));
}

static void missing_label(struct scene *a)
{
    static const int word[] = {7};

    finish_scene(a);
    must(cavs_data_begin(a->data));
    must(cavs_data_graph(a->data, a->tree, 1, NULL, NULL, NULL));
    must(cavs_data_ids(a->data, a->tree, "word", 1, word));
    expect("an input that was forgotten", cavs_data_end(a->data));
}

static void add_leaf(struct scene *a, int word, int label)
{
    must(cavs_data_begin(a->data));
    must(cavs_data_graph(a->data, a->tree, 1, NULL, NULL, NULL));
    must(cavs_data_ids(a->data, a->tree, "word", 1, &word));
    must(cavs_data_ids(a->data, a->head, "label", 1, &label));
}

static void unknown_word(struct scene *a)
{
    finish_scene(a);
    add_leaf(a, WORDS, 0);
    expect("an id beyond its table", cavs_data_end(a->data));
}

/* ---- while a session works ------------------------------------------------------------------- */

static void with_session(struct scene *a, struct cavs_runtime *rt)
{
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_session *s;
    int first = 0, second = 1;
    double sum;
    float z;

    finish_scene(a);
    add_leaf(a, 7, 4);
    must(cavs_data_end(a->data));
    options.inference = true;
    must(cavs_session_create(rt, a->model, &options, &s));
    expect("training in a session for inference", cavs_session_train(s, a->data, &first, 1));
    expect("a sample that is not there", cavs_session_evaluate(s, a->data, &second, 1));
    expect("a metric that is not there", cavs_session_metric(s, "accuracy", &sum, NULL));
    expect("an output that is not there",
           cavs_session_output(s, a->data, &first, 1, a->head, "logits", &z));
    expect("a file that is no model file", cavs_session_load(s, "/dev/null"));
    cavs_session_destroy(s);
}

static void not_finite(struct scene *a, struct cavs_runtime *rt)
{
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_session *s;
    int sample = 0;

    cavs_scatter(a->inner, cavs_log(cavs_sub(cavs_lookup(a->table, a->words),
                                             cavs_constant(a->inner, 1, 2))));
    cavs_pull_ids(a->judge, "label");
    must(cavs_model_finish(a->model));
    must(cavs_data_create(a->model, &a->data));
    add_leaf(a, 7, 4);
    must(cavs_data_end(a->data));
    options.check_finite = true;
    must(cavs_session_create(rt, a->model, &options, &s));
    expect("a logarithm of negative numbers", cavs_session_evaluate(s, a->data, &sample, 1));
    cavs_session_destroy(s);
}

int main(void)
{
    static void (*const mistakes[])(struct scene *) = {
        wrong_shape, wrong_state, no_scatter,     ids_as_numbers, no_channel,   wide_loss,
        same_name,   cycle,       three_children, missing_label,  unknown_word,
    };
    static void (*const at_work[])(struct scene *, struct cavs_runtime *) = {with_session,
                                                                             not_finite};
    struct cavs_runtime *rt;
    struct scene a;

    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        open_scene(&a);
        mistakes[i](&a);
        close_scene(&a);
    }
    must(cavs_runtime_create(NULL, &rt));
    for (size_t i = 0; i < sizeof at_work / sizeof *at_work; i++) {
        open_scene(&a);
        at_work[i](&a, rt);
        close_scene(&a);
    }
    cavs_runtime_destroy(rt);
    return 0;
}

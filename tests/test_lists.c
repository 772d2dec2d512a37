/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lists.c - rows per child, edge and entry from a user's side: what misuse is told, what data
 * are refused, the same bits for any number of workers, and where a number that is not finite came
 * from.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "tests/trial.h"

enum { STATE = 5 };

/* ---- declarations ---- */

struct scene {
    struct cavs_model *m;
    struct cavs_stage *early, *s, *over, *plain;
    struct cavs_function *f, *g, *head, *none; /* of s, s, over, plain */
    struct cavs_param *w;                      /* 3 blocks of STATE x 2 */
};

static void scene_open(struct scene *a)
{
    *a = (struct scene){0};
    check_ok(cavs_model_create(&a->m));
    a->w = zoo_weight(a->m, "W", 3 * STATE, 2);
    a->early = cavs_stage_create(a->m, "early", 0);
    struct cavs_function *show = cavs_function_create(a->early, "show");
    cavs_push(show, "y", cavs_pull(show, "x", STATE));
    a->s = cavs_stage_create(a->m, "s", STATE);
    a->over = cavs_stage_over(a->m, "over", a->s, CAVS_ROOTS);
    a->plain = cavs_stage_create(a->m, "plain", 0);
    a->f = cavs_function_create(a->s, "f");
    a->g = cavs_function_create(a->s, "g");
    a->head = cavs_function_create(a->over, "head");
    a->none = cavs_function_create(a->plain, "none");
}

static void scattered(struct scene *a)
{
    cavs_scatter(a->f, cavs_each_child(a->f));
}

static void pushed(struct scene *a)
{
    cavs_push(a->f, "y", cavs_each_child(a->f));
}

static void counted(struct scene *a)
{
    cavs_loss(a->f, "loss", cavs_sum(cavs_each_child(a->f)), NULL);
}

static void summed_vertex(struct scene *a)
{
    cavs_sum_children(cavs_pull(a->f, "x", 2));
}

static void without_state(struct scene *a)
{
    cavs_each_child(a->none);
}

static void over_a_stage(struct scene *a)
{
    cavs_pull_edge(a->head, "e", 2);
}

static void two_lists(struct scene *a)
{
    cavs_add(cavs_each_child(a->f), cavs_pull_from_each(a->f, a->early, "y", NULL));
}

static void vertex_ids_for_edges(struct scene *a)
{
    cavs_matmul_select(cavs_each_child(a->f), a->w, 3, cavs_pull_ids(a->f, "id"));
}

static void blocks_that_do_not_fit(struct scene *a)
{
    cavs_matmul_select(cavs_pull(a->f, "x", STATE), a->w, 4, cavs_pull_ids(a->f, "id"));
}

static void edge_and_vertex_input(struct scene *a)
{
    cavs_pull_edge(a->f, "x", 2);
    cavs_pull(a->g, "x", 2);
}

static void unknown_channel(struct scene *a)
{
    cavs_pull_from_each(a->f, a->early, "nothing", "near");
}

static void later_stage(struct scene *a)
{
    cavs_pull_from_each(a->f, a->plain, "y", NULL);
}

static void list_of_two_stages(struct scene *a)
{
    cavs_push(a->f, "z", cavs_pull(a->f, "x", 2));
    cavs_pull_from_each(a->none, a->early, "y", "near");
    cavs_pull_from_each(a->none, a->s, "z", "near");
}

static void dropped_width(struct scene *a)
{
    cavs_pull_edge(a->f, "e", 0);
}

struct misuse {
    const char *name;
    void (*make)(struct scene *a);
    int code;
    const char *says[3];
};

static const struct misuse misuses[] = {
    {"scatter of rows per child",
     scattered,
     CAVS_EPROGRAM,
     {"scatter", "each_child", "cavs_sum_children"}},
    {"push of rows per child", pushed, CAVS_EPROGRAM, {"push", "a row per child"}},
    {"loss of rows per child", counted, CAVS_EPROGRAM, {"loss", "a row per child"}},
    {"sum over the children of a row per vertex",
     summed_vertex,
     CAVS_EPROGRAM,
     {"sum_children", "pull x", "cavs_each_child"}},
    {"each child without a state",
     without_state,
     CAVS_EPROGRAM,
     {"each_child", "plain", "no state"}},
    {"edges of a stage over another",
     over_a_stage,
     CAVS_EPROGRAM,
     {"pull_edge", "over", "no children"}},
    {"two lists in one operator", two_lists, CAVS_EPROGRAM, {"add", "another list"}},
    {"ids of vertices for rows per child",
     vertex_ids_for_edges,
     CAVS_EPROGRAM,
     {"matmul_select", "ids are not repeated"}},
    {"blocks that do not fit",
     blocks_that_do_not_fit,
     CAVS_ESHAPE,
     {"matmul_select", "15 x 2", "4 blocks"}},
    {"an input per edge and per vertex",
     edge_and_vertex_input,
     CAVS_ESHAPE,
     {"input x", "per vertex", "per edge"}},
    {"a channel that is not there",
     unknown_channel,
     CAVS_EPROGRAM,
     {"pull_from_each", "nothing", "early"}},
    {"a later stage", later_stage, CAVS_EPROGRAM, {"pull_from_each", "plain", "not earlier"}},
    {"a list of two stages", list_of_two_stages, CAVS_EPROGRAM, {"near", "early", "s"}},
    {"no width", dropped_width, CAVS_ESHAPE, {"pull_edge e", "width 0"}},
};

static void misuse_is_reported(void **state)
{
    const struct misuse *m = *state;
    struct scene a;
    scene_open(&a);
    m->make(&a);
    for (struct cavs_function *f = a.f; f; f = f == a.f ? a.g : NULL) {
        if (!f->scatter) /* nothing else shall be wrong */
            cavs_scatter(f, cavs_constant(f, STATE, 0));
    }
    check_refused(cavs_model_finish(a.m), m->code, m->says[0], m->says[1], m->says[2]);
    cavs_model_destroy(a.m);
}

/* ---- data ---- */

static void build_reader(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 0);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *edge =
        cavs_mul(cavs_pull_edge(f, "weight", 1),
                 cavs_lookup(zoo_weight(m, "names", 3, 2), cavs_pull_edge_ids(f, "relation")));
    struct cavs_symbol *words =
        cavs_sum_children(cavs_lookup(zoo_weight(m, "words", 4, 2), cavs_pull_list_ids(f, "list")));
    struct cavs_symbol *y = cavs_add(cavs_sum_children(edge), words);
    cavs_push(f, "y", y);
    cavs_loss(f, "loss", cavs_sum(y), NULL);
}

static const struct zoo_entry reader = {"reader", build_reader, {NULL}};

/* Vertex 2 has both others as children; its list has two entries. */
struct draft {
    int nrelations, relations[3], nweights, nptr, ptr[4], ids[3];
    float weights[3];
};

static const struct draft sound = {.nrelations = 2,
                                   .relations = {0, 2},
                                   .nweights = 2,
                                   .weights = {1, 2},
                                   .nptr = 3,
                                   .ptr = {0, 0, 1, 3},
                                   .ids = {0, 3, -1}};

static int add(struct cavs_data *d, const struct cavs_stage *s, const struct draft *a)
{
    static const int child_ptr[] = {0, 0, 0, 2}, children[] = {0, 1};
    int rc = cavs_data_begin(d);
    if (!rc)
        rc = cavs_data_ragged_ids(d, s, "list", a->nptr, a->ptr, a->ids);
    if (!rc)
        rc = cavs_data_edge_rows(d, s, "weight", a->nweights, a->weights);
    if (!rc)
        rc = cavs_data_edge_ids(d, s, "relation", a->nrelations, a->relations);
    if (!rc)
        rc = cavs_data_graph(d, s, 3, NULL, child_ptr, children);
    return rc ? rc : cavs_data_end(d);
}

static void samples_that_do_not_fit_are_refused(void **state)
{
    struct cavs_model *m = zoo_model(&reader);
    const struct cavs_stage *s = m->stages[0];
    struct cavs_data *d;
    struct draft a = sound;
    (void)state;
    check_ok(cavs_data_create(m, &d));
    check_ok(add(d, s, &a));
    a.nrelations = 3;
    check_refused(add(d, s, &a), CAVS_EDATA, "sample 1", "relation", "3 values for 2 edges");
    a = sound;
    a.nweights = 1;
    check_refused(add(d, s, &a), CAVS_EDATA, "weight", "1 values for 2 edges");
    a = sound;
    a.nptr = 2;
    check_refused(add(d, s, &a), CAVS_EDATA, "list", "2 lists for 3 vertices");
    a = sound;
    a.ptr[2] = 4;
    check_refused(add(d, s, &a), CAVS_EDATA, "list", "descends from 4 to 3");
    a = sound;
    a.ptr[3] = INT32_MAX;
    check_refused(add(d, s, &a), CAVS_EDATA, "list", "2147483647 values are too many");
    a = sound;
    a.nptr = INT32_MAX;
    check_refused(add(d, s, &a), CAVS_EDATA, "list", "2147483647 values are too many");
    a = sound;
    a.relations[1] = 3;
    check_refused(add(d, s, &a), CAVS_EDATA, "relation", "vertex 2", "id 3");
    a = sound;
    a.ids[1] = 4;
    check_refused(add(d, s, &a), CAVS_EDATA, "list", "vertex 2", "id 4");
    check_ok(cavs_data_begin(d));
    check_refused(cavs_data_ids(d, s, "relation", 2, a.relations), CAVS_EDATA,
                  "cavs_data_edge_ids");
    check_ok(cavs_data_begin(d));
    check_refused(cavs_data_rows(d, s, "weight", 2, a.weights), CAVS_EDATA, "cavs_data_edge_rows");
    check_ok(cavs_data_begin(d));
    check_refused(cavs_data_edge_ids(d, s, "list", 2, a.ids), CAVS_EDATA, "cavs_data_ragged_ids");
    assert_int_equal(cavs_data_size(d), 1);
    check_ok(add(d, s, &sound));
    assert_int_equal(cavs_data_sample_ids(d, s, "relation", 1)[1], 2);
    assert_int_equal(cavs_data_sample_ids(d, s, "list", 1)[1], 3);
    cavs_data_destroy(d);
    cavs_model_destroy(m);
}

/* ---- execution ---- */

/* Equal vertices share a row only if their edges are equal. */
static void labels_of_edges_tell_vertices_apart(void **state)
{
    struct trial t;
    const char *const texts[] = {"star:2", "star:2", "star:2"};
    (void)state;
    trial_compile(false);
    trial_open(&t, zoo_model(zoo_find("relations")), texts, 3, NULL);
    struct cavs_stage *s = t.model->stages[0];
    for (int i = 0; i < 3; i++) {
        int *words = cavs_data_sample_ids(t.data, s, "word", i),
            *relations = cavs_data_sample_ids(t.data, s, "relation", i);
        for (int v = 0; v < 3; v++)
            words[v] = t.samples[i]->stages[0].ids[0][v] = 1;
        for (int e = 0; e < 2; e++)
            relations[e] = e;
        if (i == 2)
            relations[1] = 2;
        for (int k = 0; k < s->ninputs; k++) {
            if (!strcmp(s->inputs[k]->name, "relation"))
                memcpy(t.samples[i]->stages[0].ids[k], relations, 2 * sizeof(int));
            if (!strcmp(s->inputs[k]->name, "word"))
                memcpy(t.samples[i]->stages[0].ids[k], words, 3 * sizeof(int));
        }
    }
    struct cavs_session_options options = cavs_session_defaults();
    options.shards = 1;
    struct cavs_session *session = trial_session(&t, &options);
    trial_check_gradients(&t, session, (int[]){0, 1, 2}, 3);
    trial_check_outputs(&t, session, (int[]){0, 1, 2}, 3);
    cavs_session_destroy(session);
    trial_close(&t);
}

/* A vertex with more children than any tile has room for, beside many small ones. */
static void very_many_children(void **state)
{
    static const char *const texts[] = {"star:5000", "star:3", "dag:200,slots=30,parents=40",
                                        "star:9000"};
    static const char *const models[] = {"each_attention", "relations"};
    (void)state;
    trial_compile(true);
    for (size_t i = 0; i < 2; i++) {
        struct trial t;
        trial_open(&t, zoo_model(zoo_find(models[i])), texts, 4, NULL);
        struct cavs_session_options options = cavs_session_defaults();
        options.shards = 2;
        struct cavs_session *s = trial_session(&t, &options);
        trial_check_gradients(&t, s, (int[]){1, 2}, 2);
        trial_check_gradients(&t, s, (int[]){0, 1, 2, 3}, 4);
        trial_check_outputs(&t, s, (int[]){0, 1, 2, 3}, 4);
        cavs_session_destroy(s);
        trial_close(&t);
    }
}

static void build_logarithm(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 0);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *y = cavs_sum_children(
        cavs_mul(cavs_log(cavs_pull_edge(f, "e", 1)), cavs_use(f, zoo_weight(m, "w", 1, 1))));
    cavs_loss(f, "loss", y, NULL);
}

static void one_edge_is_zero(struct sample *s, int number)
{
    float *e = sample_rows(s, 0, "e");
    for (int i = 0; i < s->stages[0].graph->child_ptr[s->stages[0].n]; i++)
        e[i] = number == 1 && i == 3 ? 0 : 1;
}

static void a_number_that_is_not_finite_is_traced_to_its_vertex(void **state)
{
    static const struct zoo_entry logarithm = {"logarithm", build_logarithm, {NULL}};
    static const char *const texts[] = {"chain:5", "star:4"};
    struct trial t;
    (void)state;
    trial_compile(false);
    trial_open(&t, zoo_model(&logarithm), texts, 2, one_edge_is_zero);
    struct cavs_session_options options = cavs_session_defaults();
    options.check_finite = true;
    options.shards = 1;
    if (starpu_cpu_worker_get_count() == 0) {
        struct cavs_session *none;
        check_refused(cavs_session_create(trial_runtime, t.model, &options, &none), CAVS_ERUNTIME,
                      "the check for finite numbers is there only", "there is no CPU worker");
        trial_close(&t);
        return;
    }
    struct cavs_session *s = trial_session(&t, &options);
    const struct graph *g = t.samples[1]->stages[0].graph;
    int root = -1;
    char vertex[32];
    for (int v = 0; v < g->n; v++)
        root = g->child_ptr[v + 1] - g->child_ptr[v] == 4 ? v : root;
    snprintf(vertex, sizeof vertex, "vertex %d", root);
    check_ok(cavs_session_evaluate(s, t.data, (int[]){0}, 1));
    check_refused(cavs_session_evaluate(s, t.data, (int[]){0, 1}, 2), CAVS_ENUMERIC, "log",
                  "sample 1", vertex);
    cavs_session_destroy(s);
    trial_close(&t);
}

static void the_explanation_tells_rows_from_entries(void **state)
{
    struct trial t;
    char *text = NULL;
    (void)state;
    trial_compile(false);
    trial_open_zoo(&t, zoo_find("relations"));
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_session *s = trial_session(&t, &options);
    check_ok(cavs_session_explain(s, &text));
    assert_non_null(strstr(text, "each_child   (a row per child)"));
    assert_non_null(strstr(text, "gemm_select        matmul_select U   (entries, 5) x (5, 5)"));
    assert_non_null(strstr(text, "list_sum"));
    free(text);
    cavs_session_destroy(s);
    trial_close(&t);
}

/* All words of a vertex have the same gradient: that of their sum. */
static void the_gradient_of_a_sum_of_lookups_is_kept_once_a_vertex(void **state)
{
    struct trial t;
    char *text = NULL;
    (void)state;
    trial_compile(false);
    trial_open_zoo(&t, zoo_find("lookers"));
    struct cavs_session_options options = cavs_session_defaults();
    struct cavs_session *s = trial_session(&t, &options);
    check_ok(cavs_session_explain(s, &text));
    assert_non_null(strstr(text, "lookup embedding   (a row per entry"));
    assert_non_null(strstr(text, "grad_lookup embedding\n"));
    assert_null(strstr(text, "grad_lookup embedding   (a row per entry"));
    free(text);
    cavs_session_destroy(s);
    trial_close(&t);
}

enum { MISUSES = sizeof misuses / sizeof *misuses, OTHERS = 6 };

int main(void)
{
    struct CMUnitTest tests[MISUSES + OTHERS] = {
        cmocka_unit_test(samples_that_do_not_fit_are_refused),
        cmocka_unit_test(labels_of_edges_tell_vertices_apart),
        cmocka_unit_test(very_many_children),
        cmocka_unit_test(a_number_that_is_not_finite_is_traced_to_its_vertex),
        cmocka_unit_test(the_explanation_tells_rows_from_entries),
        cmocka_unit_test(the_gradient_of_a_sum_of_lookups_is_kept_once_a_vertex),
    };
    for (int i = 0; i < MISUSES; i++)
        tests[OTHERS + i] = (struct CMUnitTest){.name = misuses[i].name,
                                                .test_func = misuse_is_reported,
                                                .initial_state = (void *)&misuses[i]};
    return cmocka_run_group_tests_name("lists", tests, trial_runtime_up, trial_runtime_down);
}

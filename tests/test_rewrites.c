/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_rewrites.c - lists of symbols mean the same before and after each pass that rewrites them.
 *
 * The oracle evaluates the list that it is given. So every model is declared once as it was
 * written, without sharing equal symbols and without moving slices up, and once more for each
 * rewriting; and the numbers of both lists are compared: all metrics, channels, states and
 * gradients.
 *
 * What is rewritten while a model is declared is switched off here by standing between the library
 * and its own functions (the linker's --wrap, in tests/local.mk).
 *
 * CAVS_TEST_LONG=1 tries many more random models; CAVS_TEST_SEED=N just that one,
 * and CAVS_TEST_SEED=N-M those.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/compile/passes.h"
#include "tests/random.h"
#include "tests/random_model.h"
#include "tests/trial.h"

enum { FEW = 150, MANY = 3000, MOST_SAMPLES = ZOO_SAMPLES };

/* ---- what is switched off ---- */

static bool share_equal, move_slices;

bool __real_cavs__find_equal(struct cavs_function *f, const struct cavs_symbol *like, int ninputs,
                             struct cavs_symbol *const *inputs, struct cavs_symbol **found);
bool __wrap_cavs__find_equal(struct cavs_function *f, const struct cavs_symbol *like, int ninputs,
                             struct cavs_symbol *const *inputs, struct cavs_symbol **found);
struct cavs_symbol *__real_cavs_slice_at(struct cavs_symbol *x, int from, int width,
                                         struct cavs_place at);
struct cavs_symbol *__wrap_cavs_slice_at(struct cavs_symbol *x, int from, int width,
                                         struct cavs_place at);
void __wrap_cavs_split_at(struct cavs_symbol *x, int n, struct cavs_symbol **out,
                          struct cavs_place at);

bool __wrap_cavs__find_equal(struct cavs_function *f, const struct cavs_symbol *like, int ninputs,
                             struct cavs_symbol *const *inputs, struct cavs_symbol **found)
{
    *found = NULL;
    return !share_equal || __real_cavs__find_equal(f, like, ninputs, inputs, found);
}

/* Models of these tests cut values that are there, at columns that are there. */
struct cavs_symbol *__wrap_cavs_slice_at(struct cavs_symbol *x, int from, int width,
                                         struct cavs_place at)
{
    struct cavs_symbol slice = {.op = CAVS__OP_SLICE, .width = width, .k = from, .at = at};
    if (move_slices || !x)
        return __real_cavs_slice_at(x, from, width, at);
    return cavs__symbol_new(x->function, &slice, 1, &x);
}

void __wrap_cavs_split_at(struct cavs_symbol *x, int n, struct cavs_symbol **out,
                          struct cavs_place at)
{
    for (int i = 0; i < n; i++)
        out[i] = __wrap_cavs_slice_at(x, i * (x->width / n), x->width / n, at);
}

/* ---- rewritings ---- */

/* Everything up to and with the pass that it is named for. */
enum rewriting { NONE, EQUAL, SLICES, JOINED, SHARED, REWRITINGS };
static const char *const names[] = {"declared", "equal symbols shared", "slices moved up",
                                    "products joined", "equal inputs shared"};
static long rewritten[REWRITINGS]; /* models whose list differs from that of the one before */

typedef void declare(struct cavs_model *m, void *what);

static int nsymbols(const struct cavs_model *m)
{
    int n = 0;
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++)
            n += m->stages[i]->functions[j]->nsymbols;
    }
    return n;
}

static struct cavs_model *make(enum rewriting r, declare *how, void *what)
{
    struct cavs_model *m;
    check_ok(cavs_model_create(&m));
    share_equal = r >= EQUAL;
    move_slices = r >= SLICES;
    how(m, what);
    if (m->error)
        fail_msg("%s: %s", names[r], m->message);
    for (int i = 0; i < m->nstages; i++) {
        for (int j = 0; j < m->stages[i]->nfunctions; j++)
            check_ok(cavs_function_finish(m->stages[i]->functions[j]));
    }
    check_ok(cavs__model_check(m));
    if (r >= JOINED)
        check_ok(cavs__pass_merge(m));
    if (r >= SHARED)
        check_ok(cavs__pass_share(m));
    return m;
}

/* ---- comparing ---- */

/* Away from zero and from one another. */
static void fill_params(struct naive *o)
{
    uint64_t seed = 11;
    for (int i = 0; i < o->model->nparams; i++) {
        const struct cavs_param *p = o->model->params[i];
        for (int j = 0; j < p->rows * p->cols; j++)
            o->param[i][j] = random_double(&seed, -0.8, 0.8);
    }
}

static char about[64]; /* the model, for messages */

static void same(const char *what, const char *name, size_t n, const double *want,
                 const double *got, enum rewriting r)
{
    double largest = 1;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(want[i]));
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(got[i] - want[i]) <= 1e-9 * largest))
            fail_msg("%s, %s: %s %s[%zu] is %.15g, as declared %.15g", about, names[r], what, name,
                     i, got[i], want[i]);
    }
}

static void same_rows(const struct naive *was, const struct naive *is, enum rewriting r)
{
    for (int i = 0; i < was->model->nstages; i++) {
        const struct cavs_stage *s = was->model->stages[i];
        const struct naive_stage *a = &was->stages[i], *b = &is->stages[i];
        same("state of", s->name, (size_t)a->n * s->state_width, a->state, b->state, r);
        for (int k = 0; k < s->nchannels; k++)
            same("channel", s->channels[k]->name, (size_t)a->n * s->channels[k]->width,
                 a->channel[k], b->channel[k], r);
    }
}

static void same_sums(const struct naive *was, const struct naive *is, enum rewriting r)
{
    for (int i = 0; i < was->model->nparams; i++) {
        const struct cavs_param *p = was->model->params[i];
        same("gradient of", p->name, (size_t)p->rows * p->cols, was->gradient[i], is->gradient[i],
             r);
    }
    same("sums of", "metrics", (size_t)was->model->nmetrics, was->sum, is->sum, r);
    same("counts of", "metrics", (size_t)was->model->nmetrics, was->count, is->count, r);
}

/* ---- what is shared among vertices with equal inputs ---- */

/* Only two kinds of words, numbers and rows. */
static void make_alike(struct sample *s)
{
    for (int i = 0; i < s->model->nstages; i++) {
        const struct cavs_stage *stage = s->model->stages[i];
        for (int k = 0; k < stage->ninputs; k++) {
            const struct cavs__input *in = stage->inputs[k];
            for (int v = 0; in->per == CAVS__PER_VERTEX && v < s->stages[i].n; v++) {
                if (in->ids && !in->vertices_of)
                    s->stages[i].ids[k][v] = in->limit > 1 ? v % 2 : 0;
                for (int c = 0; !in->ids && c < in->width; c++)
                    s->stages[i].rows[k][v * in->width + c] = (float)(v % 2) - 0.25f * (float)c;
            }
        }
    }
}

static bool equal_inputs(const struct sample_stage *s, const struct cavs_stage *stage, int function,
                         int v, int w)
{
    for (int k = 0; k < stage->ninputs; k++) {
        const struct cavs__input *in = stage->inputs[k];
        if (in->per != CAVS__PER_VERTEX || !in->pulled[function])
            continue;
        if (in->ids ? s->ids[k][v] != s->ids[k][w]
                    : memcmp(s->rows[k] + v * in->width, s->rows[k] + w * in->width,
                             (size_t)in->width * sizeof(float)) != 0)
            return false;
    }
    return true;
}

static long pairs; /* of vertices that shared something */

static void same_at(const struct naive *o, const struct cavs_function *f, int v, int w)
{
    const struct naive_stage *s = &o->stages[f->stage->number];
    for (int i = 0; i < f->nsymbols; i++) {
        const struct cavs_symbol *x = f->symbols[i];
        if (!x->shared || x->width == 0)
            continue;
        pairs++;
        if (memcmp(s->tape[v] + s->offset[v][i], s->tape[w] + s->offset[w][i],
                   (size_t)x->width * sizeof(double)) != 0)
            fail_msg("%s: %s of %s.%s is shared, but differs between vertices with equal inputs",
                     about, cavs__symbol_label(x), f->stage->name, f->name);
    }
}

static void check_shared(const struct naive *o, const struct sample *s)
{
    for (int i = 0; i < o->model->nstages; i++) {
        const struct cavs_stage *stage = o->model->stages[i];
        const struct sample_stage *rows = &s->stages[i];
        for (int v = 0; v < rows->n; v++) {
            for (int w = 0; w < v; w++) {
                int f = rows->graph->functions[v];
                if (rows->graph->functions[w] == f && equal_inputs(rows, stage, f, v, w))
                    same_at(o, stage->functions[f], v, w);
            }
        }
    }
}

/* ---- all rewritings of a model ---- */

struct subject {
    declare *how;
    void *what;
    struct cavs_model *m; /* as declared */
    int n;
    struct sample *samples[MOST_SAMPLES];
};

static void run_and_compare(const struct subject *a, struct cavs_model *m, enum rewriting r)
{
    struct naive *was = naive_create(a->m), *is = naive_create(m);
    fill_params(was);
    fill_params(is);
    for (int i = 0; i < a->n; i++) {
        naive_run(was, a->samples[i], true);
        naive_run(is, a->samples[i], true);
        same_rows(was, is, r);
        if (r == SHARED)
            check_shared(is, a->samples[i]);
    }
    same_sums(was, is, r);
    naive_destroy(was);
    naive_destroy(is);
}

static void check_rewritings(struct subject *a, const char *const *texts)
{
    int n;
    a->m = make(NONE, a->how, a->what);
    n = nsymbols(a->m);
    for (int i = 0; i < a->n; i++) {
        a->samples[i] = sample_make(a->m, texts[i], 70 + (uint64_t)i);
        if (i % 2)
            make_alike(a->samples[i]);
    }
    for (enum rewriting r = EQUAL; r < REWRITINGS; r++) {
        struct cavs_model *m = make(r, a->how, a->what);
        run_and_compare(a, m, r);
        rewritten[r] += nsymbols(m) != n;
        n = nsymbols(m);
        cavs_model_destroy(m);
    }
    for (int i = 0; i < a->n; i++)
        sample_free(a->samples[i]);
    cavs_model_destroy(a->m);
}

/* ---- models ---- */

static void declare_zoo(struct cavs_model *m, void *what)
{
    const struct zoo_entry *z = what;
    z->build(m);
}

static void zoo(void **state)
{
    const struct zoo_entry *z = *state;
    struct subject a = {.how = declare_zoo, .what = *state, .n = zoo_samples(z)};
    snprintf(about, sizeof about, "%s", z->name);
    check_rewritings(&a, z->samples);
}

/* A seed, and what came of it when it was declared last. */
struct seed {
    uint64_t seed;
    struct draw d;
};

static void declare_seed(struct cavs_model *m, void *what)
{
    struct seed *s = what;
    s->d = (struct draw){.seed = s->seed, .m = m};
    draw_model(&s->d);
}

static void run_seed(uint64_t number)
{
    struct seed s = {.seed = number};
    struct subject a = {.how = declare_seed, .what = &s, .n = DRAW_SAMPLES};
    const char *texts[DRAW_SAMPLES];
    static struct draw first;
    struct cavs_model *m;
    m = make(NONE, declare_seed, &s);
    draw_samples(&s.d);
    first = s.d;
    for (int i = 0; i < DRAW_SAMPLES; i++)
        texts[i] = first.texts[i];
    cavs_model_destroy(m);
    snprintf(about, sizeof about, "seed %llu", (unsigned long long)number);
    check_rewritings(&a, texts);
}

static void random_model(void **state)
{
    run_seed(draw_seed(state));
}

/* All of this would say nothing of a pass that did nothing. */
static void all_passes_rewrite(void **state)
{
    (void)state;
    for (enum rewriting r = EQUAL; r < REWRITINGS; r++) {
        if (rewritten[r] < 5)
            fail_msg("%s: that changed the lists of %ld models", names[r], rewritten[r]);
    }
    if (pairs < 100)
        fail_msg("%ld pairs of vertices shared something", pairs);
}

int main(void)
{
    enum { MOST = DRAW_SEEDS + 200 };
    static struct CMUnitTest tests[MOST];
    int n = zoo_count();

    assert_in_range(n, 0, MOST - DRAW_SEEDS - 1);
    for (int i = 0; i < n; i++)
        tests[i] = (struct CMUnitTest){
            .name = zoo_at(i)->name, .test_func = zoo, .initial_state = (void *)zoo_at(i)};
    n += draw_tests(&tests[n], (struct CMUnitTest){.name = "model", .test_func = random_model},
                    getenv("CAVS_TEST_LONG") ? MANY : FEW);
    tests[n++] = (struct CMUnitTest)cmocka_unit_test(all_passes_rewrite);
    return _cmocka_run_group_tests("rewritings", tests, (size_t)n, NULL, NULL);
}

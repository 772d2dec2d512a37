/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_oracle.c - see random_program_oracle.h. */
#include "tests/random_program_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/run/session.h"
#include "tests/random.h"
#include "tests/trial.h"

static const double TOLERANCE = 1e-4;

/* ---- the function ---- */

static void *array(int n, size_t size)
{
    void *p = calloc((size_t)n + 1, size);

    assert_non_null(p);
    return p;
}

static void declare(struct program_oracle *o, const struct program_family *a)
{
    check_ok(cavs_model_create(&o->m));
    for (int i = 0; i < cavs_model_param_count(a->m); i++) {
        const struct cavs_param *p = cavs_model_param_at(a->m, i);

        cavs_model_param(o->m, p->name, p->rows, p->cols, CAVS_CONSTANT(0));
    }
    o->f = cavs_function_create(cavs_stage_create(o->m, "program", 0), "f");
    o->player = (struct program_player){.family = a, .m = o->m, .f = o->f, .plain = true};
    program_play_all(&o->player, o->p);
    check_ok(cavs_function_finish(o->f));
}

/* ---- its only vertex, with the inputs that the steps have ---- */

/* name: of the step, or "step:entry". */
static void give(const struct program_oracle *o, struct sample_stage *stage, int input,
                 const char *name)
{
    const char *entry = strchr(name, ':');
    const struct program_step *s = &o->p->steps[atoi(name)];
    uint64_t seed = s->seed;

    if (s->op == PROGRAM_ID) {
        stage->ids[input] = array(1, sizeof(int));
        stage->ids[input][0] = s->k;
        return;
    }
    stage->rows[input] = array(s->width, sizeof(float));
    if (entry) {
        program_mask(o->tape->values[atoi(name)].keys[atoi(entry + 1)], s->s, s->width,
                     stage->rows[input]);
        return;
    }
    for (int i = 0; i < s->width; i++)
        stage->rows[input][i] = (float)random_double(&seed, -1, 1);
}

static struct sample_stage *single_vertex(const struct program_oracle *o)
{
    const struct cavs_stage *s = o->m->stages[0];
    struct sample_stage *stage = array(1, sizeof *stage);

    stage->n = 1;
    stage->graph = graph_make("single");
    stage->ids = array(s->ninputs, sizeof *stage->ids);
    stage->rows = array(s->ninputs, sizeof *stage->rows);
    stage->ptr = array(s->ninputs, sizeof *stage->ptr);
    for (int i = 0; i < s->ninputs; i++)
        give(o, stage, i, s->inputs[i]->name);
    return stage;
}

static void take_params(struct program_oracle *o, const struct program_family *a,
                        struct cavs_session *s)
{
    for (int i = 0; i < cavs_model_param_count(a->m); i++) {
        const struct cavs_param *p = cavs_model_param_at(a->m, i);
        int n = p->rows * p->cols;
        float *values = array(n, sizeof *values);

        check_ok(cavs_session_get_param(s, p, values));
        for (int j = 0; j < n; j++)
            o->naive->param[i][j] = values[j];
        free(values);
    }
}

static void run(struct program_oracle *o)
{
    naive_reset(o->naive);
    naive_run(o->naive, &o->sample, true);
}

void program_oracle_open(struct program_oracle *o, const struct program_family *a,
                         const struct program_player *tape, struct cavs_session *s)
{
    *o = (struct program_oracle){.p = tape->p, .tape = tape};
    declare(o, a);
    o->naive = naive_create(o->m);
    o->sample = (struct sample){o->m, single_vertex(o)};
    take_params(o, a, s);
    run(o);
}

void program_oracle_close(struct program_oracle *o)
{
    struct sample_stage *stage = o->sample.stages;

    for (int i = 0; i < o->m->stages[0]->ninputs; i++) {
        free(stage->ids[i]);
        free(stage->rows[i]);
    }
    graph_free(stage->graph);
    free(stage->ids);
    free(stage->rows);
    free(stage->ptr);
    free(stage);
    naive_destroy(o->naive);
    program_player_close(&o->player);
    cavs_model_destroy(o->m);
}

/* ---- numbers ---- */

/* Some that the oracle has: of a symbol or a parameter. */
struct numbers {
    struct program_oracle *o;
    const struct cavs_symbol *x;
    bool gradient;
    int param, metric, n;
};

static const double *now(const struct numbers *of)
{
    const struct naive_stage *stage = &of->o->naive->stages[0];

    if (!of->x)
        return of->metric >= 0 ? &of->o->naive->sum[of->metric] : of->o->naive->gradient[of->param];
    return (of->gradient ? stage->dtape : stage->tape)[0] + stage->offset[0][of->x->number];
}

static double *copy(const struct numbers *of)
{
    double *to = array(of->n, sizeof *to);

    memcpy(to, now(of), (size_t)of->n * sizeof *to);
    return to;
}

static double *again(struct trial *t, const void *numbers)
{
    const struct numbers *of = numbers;

    (void)t;
    run(of->o);
    return copy(of);
}

/* Do other numbers of the row come so close to the largest that rounding decides on it?  Deep
 * chains forget what they began with, and noise meets the one that is wanted too rarely. */
static bool is_undecided(const struct program_oracle *o, const struct cavs_symbol *x)
{
    const double *row = o->naive->stages[0].tape[0] + o->naive->stages[0].offset[0][x->number];
    double most = row[0];

    for (int i = 1; i < x->width; i++)
        most = fmax(most, row[i]);
    for (int i = 0; i < x->width; i++) {
        if (row[i] != most && row[i] >= most - 1e-5 * fabs(most))
            return true;
    }
    return false;
}

/* So many more or fewer may be correct. */
static int undecided(const struct program_oracle *o)
{
    int n = 0;

    for (int i = 0; i < o->f->nsymbols; i++) {
        const struct cavs_symbol *x = o->f->symbols[i];

        n += x->op == CAVS__OP_CORRECT && is_undecided(o, x->inputs[0]);
    }
    return n;
}

/* Unless they are what rounding may have made of them. */
static void check(const char *what, const struct numbers *of, const float *got)
{
    struct trial t = {.oracle = of->o->naive};
    double *want = copy(of);
    double limit = TOLERANCE * fmax(trial_largest((size_t)of->n, want), 1e-6);

    if (!trial_is_close((size_t)of->n, got, want, limit))
        limit = trial_rounding(&t, (size_t)of->n, want, again, of);
    if (!strcmp(what, "correct"))
        limit = fmax(limit, undecided(of->o));
    check_within(what, (size_t)of->n, got, want, limit);
    free(want);
}

void program_oracle_check_step(struct program_oracle *o, int step, bool gradient, const float *got)
{
    const struct program_step *s = &o->p->steps[step];
    char what[80];

    snprintf(what, sizeof what, "%s of step %d, %s in line %d", gradient ? "gradient" : "value",
             step, program_op_names[s->op], s->line);
    check(what,
          &(struct numbers){
              .o = o, .x = o->player.values[step].x, .gradient = gradient, .n = s->width},
          got);
}

void program_oracle_check_answers(struct program_oracle *o)
{
    const float *got = o->tape->answers;

    for (int i = 0; i < o->p->nsteps; i++) {
        const struct program_step *s = &o->p->steps[i];

        for (int k = 0; s->op == PROGRAM_ASK && k < s->n; k++) {
            int asked = program_operands(o->p, s)[k];

            program_oracle_check_step(o, asked, false, got);
            got += o->p->steps[asked].width;
        }
    }
    assert_true(got == o->tape->answers + o->tape->nanswers);
}

void program_sums_read(struct program_sums *to, struct cavs_session *s)
{
    *to = (struct program_sums){0};
    assert_in_range(s->model->nmetrics, 0, PROGRAM_METRICS);
    for (int i = 0; i < s->model->nmetrics; i++)
        check_ok(cavs_session_metric(s, s->model->metrics[i]->name, &to->sum[i], &to->count[i]));
}

static int metric_named(const struct cavs_session *s, const char *name)
{
    int i = 0;

    while (i < s->model->nmetrics - 1 && strcmp(s->model->metrics[i]->name, name) != 0)
        i++;
    return i;
}

void program_oracle_check_metrics(struct program_oracle *o, struct cavs_session *s,
                                  const struct program_sums *others)
{
    struct program_sums all;

    program_sums_read(&all, s);
    for (int i = 0; i < o->m->nmetrics; i++) {
        const char *name = o->m->metrics[i]->name;
        int of = metric_named(s, name);
        double count = all.count[of] - others->count[of];
        float got = (float)(all.sum[of] - others->sum[of]);

        if (count != o->naive->count[i])
            fail_msg("metric %s: counted %g, want %g %s", name, count, o->naive->count[i],
                     trial_noted());
        check(name, &(struct numbers){.o = o, .metric = i, .n = 1}, &got);
    }
}

void program_oracle_check_gradients(struct program_oracle *o, struct cavs_session *s,
                                    program_gradient *get)
{
    const struct cavs_model *m = s->model;

    for (int i = 0; i < cavs_model_param_count(m); i++) {
        const struct cavs_param *p = cavs_model_param_at(m, i);
        struct numbers of = {.o = o, .param = i, .metric = -1, .n = p->rows * p->cols};
        float *got = array(of.n, sizeof *got);
        double *zeros = NULL;

        check_ok(get(s, p, got));
        if (p->frozen)
            check_within(p->name, (size_t)of.n, got, zeros = array(of.n, sizeof *zeros), 0);
        else
            check(p->name, &of, got);
        free(zeros);
        free(got);
    }
}

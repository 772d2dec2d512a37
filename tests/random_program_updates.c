/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_updates.c - see random_program_updates.h. */
#include "tests/random_program_updates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/naive_rules.h"
#include "tests/trial.h"

static const struct cavs_param *param(const struct program_updates *u, int i)
{
    return cavs_model_param_at(u->s->model, i);
}

static int size(const struct cavs_param *p)
{
    return p->rows * p->cols;
}

static void *array(int n, size_t size)
{
    void *p = calloc((size_t)n + 1, size);

    assert_non_null(p);
    return p;
}

void program_updates_open(struct program_updates *u, struct cavs_session *s)
{
    int n = cavs_model_param_count(s->model);

    *u = (struct program_updates){.s = s,
                                  .before = array(n, sizeof *u->before),
                                  .kept = array(n, sizeof *u->kept),
                                  .reached = array(n, sizeof *u->reached)};
    for (int i = 0; i < n; i++) {
        u->before[i] = array(size(param(u, i)), sizeof(float));
        u->kept[i] = array(size(param(u, i)), sizeof **u->kept);
    }
}

void program_updates_close(struct program_updates *u)
{
    for (int i = 0; u->s && i < cavs_model_param_count(u->s->model); i++) {
        free(u->before[i]);
        free(u->kept[i]);
    }
    free(u->before);
    free(u->kept);
    free(u->reached);
    *u = (struct program_updates){0};
}

void program_updates_expect(struct program_updates *u)
{
    for (int i = 0; i < cavs_model_param_count(u->s->model); i++)
        check_ok(cavs_session_get_param(u->s, param(u, i), u->before[i]));
}

/* An update's gradients are still there, only nobody promises that.  Where they are clipped they
 * are not: then the oracle's, which are as good for rules that are linear in them. */
static double **gradients(struct program_updates *u, double *const *oracle)
{
    int n = cavs_model_param_count(u->s->model);
    double **g = array(n, sizeof *g);

    u->s->gradient_batch = u->s->engine.batches;
    for (int i = 0; i < n; i++) {
        const struct cavs_param *p = param(u, i);
        float *read = array(size(p), sizeof *read);

        g[i] = array(size(p), sizeof **g);
        check_ok(cavs_session_get_gradient(u->s, p, read));
        for (int j = 0; j < size(p); j++)
            g[i][j] = u->s->options.clip == 0 ? read[j] : p->frozen ? 0 : oracle[i][j];
        free(read);
    }
    return g;
}

/* What gradients are multiplied by. */
static double factor(const struct program_updates *u, double *const *g, int samples)
{
    const struct cavs_session_options *o = &u->s->options;
    double scale = (o->scale == 0 ? 1 : o->scale) / (o->mean ? samples : 1), squares = 0, norm;

    for (int i = 0; i < cavs_model_param_count(u->s->model); i++) {
        for (int j = 0; j < size(param(u, i)); j++)
            squares += g[i][j] * g[i][j];
    }
    norm = scale * sqrt(squares);
    return o->clip > 0 && norm > o->clip ? scale * o->clip / norm : scale;
}

static bool are_zeros(int n, const double *x)
{
    for (int i = 0; i < n; i++) {
        if (x[i] != 0)
            return false;
    }
    return true;
}

/* Nothing has changed n numbers whose gradients are zeros: may that be?  Rows of a table that
 * nobody has looked up stay, whatever the optimizer keeps of them; and so does a parameter that
 * nobody has used. */
static bool may_stay(const struct program_updates *u, int i, int n, const double *g)
{
    const struct cavs_param *p = param(u, i);

    return p->frozen ||
           (are_zeros(n, g) && (cavs__has_row_gradient(u->s->plan, p) || !u->reached[i]));
}

/* A row of parameter i, or all of it. */
static void check_numbers(struct program_updates *u, int i, int first, int n, const float *now,
                          const double *g, double scale)
{
    const struct cavs_session_options *o = &u->s->options;
    const float *before = u->before[i] + first;
    double *want, limit;
    char what[80];

    if (may_stay(u, i, n, g) && memcmp(now, before, (size_t)n * sizeof *now) == 0)
        return;
    if (param(u, i)->frozen)
        fail_msg("%s is frozen, and has changed %s", param(u, i)->name, trial_noted());
    want = array(n, sizeof *want);
    for (int j = 0; j < n; j++)
        want[j] = naive_rules[o->optimizer](o, o->lr, u->n, before[j], scale * g[j],
                                            u->kept[i][first + j]);
    limit = 1e-6 * fmax(trial_largest((size_t)n, want), 1);
    if (o->clip >
        0) /* a gradient of clip at most, as close as the oracle's, added up by momentum */
        limit += 10 * o->lr * 1e-4 * o->clip;
    snprintf(what, sizeof what, "%s after update %d by %s", param(u, i)->name, u->n,
             cavs_optimizer_name((int)o->optimizer));
    check_within(what, (size_t)n, now, want, limit);
    free(want);
}

static void check_param(struct program_updates *u, int i, const double *g, double scale)
{
    const struct cavs_param *p = param(u, i);
    int n = cavs__has_row_gradient(u->s->plan, p) ? p->cols : size(p);
    float *now = array(size(p), sizeof *now);

    check_ok(cavs_session_get_param(u->s, p, now));
    for (int j = 0; j < size(p); j += n)
        check_numbers(u, i, j, n, now + j, g + j, scale);
    u->reached[i] |= !are_zeros(size(p), g);
    free(now);
}

void program_updates_check(struct program_updates *u, int samples, double *const *oracle)
{
    double **g = gradients(u, oracle), scale = factor(u, g, samples);

    u->n++;
    for (int i = 0; i < cavs_model_param_count(u->s->model); i++) {
        check_param(u, i, g[i], scale);
        free(g[i]);
    }
    free(g);
}

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
                                  .lr = s->options.lr,
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

/* Of several gradients of a row the first alone. */
static struct cavs__touched firsts(const struct cavs__touched *t)
{
    struct cavs__touched first = *t;

    first.ptr = array(t->n + 1, sizeof *first.ptr);
    first.source = array(t->n, sizeof *first.source);
    first.row = array(t->n, sizeof *first.row);
    for (int i = 0; i < t->n; i++) {
        first.ptr[i + 1] = i + 1;
        first.source[i] = t->source[t->ptr[i]];
        first.row[i] = t->row[t->ptr[i]];
    }
    return first;
}

static int get_rows(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    struct cavs__touched **touched = &s->batch->touched[p->number], *all = *touched;
    struct cavs__touched first = firsts(all);
    int rc;

    *touched = &first;
    rc = cavs_session_get_gradient(s, p, values);
    *touched = all;
    free(first.ptr);
    free(first.source);
    free(first.row);
    return rc;
}

static int get_dense(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    bool *used = s->engine.grad_used[cavs__stored(p)->number], all[CAVS__MAX_PARTIALS], met = false;
    int rc;

    memcpy(all, used, sizeof all);
    for (int i = 0; i < CAVS__MAX_PARTIALS; i++) {
        used[i] = all[i] && !met;
        met |= all[i];
    }
    rc = cavs_session_get_gradient(s, p, values);
    memcpy(used, all, sizeof all);
    return rc;
}

/* Where they are clipped, the norm has left sums in the place of the first of the gradients that
 * they are made of, and the others as they were (core/run/make_updates.c). */
int program_updates_gradient(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    const struct cavs__touched *t = s->batch->touched[cavs__stored(p)->number];

    s->gradient_batch = s->engine.batches;
    if (s->options.clip == 0 || p->frozen)
        return cavs_session_get_gradient(s, p, values);
    if (cavs__has_dense_gradient(s->plan, p))
        return get_dense(s, p, values);
    return t && !t->stays ? get_rows(s, p, values) : cavs_session_get_gradient(s, p, values);
}

static double **gradients(const struct program_updates *u)
{
    int n = cavs_model_param_count(u->s->model);
    double **g = array(n, sizeof *g);

    for (int i = 0; i < n; i++) {
        const struct cavs_param *p = param(u, i);
        float *read = array(size(p), sizeof *read);

        g[i] = array(size(p), sizeof **g);
        check_ok(program_updates_gradient(u->s, p, read));
        for (int j = 0; j < size(p); j++)
            g[i][j] = read[j];
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

static bool is_touched(const struct program_updates *u, const struct cavs_param *p, int row)
{
    const struct cavs__touched *t = u->s->batch->touched[p->number];

    for (int k = 0; t && k < t->n; k++) {
        if (t->ids[k] == row)
            return true;
    }
    return false;
}

/* Nothing has changed n numbers whose gradients are zeros: may that be?  Rows of a table that
 * nobody has looked up stay, whatever the optimizer keeps of them, which of the others may change
 * without them; and so does a parameter that nobody has used. */
static bool may_stay(const struct program_updates *u, int i, int first, int n, const double *g)
{
    const struct cavs_param *p = param(u, i);

    if (p->frozen || !are_zeros(n, g))
        return p->frozen;
    return cavs__has_row_gradient(u->s->plan, p) ? !is_touched(u, p, first / p->cols)
                                                 : !u->reached[i];
}

/* A row of parameter i, or all of it. */
static void check_numbers(struct program_updates *u, int i, int first, int n, const float *now,
                          const double *g, double scale)
{
    const struct cavs_session_options *o = &u->s->options;
    const float *before = u->before[i] + first;
    double *want, limit;
    char what[80];

    if (may_stay(u, i, first, n, g) && memcmp(now, before, (size_t)n * sizeof *now) == 0)
        return;
    if (param(u, i)->frozen)
        fail_msg("%s is frozen, and has changed %s", param(u, i)->name, trial_noted());
    want = array(n, sizeof *want);
    for (int j = 0; j < n; j++)
        want[j] = naive_rules[o->optimizer](o, u->lr, u->n, before[j], scale * g[j],
                                            u->kept[i][first + j]);
    limit = 1e-6 * fmax(trial_largest((size_t)n, want), 1);
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

void program_updates_check(struct program_updates *u, int samples)
{
    double **g = gradients(u), scale = factor(u, g, samples);

    u->n++;
    for (int i = 0; i < cavs_model_param_count(u->s->model); i++) {
        check_param(u, i, g[i], scale);
        free(g[i]);
    }
    free(g);
}

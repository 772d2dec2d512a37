/* SPDX-License-Identifier: Apache-2.0 */
/* test_oracle.c - who tests the tester: the oracle's gradients against central differences of its
 * own loss. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"
#include "tests/trial.h"

/* Values away from zero and from one another, so that no relu has a corner where it is looked
 * at. */
static void fill_params(struct naive *o)
{
    uint64_t seed = 5;
    for (int i = 0; i < o->model->nparams; i++) {
        const struct cavs_param *p = o->model->params[i];
        for (int j = 0; j < p->rows * p->cols; j++)
            o->param[i][j] = random_double(&seed, -0.8, 0.8);
    }
}

static double objective(struct naive *o, struct sample *const *samples, int n)
{
    naive_reset(o);
    for (int i = 0; i < n; i++)
        naive_run(o, samples[i], false);
    return naive_objective(o);
}

static double difference(struct naive *o, struct sample *const *samples, int n, double *at)
{
    const double eps = 1e-5;
    double was = *at;
    *at = was + eps;
    double up = objective(o, samples, n);
    *at = was - eps;
    double down = objective(o, samples, n);
    *at = was;
    return (up - down) / (2 * eps);
}

/* Some entries of every parameter; the largest gradient seen. */
static double check_param(struct naive *o, struct sample *const *samples, int n,
                          const struct cavs_param *p, const double *gradient)
{
    int size = p->rows * p->cols;
    double largest = 0;
    for (int j = 0; j < size; j += 5) {
        double want = difference(o, samples, n, &o->param[p->number][j]);
        if (!(fabs(gradient[j] - want) <= 1e-6 * (1 + fabs(want))))
            fail_msg("gradient of %s[%d]: tape %.9g, central difference %.9g", p->name, j,
                     gradient[j], want);
        largest = fmax(largest, fabs(want));
    }
    return largest;
}

static void check_all(struct naive *o, struct sample *const *samples, int n)
{
    double largest = 0;
    for (int i = 0; i < o->model->nparams; i++) {
        const struct cavs_param *p = o->model->params[i];
        size_t size = sizeof(double) * (size_t)p->rows * (size_t)p->cols;
        double *gradient = malloc(size);
        assert_non_null(gradient);
        naive_reset(o);
        for (int j = 0; j < n; j++)
            naive_run(o, samples[j], true);
        memcpy(gradient, o->gradient[i], size); /* the differences overwrite it */
        largest = fmax(largest, check_param(o, samples, n, p, gradient));
        free(gradient);
    }
    if (largest < 1e-3)
        fail_msg("no gradient is larger than %g: this model tests nothing", largest);
}

static void gradients_are_differences(void **state)
{
    const struct zoo_entry *z = *state;
    struct cavs_model *m = zoo_model(z);
    struct naive *o = naive_create(m);
    struct sample *samples[ZOO_SAMPLES];
    int n = zoo_samples(z);
    for (int i = 0; i < n; i++)
        samples[i] = sample_make(m, z->samples[i], 40 + (uint64_t)i);
    fill_params(o);
    check_all(o, samples, n);
    for (int i = 0; i < n; i++)
        sample_free(samples[i]);
    naive_destroy(o);
    cavs_model_destroy(m);
}

static const char *name(int i)
{
    return zoo_at(i)->name;
}

static void *state(int i)
{
    return (void *)zoo_at(i);
}

int main(void)
{
    struct CMUnitTest *tests = trial_tests(zoo_count(), name, gradients_are_differences, state);
    int failed = _cmocka_run_group_tests("oracle", tests, (size_t)zoo_count(), NULL, NULL);
    free(tests);
    return failed;
}

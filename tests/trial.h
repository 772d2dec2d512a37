/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trial.h - one model with samples, evaluated by the library and by the oracle, and compared.
 *
 * Comparisons fail the running cmocka test and print both operands.
 */
#ifndef CAVS_TESTS_TRIAL_H
#define CAVS_TESTS_TRIAL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/naive.h"
#include "tests/zoo.h"

struct trial {
    struct cavs_model *model;
    struct cavs_data *data;
    struct naive *oracle;
    int nsamples;
    struct sample **samples;
    double floor;           /* errors are relative to the largest entry, but at least to this */
    bool forgives_rounding; /* what rounding moves as far in the oracle is no error; set by the
                             * caller */
    const int *batch;       /* what was evaluated last: the caller's */
    int nbatch;
};

/* Takes the model over.  Samples are made from the texts, changed by `adjust` (NULL: not) and
 * added to the data. */
typedef void trial_adjust(struct sample *s, int number);
void trial_open(struct trial *t, struct cavs_model *finished, const char *const *texts,
                int nsamples, trial_adjust *adjust);
void trial_open_zoo(struct trial *t, const struct zoo_entry *z);
void trial_close(struct trial *t);

/* Numbers of the oracle's, evaluated again; freed by the caller. */
typedef double *trial_numbers(struct trial *t, const void *of);
/* How far the library's may be from the n numbers wanted because all values on the way to them are
 * rounded (trial_rounding.c). */
double trial_rounding(struct trial *t, size_t n, const double *want, trial_numbers *again,
                      const void *of);

/* Copies the session's parameters to the oracle. */
void trial_take_params(struct trial *t, struct cavs_session *s);
/* Resets the oracle and runs it over the batch. */
void trial_oracle(struct trial *t, const int *batch, int n, bool backward);
/* Runs the batch on both and compares metrics and gradients; the session's metrics are reset
 * first. */
void trial_check_gradients(struct trial *t, struct cavs_session *s, const int *batch, int n);
/* Metrics and gradients that the session has against those that the oracle holds. */
void trial_compare(struct trial *t, struct cavs_session *s);
/* Runs the batch on both and compares all channels of all stages. */
void trial_check_outputs(struct trial *t, struct cavs_session *s, const int *batch, int n);
/* Metrics against those that the oracle holds. */
void trial_check_metrics(struct trial *t, struct cavs_session *s);

/* Is each of n numbers no further than limit from the one wanted? */
bool trial_is_close(size_t n, const float *got, const double *want, double limit);
/* Fails, saying what and where, unless it is. */
void check_within(const char *what, size_t n, const float *got, const double *want, double limit);
/* The largest |x|; 0 of none. */
double trial_largest(size_t n, const double *x);
/* Fails, saying what and where, if got is further from want than tolerance times the largest
 * |want|. */
void check_close(const char *what, size_t n, const float *got, const double *want,
                 double tolerance);
/* Fails with the library's message unless rc is 0. */
#define check_ok(rc) check_ok_at((rc), #rc, __FILE__, __LINE__)
void check_ok_at(int rc, const char *call, const char *file, int line);
/* Fails unless rc is `code` and the message contains all texts, up to NULL. */
#define check_refused(rc, code, ...)                        \
    check_refused_at((rc), (code), #rc, __FILE__, __LINE__, \
                     (const char *const[]){__VA_ARGS__, NULL})
void check_refused_at(int rc, int code, const char *call, const char *file, int line,
                      const char *const *texts);

/* What the next comparisons are about, said when one fails: policy, switches, batch. */
void trial_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *trial_noted(void);

/* A runtime for a whole cmocka group: as its setup and teardown.  Two workers unless
 * CAVS_TEST_WORKERS says otherwise, and no device unless CAVS_TEST_OPENCL or
 * CAVS_TEST_CUDA does. */
extern struct cavs_runtime *trial_runtime;
int trial_runtime_up(void **state);
int trial_runtime_down(void **state);
/* A session of the trial's model on that runtime. */
struct cavs_session *trial_session(struct trial *t, const struct cavs_session_options *options);
/* Are gradients of the model refused there?  Those of a table that is multiplied, too, are added up
 * by CPU workers, and if there is none that has to be said: fails unless it is. */
bool trial_refused(struct trial *t, struct cavs_session *s, const int *batch, int n);
/* If they are, the test is skipped: the session is destroyed then, and the trial closed. */
void trial_skip_refused(struct trial *t, struct cavs_session *s);

/* Fused groups of the next sessions are compiled, as users have them, or interpreted, which spares
 * half a second of compiler a session.  Without effect if the environment has CAVS_FUSION. */
void trial_compile(bool on);

/* A cmocka test for each element of a table: named, with its element as initial state.  Freed by
 * the caller. */
struct CMUnitTest *trial_tests(int n, const char *(*name)(int i), CMUnitTestFunction run,
                               void *(*state)(int i));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_oracle.h - what should come of a random program: its steps are the symbols of one
 * declared function, which the oracle evaluates at a single vertex.
 */
#ifndef CAVS_TESTS_RANDOM_PROGRAM_ORACLE_H
#define CAVS_TESTS_RANDOM_PROGRAM_ORACLE_H

#include "tests/naive.h"
#include "tests/random_program.h"

struct program_oracle {
    const struct program *p;
    const struct program_player *tape; /* who has recorded it */
    struct cavs_model *m;              /* a model of its own, with the parameters of the family's */
    struct cavs_function *f;
    struct program_player player;
    struct sample sample;
    struct naive *naive;
};

/* Evaluates what was recorded with the session's parameters, before the tape finishes it. */
void program_oracle_open(struct program_oracle *o, const struct program_family *a,
                         const struct program_player *tape, struct cavs_session *s);
void program_oracle_close(struct program_oracle *o);

enum { PROGRAM_METRICS = 8 };

/* What a session has counted, by number of the metric. */
struct program_sums {
    double sum[PROGRAM_METRICS], count[PROGRAM_METRICS];
};
void program_sums_read(struct program_sums *to, struct cavs_session *s);

/* As cavs_session_get_gradient() does it, which tells no gradient of an update. */
typedef int program_gradient(struct cavs_session *s, const struct cavs_param *p, float *values);

/* Fails unless these are what it has: values that were asked for, metrics, of which others have
 * counted that much, and gradients of parameters. */
void program_oracle_check_answers(struct program_oracle *o);
void program_oracle_check_metrics(struct program_oracle *o, struct cavs_session *s,
                                  const struct program_sums *others);
void program_oracle_check_gradients(struct program_oracle *o, struct cavs_session *s,
                                    program_gradient *get);
/* The value of a step, or the gradient with respect to it. */
void program_oracle_check_step(struct program_oracle *o, int step, bool gradient, const float *got);

#endif

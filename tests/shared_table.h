/* SPDX-License-Identifier: Apache-2.0 */
/* shared_table.h - a table of two sessions: one looks it up and updates it, and the other, on a
 * tape of its own, multiplies by it. */
#ifndef CAVS_TESTS_SHARED_TABLE_H
#define CAVS_TESTS_SHARED_TABLE_H

#include "tests/trial.h"

enum { TABLE_WORDS = 6, TABLE_WIDTH = 20 };

struct table_user {
    struct cavs_model *m;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static inline struct table_user table_user_of(const struct cavs_session_options *o,
                                              const struct cavs_session *other)
{
    struct table_user u;

    check_ok(cavs_model_create(&u.m));
    cavs_model_param(u.m, "E", TABLE_WORDS, TABLE_WIDTH, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(u.m));
    check_ok(cavs_session_create_with(trial_runtime, u.m, o, other, &u.s));
    check_ok(cavs_tape_create(u.s, NULL, &u.t));
    return u;
}

static inline void table_user_end(const struct table_user *u)
{
    cavs_tape_destroy(u->t);
    cavs_session_destroy(u->s);
    cavs_model_destroy(u->m);
}

static inline void table_look_up_and_update(const struct table_user *u, int word)
{
    struct cavs_param *E = cavs_model_find_param(u->m, "E");
    struct cavs_function *f;

    check_ok(cavs_tape_begin(u->t, CAVS_TAPE_TRAIN));
    f = cavs_tape_sample(u->t);
    cavs_loss(f, "loss", cavs_sum(cavs_square(cavs_lookup(E, cavs_tape_id(u->t, word)))), NULL);
    check_ok(cavs_tape_finish(u->t));
}

/* Ones times the transposed table: the sums of its rows. */
static inline void table_check_products(const struct table_user *u, double tolerance)
{
    struct cavs_param *p = cavs_model_find_param(u->m, "E");
    float E[TABLE_WORDS * TABLE_WIDTH], ones[TABLE_WIDTH], sums[TABLE_WORDS], *row = sums;
    double want[TABLE_WORDS] = {0};
    struct cavs_symbol *x;

    for (int i = 0; i < TABLE_WIDTH; i++)
        ones[i] = 1;
    check_ok(cavs_tape_begin(u->t, CAVS_TAPE_EVALUATE));
    cavs_tape_sample(u->t);
    x = cavs_matmul_t(cavs_tape_row(u->t, TABLE_WIDTH, ones), p);
    check_ok(cavs_tape_values(u->t, 1, &x, &row));
    check_ok(cavs_session_get_param(u->s, p, E));
    for (int i = 0; i < TABLE_WORDS * TABLE_WIDTH; i++)
        want[i / TABLE_WIDTH] += E[i];
    check_close("sums of rows", TABLE_WORDS, sums, want, tolerance);
}

static inline void shared_table_check(const struct cavs_session_options *o, double tolerance)
{
    struct table_user looks_up = table_user_of(o, NULL), multiplies = table_user_of(o, looks_up.s);

    for (int word = 0; word < TABLE_WORDS; word++) {
        table_check_products(&multiplies, tolerance);
        table_look_up_and_update(&looks_up, word);
        table_look_up_and_update(&looks_up, word);
    }
    table_check_products(&multiplies, tolerance);
    table_user_end(&looks_up);
    table_user_end(&multiplies);
}

#endif

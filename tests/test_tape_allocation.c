/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tape_allocation.c - memory runs out while a tape is made, records and computes, and while
 * what it has found goes through a checkpoint, at each allocation in turn.  Whatever is refused
 * then says so; after cavs_tape_begin() the tape computes what it should.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/tape/tape.h"
#include "tests/failing_alloc.h"
#include "tests/trial.h"

enum { WIDTH = 8, WORDS = 5, SAMPLES = 3 };

/* In memory, if possible: files are flushed to disk before they get their names. */
static char folder[64] = "/dev/shm/cavs-tape-allocation-XXXXXX", path[80];

struct life {
    struct cavs_model *m;
    struct cavs_param *E, *U, *V;
    struct cavs_session *s;
    struct cavs_tape *t;
    float row[SAMPLES][WIDTH];
};

static int record_sample(struct life *l, struct cavs_symbol **h)
{
    struct cavs_function *f = cavs_tape_sample(l->t);
    struct cavs_symbol *x[3], *list, *z;

    if (!f)
        return CAVS_ENOMEM;
    for (int i = 0; i < 3; i++)
        x[i] = cavs_lookup(l->E, cavs_tape_id(l->t, i + 1));
    list = cavs_tape_list(l->t, 3, x);
    *h = cavs_add(cavs_sum_children(cavs_mul(cavs_softmax_children(list), list)),
                  cavs_tape_row(l->t, WIDTH, l->row[0]));
    z = cavs_matmul(cavs_tanh(cavs_matmul(*h, l->U)), l->V);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(z, cavs_tape_id(l->t, 1)), NULL);
    cavs_loss(f, "loss", cavs_dot(cavs_matmul_t(*h, l->E), cavs_matmul_t(x[0], l->E)), NULL);
    return 0;
}

static int new_tape(struct life *l)
{
    struct cavs_tape_options o = cavs_tape_defaults();
    int rc;

    o.blocks_after = 1;
    rc = cavs_tape_create(l->s, &o, &l->t);
    if (!rc)
        l->t->blocks.worth = 1;
    return rc;
}

/* From the second time on, as blocks. */
static int record_in_blocks(struct life *l)
{
    struct cavs_symbol *h;
    int rc = cavs_tape_begin(l->t, CAVS_TAPE_GRADIENT);

    for (int i = 0; i < SAMPLES && !rc; i++)
        rc = record_sample(l, &h);
    return rc ? rc : cavs_tape_finish(l->t);
}

/* With values in the middle, or gradients at the end. */
static int record_and_ask(struct life *l, bool values)
{
    struct cavs_symbol *h[SAMPLES];
    float *to[SAMPLES];
    int rc = cavs_session_reset_metrics(l->s);

    if (!rc)
        rc = cavs_tape_begin(l->t, CAVS_TAPE_GRADIENT);
    for (int i = 0; i < SAMPLES && !rc; i++) {
        to[i] = l->row[i];
        rc = record_sample(l, &h[i]);
    }
    if (!rc && values && h[0] && h[1] && h[2])
        rc = cavs_tape_values(l->t, SAMPLES, h, to);
    if (!rc)
        rc = cavs_tape_finish(l->t);
    if (!rc && !values)
        rc = cavs_tape_gradients(l->t, SAMPLES, h, to);
    return rc;
}

/* Everything with a tape once; *loss: what it comes to.  Gradients inside of blocks are refused
 * once. */
static int run(struct life *l, double *loss)
{
    static float zeros[WIDTH];
    double count;
    int rc = 0;

    memcpy(l->row[0], zeros, sizeof zeros);
    if (!rc && !l->t)
        rc = new_tape(l);
    for (int i = 0; i < 2 && !rc; i++)
        rc = record_in_blocks(l);
    if (!rc)
        rc = record_and_ask(l, true);
    if (!rc)
        rc = record_and_ask(l, false);
    if (rc == CAVS_ESTATE)
        rc = record_and_ask(l, false);
    return rc ? rc : cavs_session_metric(l->s, "loss", loss, &count);
}

static void open_life(struct life *l)
{
    struct cavs_session_options o = cavs_session_defaults();

    *l = (struct life){0};
    o.shards = 2;
    check_ok(cavs_model_create(&l->m));
    l->E = cavs_model_param(l->m, "E", WORDS, WIDTH, CAVS_UNIFORM(-1, 1));
    l->U = cavs_model_param(l->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-1, 1));
    l->V = cavs_model_param(l->m, "V", WIDTH, 3, CAVS_UNIFORM(-1, 1));
    check_ok(cavs_model_finish(l->m));
    check_ok(cavs_session_create(trial_runtime, l->m, &o, &l->s));
}

static void close_life(struct life *l)
{
    cavs_tape_destroy(l->t);
    cavs_session_destroy(l->s);
    cavs_model_destroy(l->m);
}

static void memory_may_run_out_anywhere(void **unused)
{
    double want, got = 0;
    struct life l;
    bool failed = true;

    (void)unused;
    open_life(&l);
    check_ok(run(&l, &want));
    close_life(&l);
    for (long i = 1; failed; i += i < 400 ? 1 : 3) { /* making blocks takes a thousand */
        int rc;

        open_life(&l);
        failing_alloc_begin(i, false);
        rc = run(&l, &got);
        failing_alloc_end();
        failed = failing_alloc_failures() > 0;
        if (rc && rc != CAVS_ENOMEM)
            fail_msg("allocation %ld: code %d, %s", i, rc, cavs_error_message());
        if (rc)
            check_ok(run(&l, &got));
        if (fabs(got - want) > 1e-6 * fabs(want))
            fail_msg("allocation %ld: loss %g, want %g", i, got, want);
        close_life(&l);
    }
}

static void what_is_half_made_leaves_nothing(void **unused)
{
    struct cavs__signatures s;
    struct life l;
    int rc = CAVS_ENOMEM;

    (void)unused;
    open_life(&l);
    for (long i = 1; rc; i++) {
        char first[80];

        failing_alloc_begin(i, false);
        rc = cavs__signatures_init(&s, l.m, 0);
        failing_alloc_end();
        cavs__signatures_free(&s);
        if (failing_alloc_left(first, sizeof first) > 0)
            fail_msg("allocation %ld fails: %s is left", i, first);
    }
    close_life(&l);
}

/* To a checkpoint and back. */
static int pass_on(struct life *l)
{
    int rc = cavs_session_checkpoint(l->s, path, NULL);

    return rc ? rc : cavs_session_resume(l->s, path, NULL);
}

static void memory_may_run_out_while_what_was_found_is_passed_on(void **unused)
{
    double want, got;
    struct life l;
    bool failed = true;

    (void)unused;
    open_life(&l);
    check_ok(run(&l, &want));
    for (long i = 1; failed; i++) {
        int rc;

        failing_alloc_begin(i, false);
        rc = pass_on(&l);
        failing_alloc_end();
        failed = failing_alloc_failures() > 0;
        if (rc && !strstr(cavs_error_message(), "memory"))
            fail_msg("allocation %ld: code %d, %s", i, rc, cavs_error_message());
        check_ok(run(&l, &got));
        assert_true(fabs(got - want) <= 1e-6 * fabs(want));
    }
    close_life(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(what_is_half_made_leaves_nothing),
        cmocka_unit_test(memory_may_run_out_while_what_was_found_is_passed_on),
    };

    int failed;

    if (!mkdtemp(folder)) {
        strcpy(folder, "/tmp/cavs-tape-allocation-XXXXXX");
        if (!mkdtemp(folder))
            return 1;
    }
    snprintf(path, sizeof path, "%s/found", folder);
    trial_compile(false);
    failed = cmocka_run_group_tests_name("tapes without memory", tests, trial_runtime_up,
                                         trial_runtime_down);
    unlink(path);
    rmdir(folder);
    return failed;
}

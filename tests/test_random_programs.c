/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_random_programs.c - programs that nobody would write, drawn at random and recorded on tapes:
 * their values and gradients are those of the oracle, whatever blocks are made of them, and the
 * bits of others that record the same.
 *
 * A number is a whole test: it draws the parameters, the bodies of loops, what some recordings do
 * with them, and the options of the session and the tape.  CAVS_TEST_LONG=1 tries many more
 * numbers; CAVS_TEST_SEED=N just that one, and CAVS_TEST_EXPLAIN=1 shows what it records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/groups/elementwise.h"
#include "core/base/array.h"
#include "core/declare/operator.h"
#include "core/tape/tape.h"
#include "tests/random_program.h"
#include "tests/random_program_oracle.h"
#include "tests/trial.h"

enum { FEW = 20, MANY = 2000, RECORDINGS = 6 };

/* ---- a session with a tape ---- */

struct options {
    struct cavs_session_options session;
    struct cavs_tape_options tape;
    int worth;
};

struct scene {
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_tape *t;
    struct program_family *family;
    int nbits;
    float *bits; /* all that it has said so far */
};

static struct options draw_options(struct draw *d)
{
    static const enum cavs_policy policies[] = {CAVS_POLICY_DEPTH, CAVS_POLICY_AGENDA,
                                                CAVS_POLICY_AUTO, CAVS_POLICY_SERIAL};
    struct options o = {cavs_session_defaults(), cavs_tape_defaults(), 1 + draw_pick(d, 3)};

    o.session.shards = 1 + draw_pick(d, 4);
    o.session.grain = draw_pick(d, 2) ? 1e-9f : 0;
    o.session.lr = 0.02f;
    o.session.seed = d->seed;
    o.tape.policy = policies[draw_pick(d, 4)];
    o.tape.blocks_after = draw_pick(d, 4) ? 1 + draw_pick(d, 2) : 0;
    return o;
}

static void open_scene(struct scene *x, struct program_family *a, const struct options *o,
                       int workers)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;

    *x = (struct scene){.family = a};
    r.workers = workers;
    r.leave_to_workers = true;
    check_ok(cavs_runtime_create(&r, &x->rt));
    check_ok(cavs_session_create(x->rt, a->m, &o->session, &x->s));
    check_ok(cavs_tape_create(x->s, &o->tape, &x->t));
    x->t->blocks.worth = o->worth;
}

/* The bits are the caller's to free. */
static void close_scene(struct scene *x)
{
    cavs_tape_destroy(x->t);
    cavs_session_destroy(x->s);
    cavs_runtime_destroy(x->rt);
    x->t = NULL;
    x->s = NULL;
    x->rt = NULL;
}

/* There is one runtime at a time: this is its scene, closed behind a test that failed. */
static struct scene present;

static int close_present(void **unused)
{
    (void)unused;
    close_scene(&present);
    return 0;
}

static void note_bits(struct scene *x, int n, const float *numbers)
{
    for (int i = 0; i < n; i++)
        assert_true(CAVS__APPEND(x->bits, x->nbits, numbers[i]));
}

/* ---- what was drawn ---- */

static bool drawn[CAVS__OP_COUNT], drawn_elementwise[CAVS__EW_OPERATORS];

static void note_drawn(const struct cavs__recording *r, const struct program *p)
{
    for (int i = 0; i < cavs__symbols_of(r); i++) {
        const struct cavs_symbol *x = &cavs__node_at(r, i)->x;

        drawn[x->op] = true;
        if (x->op == CAVS__OP_ELEMENTWISE)
            drawn_elementwise[x->k] = true;
    }
    for (int i = 0; i < p->nsteps; i++) /* it is no symbol of the recording's */
        drawn[CAVS__OP_USE] |= p->steps[i].op == PROGRAM_USE;
}

/* Vertices have these, which a tape has not; or a tape records others for them, entry by entry; or
 * passes make them. */
static bool is_on_no_tape(int op)
{
    return op == CAVS__OP_FETCH || op == CAVS__OP_GATHER || op == CAVS__OP_SCATTER ||
           op == CAVS__OP_PUSH || op == CAVS__OP_REPEAT || op == CAVS__OP_LIST_SHARE ||
           op == CAVS__OP_LIST_SOFTMAX || op == CAVS__OP_SPREAD;
}

/* The oracle knows all operators of vertices, and these two are a tape's own. */
static void every_operator_was_drawn(void **unused)
{
    (void)unused;
    for (int op = 0; op < CAVS__OP_COUNT; op++) {
        bool wanted = op == CAVS__OP_LIST_MEAN || op == CAVS__OP_APPLY ||
                      (naive_knows((enum cavs__op)op) && !is_on_no_tape(op));

        if (wanted && !drawn[op])
            fail_msg("no program has the operator %s", cavs__operators[op]->name);
    }
    for (int k = 0; k < cavs__ew_count(); k++) {
        if (!drawn_elementwise[k])
            fail_msg("no program has the operator %s", cavs__ew_name(k));
    }
}

/* ---- a recording ---- */

static void note_params(struct scene *x, bool gradients)
{
    for (int i = 0; i < cavs_model_param_count(x->family->m); i++) {
        const struct cavs_param *p = cavs_model_param_at(x->family->m, i);
        float *numbers = calloc((size_t)(p->rows * p->cols), sizeof *numbers);

        assert_non_null(numbers);
        check_ok(gradients ? cavs_session_get_gradient(x->s, p, numbers)
                           : cavs_session_get_param(x->s, p, numbers));
        note_bits(x, p->rows * p->cols, numbers);
        free(numbers);
    }
}

/* False: one was computed inside of a block, or together with others; it is not the next time. */
static bool check_wanted(struct scene *x, struct program_player *player, struct program_oracle *o)
{
    struct cavs_symbol *xs[PROGRAM_WANTED];
    float *rows[PROGRAM_WANTED], numbers[PROGRAM_WANTED][PROGRAM_WIDEST];
    bool gradients = player->p->run != CAVS_TAPE_EVALUATE;
    int n = player->p->nwanted, rc;

    for (int i = 0; i < n; i++) {
        xs[i] = player->values[player->p->wanted[i]].x;
        rows[i] = numbers[i];
    }
    rc = gradients ? cavs_tape_gradients(x->t, n, xs, rows) : cavs_tape_values(x->t, n, xs, rows);
    if (rc == CAVS_ESTATE && gradients)
        return false;
    check_ok(rc);
    for (int i = 0; i < n; i++) {
        program_oracle_check_step(o, player->p->wanted[i], gradients, rows[i]);
        note_bits(x, player->p->steps[player->p->wanted[i]].width, rows[i]);
    }
    return true;
}

static void finish(struct scene *x, struct program_player *player, struct program_oracle *o)
{
    check_ok(cavs_tape_finish(x->t));
    program_oracle_check_answers(o, player);
    program_oracle_check_metrics(o, x->s);
    if (player->p->run == CAVS_TAPE_GRADIENT)
        program_oracle_check_gradients(o, x->s);
    note_bits(x, player->nanswers, player->answers);
    note_params(x, player->p->run == CAVS_TAPE_GRADIENT);
}

/* With CAVS_TEST_EXPLAIN it is said step by step, since any of them may be the last. */
static void draw(struct program_draw *c)
{
    static const char *const runs[] = {"evaluate", "gradient", "train"};
    bool explain = getenv("CAVS_TEST_EXPLAIN");

    if (explain)
        fprintf(stderr, "#  begin (%s)\n", runs[c->p->run]);
    program_draw_recording(c);
    for (int i = 0; explain && i < c->p->nwanted; i++)
        fprintf(stderr, "#  gradient of %d\n", c->p->wanted[i]);
}

/* Plays the program, which is drawn meanwhile if it is empty.  false: a gradient was refused. */
static bool record(struct scene *x, struct program *p)
{
    struct program_player player = {.p = p, .family = x->family, .m = x->family->m, .t = x->t};
    struct program_draw c = {.family = x->family, .p = p, .live = &player};
    struct program_oracle o;
    bool whole;

    check_ok(cavs_session_reset_metrics(x->s));
    check_ok(cavs_tape_begin(x->t, p->run));
    if (p->nsteps > 0)
        program_play_all(&player, p);
    else
        draw(&c);
    note_drawn(&x->t->recording, p);
    program_oracle_open(&o, x->family, p, x->s);
    finish(x, &player, &o);
    whole = p->nwanted == 0 || check_wanted(x, &player, &o);
    program_oracle_close(&o);
    program_player_close(&player);
    return whole;
}

/* A symbol that is in no block any more cuts its run, and what stands behind it is at another place
 * then: so each of those that are wanted may be refused once. */
static void record_all(struct scene *x, struct program *p)
{
    for (int i = 0; i < RECORDINGS; i++) {
        int refused = 0;

        while (!record(x, &p[i])) {
            if (++refused > p[i].nwanted)
                fail_msg("refused again: %s %s", cavs_error_message(), trial_noted());
        }
    }
}

/* ---- a seed ---- */

static void check_bits(const struct scene *x, const struct scene *like)
{
    int i = 0;

    if (x->nbits != like->nbits)
        fail_msg("%d numbers instead of %d %s", x->nbits, like->nbits, trial_noted());
    while (i < x->nbits && memcmp(&x->bits[i], &like->bits[i], sizeof *x->bits) == 0)
        i++;
    if (i < x->nbits)
        fail_msg("number %d of %d is %.9g, and was %.9g %s", i, x->nbits, x->bits[i], like->bits[i],
                 trial_noted());
}

/* All recordings with so many workers.  like: the same bits have to come of it; NULL: or others. */
static struct scene run(struct program_family *a, struct program *p, const struct options *o,
                        int workers, const struct scene *like)
{
    open_scene(&present, a, o, workers);
    record_all(&present, p);
    close_scene(&present);
    if (like)
        check_bits(&present, like);
    return present;
}

/* The same in a model of its own: a session does not forget what others have used parameters of a
 * model for. */
static void run_again(uint64_t seed, struct program *p, const struct options *o, int workers,
                      const struct scene *like)
{
    struct program_family again;

    program_family_open(&again, seed);
    free(run(&again, p, o, workers, like).bits);
    program_family_close(&again);
}

static void run_seed(uint64_t seed)
{
    struct program p[RECORDINGS] = {0};
    struct program_family a;
    struct options o;
    struct scene first;

    program_family_open(&a, seed);
    o = draw_options(&a.d);
    for (int i = 0; i < RECORDINGS; i++)
        p[i].run = draw_pick(&a.d, 4) ? CAVS_TAPE_GRADIENT : (enum cavs_tape_run)draw_pick(&a.d, 3);
    trial_note("(seed %llu, two workers)", (unsigned long long)seed);
    first = run(&a, p, &o, 2, NULL);
    trial_note("(seed %llu, again)", (unsigned long long)seed);
    run_again(seed, p, &o, 2, &first);
    trial_note("(seed %llu, one worker)", (unsigned long long)seed);
    run_again(seed, p, &o, 1, &first);
    o.tape.blocks_after = o.tape.blocks_after ? 0 : 1;
    trial_note("(seed %llu, %s blocks)", (unsigned long long)seed,
               o.tape.blocks_after ? "with" : "no");
    run_again(seed, p, &o, 2, NULL);
    free(first.bits);
    for (int i = 0; i < RECORDINGS; i++)
        program_free(&p[i]);
    program_family_close(&a);
}

static void random_programs(void **state)
{
    draw_seeds(*state, run_seed);
}

int main(void)
{
    enum { PARTS = 10 };
    static int ranges[PARTS][2];
    static char names[PARTS][32];
    struct CMUnitTest tests[PARTS + 1];
    int total = getenv("CAVS_TEST_LONG") ? MANY : FEW,
        parts = getenv("CAVS_TEST_SEED") ? 1 : PARTS + 1;

    for (int i = 0; i < PARTS; i++) {
        ranges[i][0] = total * i / PARTS;
        ranges[i][1] = total * (i + 1) / PARTS;
        snprintf(names[i], sizeof names[i], "programs %d to %d", ranges[i][0], ranges[i][1] - 1);
        tests[i] = (struct CMUnitTest){.name = names[i],
                                       .test_func = random_programs,
                                       .teardown_func = close_present,
                                       .initial_state = ranges[i]};
    }
    tests[PARTS] = (struct CMUnitTest)cmocka_unit_test(every_operator_was_drawn);
    trial_compile(false);
    return _cmocka_run_group_tests("random programs", tests, (size_t)parts, NULL, NULL);
}

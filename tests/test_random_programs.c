/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_random_programs.c - programs that nobody would write, drawn at random and recorded on tapes:
 * their values and gradients, and the updates made of them, are those of the oracle, whatever
 * blocks are made of them, and the bits of others that record the same.
 *
 * A number is a whole test: it draws the parameters, the bodies of loops, what some recordings do
 * with them, what else is done between and amid these, and the options of the session and the tape.
 * CAVS_TEST_LONG=1 tries many more numbers; CAVS_TEST_SEED=N just that one, and
 * CAVS_TEST_SEED=N-M those; CAVS_TEST_EXPLAIN=1 shows what they record.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random_program_scene.h"
#include "tests/sanitized.h"
#include "tests/trial.h"

#ifdef SANITIZED
enum { FEW = 4, ALL_SEEN = 0 }; /* they take ten times as long, and do not meet everything */
#else
enum { FEW = 2 * CAVS_OPTIMIZERS, ALL_SEEN = 1 };
#endif
enum { MANY = 2000 };

/* ---- options ---- */

static void draw_training(struct draw *d, uint64_t seed, struct cavs_session_options *o)
{
    static const float scales[] = {0, 0, 0.5f}, clips[] = {0, 0.5f, 0.02f};

    o->optimizer = (enum cavs_optimizer)(seed % CAVS_OPTIMIZERS); /* all of them */
    o->lr = 0.02f;
    o->weight_decay = draw_pick(d, 3) ? 0 : 0.01f;
    o->clip = clips[draw_pick(d, 3)];
    o->scale = scales[draw_pick(d, 3)];
    o->mean = draw_pick(d, 3) == 0;
}

static struct program_options draw_options(struct draw *d, uint64_t seed)
{
    static const enum cavs_policy policies[] = {CAVS_POLICY_DEPTH, CAVS_POLICY_AGENDA,
                                                CAVS_POLICY_AUTO, CAVS_POLICY_SERIAL};
    struct program_options o = {.session = cavs_session_defaults(),
                                .tape = cavs_tape_defaults(),
                                .worth = 1 + draw_pick(d, 3)};

    draw_training(d, seed, &o.session);
    o.session.shards = 1 + draw_pick(d, 4);
    o.session.grain = draw_pick(d, 2) ? 1e-9f : 0;
    o.session.seed = d->seed;
    o.tape.policy = policies[draw_pick(d, 4)];
    o.tape.blocks_after = draw_pick(d, 4) ? 1 + draw_pick(d, 2) : 0;
    return o;
}

/* ---- a seed ---- */

/* There is one runtime at a time: this is its scene, closed behind a test that failed. */
static struct program_scene present;

static int close_present(void **unused)
{
    (void)unused;
    program_scene_close(&present);
    return 0;
}

static void check_bits(const struct program_scene *x, const struct program_scene *like)
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

/* All turns.  like: the same bits have to come of it; NULL: or others. */
static struct program_scene run(struct program_family *a, struct program_turns *turns,
                                const struct program_options *o, const struct program_scene *like)
{
    program_scene_open(&present, a, o);
    for (int i = 0; i < PROGRAM_TURNS; i++)
        program_take_turn(&present, &turns->turn[i]);
    program_note_session(&present);
    program_scene_close(&present);
    if (like)
        check_bits(&present, like);
    return present;
}

/* The same in a model of its own: a session does not forget what others have used parameters of a
 * model for. */
static void run_again(uint64_t seed, struct program_turns *turns, const struct program_options *o,
                      const struct program_scene *like)
{
    struct program_family again;

    program_family_open(&again, seed);
    free(run(&again, turns, o, like).bits);
    program_family_close(&again);
}

static void run_seed(uint64_t seed)
{
    struct program_turns turns;
    struct program_family a;
    struct program_options o;
    struct program_scene first;

    program_family_open(&a, seed);
    o = draw_options(&a.d, seed);
    program_draw_turns(&turns, &a);
    o.workers = 2;
    trial_note("(seed %llu, two workers)", (unsigned long long)seed);
    first = run(&a, &turns, &o, NULL);
    trial_note("(seed %llu, samples side by side)", (unsigned long long)seed);
    o.together = true;
    run_again(seed, &turns, &o, &first);
    trial_note("(seed %llu, one worker)", (unsigned long long)seed);
    o.workers = 1;
    o.together = false;
    run_again(seed, &turns, &o, &first);
    o.workers = 2;
    o.tape.blocks_after = o.tape.blocks_after ? 0 : 1;
    trial_note("(seed %llu, %s blocks)", (unsigned long long)seed,
               o.tape.blocks_after ? "with" : "no");
    run_again(seed, &turns, &o, NULL);
    free(first.bits);
    for (int i = 0; i < PROGRAM_RECORDED; i++)
        program_free(&turns.program[i]);
    program_family_close(&a);
}

static void random_program(void **state)
{
    run_seed(draw_seed(state));
}

static void everything_was_drawn(void **unused)
{
    (void)unused;
    program_check_all_seen();
}

int main(void)
{
    static struct CMUnitTest tests[DRAW_SEEDS + 1];
    const struct CMUnitTest each = {
        .name = "program", .test_func = random_program, .teardown_func = close_present};
    int n = draw_tests(tests, each, getenv("CAVS_TEST_LONG") ? MANY : FEW);

    if (ALL_SEEN && !getenv("CAVS_TEST_SEED"))
        tests[n++] = (struct CMUnitTest)cmocka_unit_test(everything_was_drawn);
    trial_compile(false);
    return _cmocka_run_group_tests("random programs", tests, (size_t)n, NULL, NULL);
}

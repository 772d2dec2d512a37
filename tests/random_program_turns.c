/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_turns.c - see random_program_scene.h: what a session does, in which order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/random.h"
#include "tests/random_program_scene.h"
#include "tests/trial.h"

/* ---- drawing ---- */

/* Most of them train: what one update does is seen by others. */
static enum cavs_tape_run draw_run(struct draw *d)
{
    return draw_pick(d, 2) ? CAVS_TAPE_TRAIN : (enum cavs_tape_run)draw_pick(d, 3);
}

static void draw_batch(struct program_turn *to, struct draw *d)
{
    to->run = draw_run(d);
    to->nbatch = 1 + draw_pick(d, PROGRAM_BATCH);
    for (int i = 0; i < to->nbatch; i++)
        to->batch[i] = draw_pick(d, DRAW_SAMPLES);
}

/* The learning rate from that turn on: another one, for half of the turns. */
static float draw_rate(struct draw *d)
{
    static const float rates[] = {0.05f, 0.003f, 0.0001f, -0.01f};

    return draw_pick(d, 2) ? NAN : rates[draw_pick(d, 4)];
}

/* All programs have their turn, and some of them more than one. */
static struct program *draw_program(struct program_turns *to, struct draw *d, int turn, int *known)
{
    bool must = PROGRAM_TURNS - turn <= PROGRAM_RECORDED - *known;

    if (*known == 0 || must || (*known < PROGRAM_RECORDED && draw_pick(d, 2)))
        return &to->program[(*known)++];
    return &to->program[draw_pick(d, *known)];
}

/* Something that is done while another tape records. */
static void draw_amid(struct program_turns *to, struct draw *d, int turn, int known)
{
    struct program_turn *now = &to->turn[turn], *amid = &to->amid[turn];

    *amid = (struct program_turn){.tape = 1 - now->tape, .lr = draw_rate(d)};
    if (draw_pick(d, 3))
        amid->program = &to->program[draw_pick(d, known)];
    else
        draw_batch(amid, d);
    now->when = random_double(&d->seed, 0, 1);
    now->amid = amid;
}

void program_draw_turns(struct program_turns *to, struct program_family *a)
{
    struct draw *d = &a->d;
    int known = 0;

    for (int i = 0; i < PROGRAM_RECORDED; i++)
        to->program[i] = (struct program){.number = i, .run = draw_run(d)};
    for (int i = 0; i < PROGRAM_TURNS; i++) {
        struct program_turn *turn = &to->turn[i];
        int before = known;

        *turn = (struct program_turn){.tape = draw_pick(d, 4) == 0, .lr = draw_rate(d)};
        if (PROGRAM_TURNS - i > PROGRAM_RECORDED - known && draw_pick(d, 4) == 0)
            draw_batch(turn, d);
        else
            turn->program = draw_program(to, d, i, &known);
        if (turn->program && known == before && draw_pick(d, 2)) /* all of its steps are known */
            draw_amid(to, d, i, known);
    }
}

/* ---- doing ---- */

static void explain(const struct program_turn *turn)
{
    static const char *const runs[] = {"evaluate", "gradient", "train"};

    if (!isnan(turn->lr))
        fprintf(stderr, "#  learning rate %g\n", (double)turn->lr);
    if (turn->program)
        fprintf(stderr, "#  tape %d: program %d of %d steps (%s)\n", turn->tape,
                turn->program->number, turn->program->nsteps, runs[turn->program->run]);
    else
        fprintf(stderr, "#  batch of %d (%s)\n", turn->nbatch, runs[turn->run]);
    if (turn->amid) {
        fprintf(stderr, "#  amid it, at %.2f\n", turn->when);
        explain(turn->amid);
    }
}

/* What comes of it is compared unless a recording goes on, whose sums that would forget. */
static void compute_batch(struct program_scene *x, const struct program_turn *turn, bool alone)
{
    struct trial *t = &x->family->trial;

    if (turn->run == CAVS_TAPE_EVALUATE && alone)
        trial_check_outputs(t, x->s, turn->batch, turn->nbatch);
    else if (turn->run == CAVS_TAPE_EVALUATE)
        check_ok(cavs_session_evaluate(x->s, t->data, turn->batch, turn->nbatch));
    else if (turn->run == CAVS_TAPE_GRADIENT && alone)
        trial_check_gradients(t, x->s, turn->batch, turn->nbatch);
    else if (turn->run == CAVS_TAPE_GRADIENT)
        check_ok(cavs_session_gradient(x->s, t->data, turn->batch, turn->nbatch));
    else {
        program_updates_expect(&x->updates);
        check_ok(cavs_session_train(x->s, t->data, turn->batch, turn->nbatch));
        program_updates_check(&x->updates, turn->nbatch);
    }
    program_scene_note_params(x, turn->run == CAVS_TAPE_GRADIENT);
}

static void set_rate(struct program_scene *x, const struct program_turn *turn)
{
    if (isnan(turn->lr))
        return;
    check_ok(cavs_session_set_lr(x->s, turn->lr));
    x->updates.lr = turn->lr;
}

void program_take_turn_amid(struct program_scene *x, const struct program_turn *turn)
{
    set_rate(x, turn);
    if (turn->program)
        program_scene_record(x, turn);
    else
        compute_batch(x, turn, false);
}

void program_take_turn(struct program_scene *x, const struct program_turn *turn)
{
    if (getenv("CAVS_TEST_EXPLAIN"))
        explain(turn);
    check_ok(cavs_session_reset_metrics(x->s));
    set_rate(x, turn);
    x->others = (struct program_sums){0};
    if (turn->program)
        program_scene_record(x, turn);
    else
        compute_batch(x, turn, true);
}

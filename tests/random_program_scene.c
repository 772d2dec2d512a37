/* SPDX-License-Identifier: Apache-2.0 */
/* random_program_scene.c - see random_program_scene.h: a session, and a recording. */
#include "tests/random_program_scene.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "tests/trial.h"

enum { NEW_BRANCHES = 3 };

/* ---- the session ---- */

void program_scene_open(struct program_scene *x, struct program_family *a,
                        const struct program_options *o)
{
    struct cavs_runtime_options r = CAVS_RUNTIME_DEFAULTS;

    *x = (struct program_scene){.family = a, .together = o->together};
    r.workers = o->workers;
    r.leave_to_workers = true;
    check_ok(cavs_runtime_create(&r, &x->rt));
    check_ok(cavs_session_create(x->rt, a->m, &o->session, &x->s));
    for (int i = 0; i < PROGRAM_TAPES; i++) {
        check_ok(cavs_tape_create(x->s, &o->tape, &x->t[i]));
        x->t[i]->blocks.worth = o->worth;
    }
    program_updates_open(&x->updates, x->s);
}

void program_scene_close(struct program_scene *x)
{
    program_updates_close(&x->updates);
    for (int i = 0; i < PROGRAM_TAPES; i++) {
        cavs_tape_destroy(x->t[i]);
        x->t[i] = NULL;
    }
    cavs_session_destroy(x->s);
    cavs_runtime_destroy(x->rt);
    x->s = NULL;
    x->rt = NULL;
}

static void note_bits(struct program_scene *x, int n, const float *numbers)
{
    for (int i = 0; i < n; i++)
        assert_true(CAVS__APPEND(x->bits, x->nbits, numbers[i]));
}

void program_scene_note_params(struct program_scene *x, bool gradients)
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

/* ---- what comes of a recording ---- */

/* False: one was computed inside of a block, or together with others; it is not the next time. */
static bool check_wanted(struct program_scene *x, struct program_player *player,
                         struct program_oracle *o)
{
    struct cavs_symbol *xs[PROGRAM_WANTED];
    float *rows[PROGRAM_WANTED], numbers[PROGRAM_WANTED][PROGRAM_WIDEST];
    bool gradients = player->p->run != CAVS_TAPE_EVALUATE;
    int n = player->p->nwanted, rc;

    for (int i = 0; i < n; i++) {
        xs[i] = player->values[player->p->wanted[i]].x;
        rows[i] = numbers[i];
    }
    rc = gradients ? cavs_tape_gradients(player->t, n, xs, rows)
                   : cavs_tape_values(player->t, n, xs, rows);
    if (rc == CAVS_ESTATE && gradients)
        return false;
    check_ok(rc);
    for (int i = 0; i < n; i++) {
        program_oracle_check_step(o, player->p->wanted[i], gradients, rows[i]);
        note_bits(x, player->p->steps[player->p->wanted[i]].width, rows[i]);
    }
    return true;
}

static int samples_of(const struct program *p)
{
    int n = 0;

    for (int i = 0; i < p->nsteps; i++)
        n += p->steps[i].op == PROGRAM_SAMPLE && !p->steps[i].dropped;
    return n;
}

static void finish(struct program_scene *x, struct program_player *player, struct program_oracle *o)
{
    if (player->p->run == CAVS_TAPE_TRAIN)
        program_updates_expect(&x->updates);
    check_ok(cavs_tape_finish(player->t));
    program_oracle_check_answers(o);
    program_oracle_check_metrics(o, x->s, &x->others);
    if (player->p->run == CAVS_TAPE_TRAIN) {
        program_updates_check(&x->updates, samples_of(player->p));
        program_oracle_check_gradients(o, x->s, program_updates_gradient);
    } else if (player->p->run == CAVS_TAPE_GRADIENT) {
        program_oracle_check_gradients(o, x->s, cavs_session_get_gradient);
    }
    note_bits(x, player->nanswers, player->answers);
    program_scene_note_params(x, player->p->run == CAVS_TAPE_GRADIENT);
}

/* ---- a recording ---- */

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

/* Before which step something else is done.  An update comes before the first value is asked for:
 * the others would be of other parameters. */
static int step_amid(const struct program_turn *turn)
{
    const struct program *p = turn->program;
    enum cavs_tape_run run = turn->amid->program ? turn->amid->program->run : turn->amid->run;
    int step = (int)(turn->when * p->nsteps), first = 0;

    while (first < p->nsteps && p->steps[first].op != PROGRAM_ASK)
        first++;
    return run == CAVS_TAPE_TRAIN && first < step ? first : step;
}

static void do_amid(struct program_scene *x, const struct program_turn *turn)
{
    const struct program_sums before = x->others;
    struct program_sums start, end;

    program_sums_read(&start, x->s);
    x->others = start;
    program_take_turn_amid(x, turn);
    program_sums_read(&end, x->s);
    for (int i = 0; i < PROGRAM_METRICS; i++) {
        x->others.sum[i] = before.sum[i] + end.sum[i] - start.sum[i];
        x->others.count[i] = before.count[i] + end.count[i] - start.count[i];
    }
}

static void play(struct program_scene *x, const struct program_turn *turn,
                 struct program_player *player)
{
    struct program_draw c = {.family = x->family, .p = turn->program, .live = player};

    if (turn->program->nsteps == 0) {
        draw(&c);
        return;
    }
    if (turn->amid) {
        program_play_until(player, step_amid(turn));
        do_amid(x, turn->amid);
    }
    program_play_all(player, turn->program);
}

/* false: a gradient was refused. */
static bool record(struct program_scene *x, const struct program_turn *turn)
{
    struct program *p = turn->program;
    struct program_player player = {.p = p,
                                    .family = x->family,
                                    .m = x->family->m,
                                    .t = x->t[turn->tape],
                                    .together = x->together};
    struct program_oracle o;
    bool whole;

    check_ok(cavs_tape_begin(player.t, p->run));
    play(x, turn, &player);
    program_note_recording(x, turn);
    program_oracle_open(&o, x->family, &player, x->s);
    finish(x, &player, &o);
    whole = p->nwanted == 0 || check_wanted(x, &player, &o);
    program_oracle_close(&o);
    program_player_close(&player);
    return whole;
}

/* A symbol that is in no block any more cuts its run, and what stands behind it is at another place
 * then: so each of those that are wanted may be refused once.  So it is with branches of the
 * program that its recording has shown, which are few. */
void program_scene_record(struct program_scene *x, const struct program_turn *turn)
{
    int refused = 0;

    while (!record(x, turn)) {
        if (getenv("CAVS_TEST_EXPLAIN"))
            fprintf(stderr, "#  refused: %s\n", cavs_error_message());
        if (++refused > turn->program->nwanted + NEW_BRANCHES)
            fail_msg("refused again: %s %s", cavs_error_message(), trial_noted());
        program_sums_read(&x->others, x->s);
    }
}

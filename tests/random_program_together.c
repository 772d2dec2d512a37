/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_together.c - see random_program.h: samples of a program that are recorded by
 * cavs_tape_record(), as the program leaves it to: they read nothing of one another, and in the
 * middle of them nothing is asked for or taken back.
 */
#include "tests/random_program.h"
#include "tests/trial.h"

enum { MOST_SAMPLES = 32 };

static bool is_control(enum program_op op)
{
    return op >= PROGRAM_SAMPLE && op <= PROGRAM_ASK;
}

/* The step behind what the sample that begins there records before anything else happens. */
static int end_of_sample(const struct program *p, int from)
{
    int i = from + 1;

    while (i < p->nsteps && !is_control(p->steps[i].op))
        i++;
    return i;
}

static bool reads_its_own(const struct program *p, int from, int end)
{
    for (int i = from; i < end; i++) {
        for (int k = 0; k < p->steps[i].n; k++) {
            if (program_operands(p, &p->steps[i])[k] < from)
                return false;
        }
    }
    return true;
}

/* Is more of the sample recorded from that step on? */
static bool goes_on(const struct program *p, int step)
{
    while (step < p->nsteps && p->steps[step].op == PROGRAM_ASK)
        step++;
    return step < p->nsteps && p->steps[step].op != PROGRAM_SAMPLE &&
           p->steps[step].op != PROGRAM_RESUME;
}

struct call {
    struct program_player *to;
    int n, from[MOST_SAMPLES + 1]; /* steps, from each up to the next */
};

/* Several workers may be at it, each with samples of its own. */
static int record(struct cavs_tape *t, int i, void *user)
{
    const struct call *call = user;
    struct program_player own = *call->to;

    own.t = t;
    own.f = cavs_tape_function(t);
    for (int k = call->from[i] + 1; k < call->from[i + 1]; k++)
        program_play_again(&own, k);
    return 0;
}

static struct call samples_from(struct program_player *to, int step, int end)
{
    const struct program *p = to->p;
    struct call call = {.to = to, .from = {step}};

    while (call.n < MOST_SAMPLES && step < end && p->steps[step].op == PROGRAM_SAMPLE) {
        int behind = end_of_sample(p, step);

        if (behind > end || goes_on(p, behind) || !reads_its_own(p, step, behind))
            break;
        call.from[++call.n] = step = behind;
    }
    return call;
}

bool program_play_together(struct program_player *to, int end)
{
    int first = to->nvalues;
    struct call call = samples_from(to, first, end);

    if (call.n == 0)
        return false;
    program_make_room(to, call.from[call.n]);
    check_ok(cavs_tape_record(to->t, call.n, record, &call));
    to->f = cavs_tape_function(to->t);
    for (int i = first; i < to->nvalues; i++)
        program_note_keys(to, i);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_scene.h - a session of a family that does one thing after the other, most of them
 * recordings of random programs on tapes, and what of it is compared with the oracle.
 *
 *   random_program_scene.c   the session, and a recording
 *   random_program_turns.c   what is done, in which order
 *   random_program_seen.c    what has been drawn so far
 */
#ifndef CAVS_TESTS_RANDOM_PROGRAM_SCENE_H
#define CAVS_TESTS_RANDOM_PROGRAM_SCENE_H

#include "core/tape/tape.h"
#include "tests/random_program_oracle.h"
#include "tests/random_program_updates.h"

enum { PROGRAM_TAPES = 2, PROGRAM_TURNS = 10, PROGRAM_BATCH = 6 };

struct program_options {
    struct cavs_session_options session;
    struct cavs_tape_options tape;
    int worth; /* of blocks */
    int workers;
    bool together; /* samples are recorded side by side, as far as the program lets them */
};

/* What is done at one go: a program is recorded, in the middle of which something else may be done,
 * or a batch of declared stages is computed. */
struct program_turn {
    struct program *program; /* NULL: a batch */
    int tape;                /* that records it */
    float lr;                /* the learning rate from here on; NaN: as it was */
    enum cavs_tape_run run;  /* of the batch */
    int nbatch, batch[PROGRAM_BATCH];
    const struct program_turn *amid; /* NULL: nothing */
    double when;                     /* that is: so much of the program is recorded then */
};

struct program_scene {
    struct cavs_runtime *rt;
    struct cavs_session *s;
    struct cavs_tape *t[PROGRAM_TAPES];
    struct program_family *family;
    struct program_updates updates;
    struct program_sums others; /* what the session has counted beside the present recording */
    bool together;
    int nbits;
    float *bits; /* all that it has said so far */
};

void program_scene_open(struct program_scene *x, struct program_family *a,
                        const struct program_options *o);
/* The bits are the caller's to free. */
void program_scene_close(struct program_scene *x);
/* Records the program of a turn, again until none of its gradients is refused; draws it first if it
 * is empty. */
void program_scene_record(struct program_scene *x, const struct program_turn *turn);
/* Adds to the bits all parameters, or their gradients. */
void program_scene_note_params(struct program_scene *x, bool gradients);

/* ---- random_program_turns.c ---- */

enum { PROGRAM_RECORDED = 5 };

/* All that is done with a family. */
struct program_turns {
    struct program program[PROGRAM_RECORDED];
    struct program_turn turn[PROGRAM_TURNS], amid[PROGRAM_TURNS];
};

void program_draw_turns(struct program_turns *to, struct program_family *a);
void program_take_turn(struct program_scene *x, const struct program_turn *turn);
/* Something that is done amid a recording. */
void program_take_turn_amid(struct program_scene *x, const struct program_turn *turn);

/* ---- random_program_seen.c ---- */

void program_note_recording(const struct program_scene *x, const struct program_turn *turn);
void program_note_session(const struct program_scene *x);
/* Fails unless there was everything that there is. */
void program_check_all_seen(void);

#endif

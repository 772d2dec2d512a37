/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program.h - programs that nobody would write, drawn at random: what they record on a tape,
 * step by step.
 *
 * A program is drawn while it records, since what it does next may depend on values that it asks
 * for.  Its steps are kept, so that it can be played again: on other tapes, and in the declared
 * function that the oracle evaluates (random_program_oracle.h).
 *
 *   random_program.c         steps, bodies of loops, and the family of a seed: its parameters
 *   random_program_draw.c    what operators there are to be drawn, and their operands:
 *                            random_program_operators.c, random_program_lists.c
 *   random_program_samples.c what the program does with them: chains, trees, lists, searches
 *   random_program_play.c    a step, on a tape or in a function; random_program_builders.h: the
 *                            library's calls
 *   random_program_together.c samples that cavs_tape_record() records
 *   random_program_dropout.c what is dropped
 *   random_program_stages.c  declared stages of the family's model
 *   random_program_oracle.c  what should come of it
 *   random_program_text.c    a program for people
 */
#ifndef CAVS_TESTS_RANDOM_PROGRAM_H
#define CAVS_TESTS_RANDOM_PROGRAM_H

#include "tests/random_model.h"
#include "tests/trial.h"

enum program_op {
#define STEP(NAME, name) PROGRAM_##NAME,
#include "tests/random_program.def"
#undef STEP
    PROGRAM_OPS
};

/* Steps are known by their number: operands are the numbers of earlier ones. */
struct program_step {
    enum program_op op;
    int line;           /* that it says it stands in */
    int first, n;       /* its operands, among those of all steps */
    int width, entries; /* of its value: width 0 is that of ids, entries 0 that of no list */
    const struct cavs_param *param, *bias; /* of the family's model, or NULL */
    int k, which;
    float s;
    float most;    /* no number of its value is further from 0 */
    uint64_t seed; /* of the numbers of a row */
    bool trained;  /* its value has a gradient */
    bool dropped;  /* taken back later */
};

enum { PROGRAM_WIDEST = 256, PROGRAM_WANTED = 6 };

struct program {
    int number;
    int nsteps, noperands, nwanted;
    struct program_step *steps;
    int *operands;
    int wanted[PROGRAM_WANTED]; /* steps whose gradients, or values, it asks for at the end */
    enum cavs_tape_run run;
};

/* What programs sum up, losses first. */
enum { PROGRAM_LOSSES = 2, PROGRAM_SUMMED = 4 };
extern const char *const program_summed[PROGRAM_SUMMED];

enum { PROGRAM_BODIES = 4, PROGRAM_FORMALS = 2, PROGRAM_SOURCES = 30, PROGRAM_POOL = 2000 };

/* Everything that programs of one seed share. */
struct program_family {
    struct draw d;
    struct cavs_model *m;
    int width;                           /* of states */
    struct program body[PROGRAM_BODIES]; /* of loops and functions of the program */
    int nformals[PROGRAM_BODIES];        /* its first steps stand for what it is called with */
    struct cavs_function *function[PROGRAM_BODIES]; /* that computes the body; NULL: none does */
    struct trial trial; /* samples of stages that the model declares beside the bodies */
};

/* A program being drawn, as far as it is. */
struct program_draw {
    struct program_family *family;
    struct program *p;
    struct program_player *live; /* that plays each step at once; NULL: nobody does */
    int npool;
    int pool[PROGRAM_POOL]; /* values that the next step may read */
    int nsamples;           /* that have begun */
    bool asks;              /* values are asked for */
    bool drops;             /* numbers are dropped at random */
    int line, nlines;       /* steps stand in the next line, or in one of so many */
};

/* ---- random_program.c ---- */

void program_family_open(struct program_family *a, uint64_t seed);
void program_family_close(struct program_family *a);
void program_free(struct program *p);
/* Adds a step, and plays it if somebody does; its number. */
int program_add(struct program_draw *c, struct program_step s, int n, const int *operands);
/* A body of the family, called with values of the states' width: what it gives.  And the function
 * that is the body, applied. */
int program_call(struct program_draw *c, int body, const int *actual);
int program_apply(struct program_draw *c, int body, const int *actual);

static inline const int *program_operands(const struct program *p, const struct program_step *s)
{
    return p->operands + s->first;
}

/* ---- random_program_stages.c ---- */

/* Declares stages of other vertices in the family's model; and draws samples for them when it is
 * finished. */
void program_draw_stages(struct program_family *a);
void program_open_samples(struct program_family *a);

/* ---- random_program_draw.c ---- */

/* A source, or the result of an operator on values of the pool, which it joins. */
int program_draw_source(struct program_draw *c);
int program_draw_operator(struct program_draw *c);
/* One that is not element-wise; or a list, or what is made of all its entries. */
int program_draw_other(struct program_draw *c);
int program_draw_of_list(struct program_draw *c);
/* A value of that width, made of some in the pool. */
int program_draw_of_width(struct program_draw *c, int width);
/* Losses and metrics. */
void program_draw_losses(struct program_draw *c);

/* ---- random_program_samples.c ---- */

/* Draws a whole recording. */
void program_draw_recording(struct program_draw *c);

/* ---- random_program_play.c ---- */

struct program_value {
    struct cavs_symbol *x, **entries; /* of the oracle, a list is one symbol for each of them */
    int64_t mark;
    uint64_t *keys; /* on a tape, what it or each of its entries is dropped by */
};

struct program_player {
    const struct program *p;
    const struct program_family *family;
    struct cavs_model *m;
    struct cavs_tape *t; /* NULL: f is declared */
    bool dropped;        /* all of it is taken back later */
    bool plain;          /* f is the oracle's: it has all symbols */
    bool together;       /* cavs_tape_record() has what samples it can */
    struct cavs_function *f;
    struct program_value *values; /* by step */
    int nvalues, nanswers;
    float *answers; /* what the tape said to PROGRAM_ASK, one behind the other */
};

/* The next step. */
void program_play(struct program_player *to, int step);
/* All up to that one, or the whole program, steps that were taken back included. */
void program_play_until(struct program_player *to, int end);
void program_play_all(struct program_player *to, const struct program *p);
/* A step whose value has room: steps below that one. */
void program_play_again(struct program_player *to, int step);
void program_make_room(struct program_player *to, int steps);
void program_player_close(struct program_player *to);
extern const char *const program_op_names[PROGRAM_OPS];

/* ---- random_program_together.c ---- */

/* Samples from the next step on, up to that one.  false: none can be recorded so. */
bool program_play_together(struct program_player *to, int end);

/* ---- random_program_dropout.c ---- */

/* Of a step that drops in training, just recorded. */
void program_note_keys(struct program_player *to, int step);
/* What the n numbers of a row are multiplied by. */
void program_mask(uint64_t key, float rate, int n, float *mask);

/* ---- random_program_text.c ---- */

void program_print_step(const struct program *p, int number);

#endif

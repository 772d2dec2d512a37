/* SPDX-License-Identifier: Apache-2.0 */
/* random_model.h - vertex functions that nobody would write, drawn at random, with graphs for
 * them. */
#ifndef CAVS_TESTS_RANDOM_MODEL_H
#define CAVS_TESTS_RANDOM_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/declare/model.h"

enum { DRAW_POOL = 60, DRAW_SAMPLES = 6, DRAW_STAGES = 5, DRAW_SEEDS = 3000 };

/* Everything that is drawn for one model; a seed is the whole of it. */
struct draw {
    uint64_t seed;
    bool drops;           /* cavs_dropout() is among the operators; set by the caller */
    struct cavs_model *m; /* set by the caller, and empty */
    int widest;           /* of rows that are pulled and of products */
    bool deep;            /* graphs may be: states of children count for little then */
    struct cavs_stage *stages[DRAW_STAGES];
    int nstages;
    int kinds, slots;        /* functions of the stage being declared, by number of children; slots
                              * that the last of them may read by number */
    struct cavs_function *f; /* being built */
    int nsymbols;
    struct cavs_symbol *pool[DRAW_POOL]; /* its values so far */
    char texts[DRAW_SAMPLES][400];
};

/* 0 .. n-1 */
int draw_pick(struct draw *d, int n);
/* Reads FIRST or FIRST-LAST. */
void draw_range(const char *seeds, uint64_t *first, uint64_t *last);
/* Makes of `each` a test for every seed from 0 to n - 1 or, with CAVS_TEST_SEED=FIRST or
 * FIRST-LAST, for those, at most DRAW_SEEDS: one that fails keeps no other from being tried.  How
 * many. */
int draw_tests(struct CMUnitTest *to, struct CMUnitTest each, int n);
/* That of the running test. */
uint64_t draw_seed(void **state);
/* Declares d->m, which is not finished then and has a loss: a graph with functions by number of
 * children, then perhaps stages over earlier ones and other graphs. */
void draw_model(struct draw *d);
/* Texts for sample_make(); after draw_model(). */
void draw_samples(struct draw *d);
/* How a session computes: policy, shards, grain, precision, and what it leaves out. */
void draw_engine(struct draw *d, struct cavs_session_options *o);

/* ---- what random_model.c is made of; all values stay within a few units ---- */

/* A value so far; x as another of them, NULL being passed on. */
struct cavs_symbol *draw_any(struct draw *d);
struct cavs_symbol *draw_keep(struct draw *d, struct cavs_symbol *x);
/* A parameter of that shape, which may be one that was there. */
struct cavs_param *draw_weight(struct draw *d, int rows, int cols, bool table);
/* x of the vertices: entries of a list are taken together. */
struct cavs_symbol *draw_per_vertex(struct draw *d, struct cavs_symbol *x);
/* A value that can be joined with x: not of another list. */
struct cavs_symbol *draw_beside(struct draw *d, struct cavs_symbol *x);
/* y made as wide as x, or of width one. */
struct cavs_symbol *draw_fit(struct draw *d, struct cavs_symbol *x, struct cavs_symbol *y);
/* Ids from 0 to limit - 1 and -1, one for each row of x; NULL: its list brings none. */
struct cavs_symbol *draw_ids(struct draw *d, const struct cavs_symbol *x, int limit);
/* A value of that width for the vertices. */
struct cavs_symbol *draw_of_width(struct draw *d, int width);
/* x with columns that are not equal but by chance. */
struct cavs_symbol *draw_uneven(struct draw *d, struct cavs_symbol *x);

/* Draws n sources, n operators, and losses and metrics for the function being built. */
void draw_sources(struct draw *d, int n);
void draw_operators(struct draw *d, int n);
void draw_losses(struct draw *d);

#endif

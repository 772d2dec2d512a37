/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_walk.h - a chain of steps on a tape, each with scores: what tests of values that are asked
 * for, and of what is taken back, record.
 */
#ifndef CAVS_TESTS_TAPE_WALK_H
#define CAVS_TESTS_TAPE_WALK_H

#include "tests/tape_scene.h"

enum { WIDTH = 20, STEPS = 4, SAMPLES = 3, RECORDINGS = 12 };

struct scene {
    struct cavs_model *m;
    struct cavs_param *U, *b, *V;
    struct cavs_session *s;
    struct cavs_tape *t;
};

static inline void open_scene(struct scene *a, int shards, int blocks_after)
{
    check_ok(cavs_model_create(&a->m));
    a->U = cavs_model_param(a->m, "U", WIDTH, WIDTH, CAVS_UNIFORM(-0.5f, 0.5f));
    a->b = cavs_model_param(a->m, "b", 1, WIDTH, CAVS_UNIFORM(-1, 1));
    a->V = cavs_model_param(a->m, "V", WIDTH, WIDTH, CAVS_UNIFORM(-0.5f, 0.5f));
    check_ok(cavs_model_finish(a->m));
    tape_scene_open(trial_runtime, a->m, shards, blocks_after, &a->s, &a->t);
}

static inline void close_scene(struct scene *a)
{
    tape_scene_close(a->m, a->s, a->t);
}

/* STEPS from state h on; their scores, and the last state.  Scores and the next state are made from
 * the same row, which nobody else reads. */
static inline struct cavs_symbol *walk(struct scene *a, struct cavs_symbol *h,
                                       struct cavs_symbol **scores)
{
    for (int k = 0; k < STEPS; k++) {
        struct cavs_symbol *x = cavs_tanh(cavs_affine(h, a->U, a->b));

        scores[k] = cavs_matmul(x, a->V);
        h = cavs_tanh(x);
    }
    return h;
}

/* b / of */
static inline struct cavs_symbol *share(struct scene *a, struct cavs_function *f, float of)
{
    float row[WIDTH];

    for (int j = 0; j < WIDTH; j++)
        row[j] = of;
    return cavs_div(cavs_use(f, a->b), cavs_tape_row(a->t, WIDTH, row));
}

#endif

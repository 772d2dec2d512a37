/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_scene.h - what tests of lists on tapes begin and end with: a model's session and its tape,
 * and a loss by classes.
 */
#ifndef CAVS_TESTS_TAPE_SCENE_H
#define CAVS_TESTS_TAPE_SCENE_H

#include "core/tape/tape.h"
#include "tests/trial.h"

/* Of a finished model.  blocks_after: as of the tape; runs are blocks as soon as they were seen
 * once. */
static inline void tape_scene_open(struct cavs_runtime *rt, struct cavs_model *m, int shards,
                                   int blocks_after, struct cavs_session **s, struct cavs_tape **t)
{
    struct cavs_session_options o = cavs_session_defaults();
    struct cavs_tape_options tape = cavs_tape_defaults();

    o.shards = shards;
    o.optimizer = CAVS_ADAM;
    tape.blocks_after = blocks_after;
    check_ok(cavs_session_create(rt, m, &o, s));
    check_ok(cavs_tape_create(*s, &tape, t));
    (*t)->blocks.worth = 1;
}

static inline void tape_scene_close(struct cavs_model *m, struct cavs_session *s,
                                    struct cavs_tape *t)
{
    cavs_session_destroy(s); /* lives on until its tape is gone */
    cavs_tape_destroy(t);
    cavs_model_destroy(m);
}

/* By h V. */
static inline void tape_scene_classify(struct cavs_tape *t, struct cavs_function *f,
                                       struct cavs_symbol *h, struct cavs_param *V, int label)
{
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(cavs_matmul(h, V), cavs_tape_id(t, label)),
              NULL);
}

#endif

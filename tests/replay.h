/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - a sample of a declared model recorded on a tape: vertex by vertex, the operators of
 * each vertex's function one by one, so that a tape can be compared with the oracle.
 */
#ifndef CAVS_TESTS_REPLAY_H
#define CAVS_TESTS_REPLAY_H

#include "tests/sample.h"

/* Called after each stage of a sample with what its vertices have scattered; NULL where they do
 * not. */
typedef void replay_between(struct cavs_tape *t, int n, struct cavs_symbol *const *states,
                            void *context);

/* Records it as the next sample of the tape. */
void replay_sample(struct cavs_tape *t, const struct sample *s, replay_between *between,
                   void *context);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.h - a sample of a declared model recorded on a tape, vertex by vertex, so that a tape can
 * be compared with the oracle: the operators of each vertex's function one by one, or the function
 * applied, unless it reads other stages.
 */
#ifndef CAVS_TESTS_REPLAY_H
#define CAVS_TESTS_REPLAY_H

#include "tests/sample.h"

/* Called after each stage of a sample with what its vertices have scattered; NULL where they do
 * not. */
typedef void replay_between(struct cavs_tape *t, int n, struct cavs_symbol *const *states,
                            void *context);

enum replay_by { REPLAY_OPERATORS, REPLAY_FUNCTIONS };

/* Records it as the next sample of the tape. */
void replay_sample(struct cavs_tape *t, const struct sample *s, enum replay_by by,
                   replay_between *between, void *context);

#endif

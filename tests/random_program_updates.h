/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_program_updates.h - what updates should make of a session's parameters: the optimizer as
 * its paper has it (naive_rules.h), number by number, with the gradients that the session had.
 *
 * These are compared with the oracle's by themselves: Adam makes a large step of a gradient that is
 * nothing but rounding, so the oracle's gradients would lead somewhere else.
 */
#ifndef CAVS_TESTS_RANDOM_PROGRAM_UPDATES_H
#define CAVS_TESTS_RANDOM_PROGRAM_UPDATES_H

#include "core/run/session.h"

struct program_updates {
    struct cavs_session *s;
    int n;              /* so far */
    float lr;           /* that was set last */
    float **before;     /* by parameter: its numbers before the update */
    double (**kept)[2]; /* by parameter and number: what the optimizer keeps */
    bool *reached;      /* by parameter: an update had a gradient of it */
};

void program_updates_open(struct program_updates *u, struct cavs_session *s);
void program_updates_close(struct program_updates *u);
/* Before an update; and behind it, of a batch of so many samples: fails unless all parameters are
 * what they should be. */
void program_updates_expect(struct program_updates *u);
void program_updates_check(struct program_updates *u, int samples);
/* The gradient of an update just made, before it was scaled and clipped: it is still there, only
 * nobody promises that. */
int program_updates_gradient(struct cavs_session *s, const struct cavs_param *p, float *values);

#endif

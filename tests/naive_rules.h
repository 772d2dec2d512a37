/* SPDX-License-Identifier: Apache-2.0 */
/*
 * naive_rules.h - the optimizers as their papers have them: one number, in double.  It shares
 * nothing with codelets/update.def.
 */
#ifndef CAVS_TESTS_NAIVE_RULES_H
#define CAVS_TESTS_NAIVE_RULES_H

#include "core/cavs.h"

/* The value after update t, counted from 1, of w with the gradient g, which is scaled and clipped,
 * but not decayed.  s: what is kept of the updates before, zeros at first. */
typedef double naive_rule(const struct cavs_session_options *o, double lr, int t, double w,
                          double g, double s[2]);

/* By number; NULL: forgotten. */
extern naive_rule *const naive_rules[CAVS_OPTIMIZERS];

#endif

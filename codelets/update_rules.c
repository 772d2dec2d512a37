/* SPDX-License-Identifier: Apache-2.0 */
/* update_rules.c - what update.def says of the rules, and of the numbers they read, as tables. */
#include <math.h>

#include "codelets/update.h"

const struct cavs__rule cavs__rules[] = {
#define CAVS_RULE(NUMBER, name_, title_, states_, summary_, once, ...) \
    [CAVS_##NUMBER] = {.name = name_,                                  \
                       .title = title_,                                \
                       .summary = summary_,                            \
                       .states = states_,                              \
                       .text = #once " " #__VA_ARGS__},
#include "codelets/update.def"
};

/* The numbers that the order of the lines gives them, which devices go by. */
enum {
#define CAVS_RULE(NUMBER, ...) LINE_##NUMBER,
#include "codelets/update.def"
    LINES
};

_Static_assert((int)LINES == (int)CAVS_OPTIMIZERS, "every optimizer of core/cavs.h has a rule");
#define CAVS_RULE(NUMBER, ...) \
    _Static_assert((int)LINE_##NUMBER == (int)CAVS_##NUMBER, "in the order of core/cavs.h");
#include "codelets/update.def"

const struct cavs__hyperparameter cavs__hyperparameters[] = {
#define HYPERPARAMETER(name_, title_, standard_, lo_, hi_)   \
    {.name = #name_,                                         \
     .title = title_,                                        \
     .option = offsetof(struct cavs_session_options, name_), \
     .update = offsetof(struct cavs__update, name_),         \
     .standard = standard_,                                  \
     .lo = lo_,                                              \
     .hi = hi_},
    CAVS_HYPERPARAMETERS(HYPERPARAMETER){0}};

/* SPDX-License-Identifier: Apache-2.0 */
/* update_reference.c - the rules of update.def in double, one number at a time. */
#include <math.h>

#include "codelets/update.h"

#define real    double
#define ew_sqrt sqrt
#define ew_abs  fabs

#define NUMBER(name, ...)        \
    const double name = u->name; \
    (void)name;
#define CAVS_RULE(RULE, name, title, states, summary, once, ...)                          \
    static void update_##RULE(const struct cavs__update *u, double *value, double *state, \
                              double gradient)                                            \
    {                                                                                     \
        CAVS__UPDATE_NUMBERS(NUMBER)                                                      \
        double w = *value, s0 = state[0], s1 = state[1];                                  \
        const double g = scale * gradient, d = g + weight_decay * w;                      \
        (void)d;                                                                          \
        once __VA_ARGS__ *value = w;                                                      \
        state[0] = s0;                                                                    \
        state[1] = s1;                                                                    \
    }
#include "codelets/update.def"

void cavs__update_reference(const struct cavs__update *u, double *w, double s[2], double gradient)
{
    switch (u->rule) {
#define CAVS_RULE(RULE, ...)              \
    case CAVS_##RULE:                     \
        update_##RULE(u, w, s, gradient); \
        break;
#include "codelets/update.def"
    case CAVS_OPTIMIZERS: break;
    }
}

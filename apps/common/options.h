/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - the options that every program has, as an argp parser to be used as a child.
 *
 * A program fills struct app_options with app_options_defaults() and its own defaults, lists
 * &app_argp among its argp children, and passes the struct on in its parser:
 *     case ARGP_KEY_INIT: state->child_inputs[0] = &mine->common;
 * A mistake of the user's ends the program with a message and status APP_USAGE, as argp does.
 */
#ifndef CAVS_APPS_OPTIONS_H
#define CAVS_APPS_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "core/cavs.h"

/* What programs exit with. */
enum { APP_OK = 0, APP_FAILED = 1, APP_USAGE = 2 };

struct app_options {
    int epochs, batch, hidden;
    int embed; /* 0: not given; the program says what that means */
    bool infer, json, roofline, quiet, explain;
    const char *init, *save;
    const char *checkpoint, *resume; /* folders */
    int every;                       /* batches between checkpoints; 0: an epoch */
    struct cavs_runtime_options runtime;
    struct cavs_session_options session;
};

extern const struct argp app_argp;

struct app_options app_options_defaults(void);

/* Numbers and choices of a program's own options: on a mistake they end the program with a message
 * that names the option.  app_choice() returns the position of arg in names, which NULL ends. */
int app_int(struct argp_state *state, const char *option, const char *arg, int lo, int hi);
double app_real(struct argp_state *state, const char *option, const char *arg, double lo,
                double hi);
int app_choice(struct argp_state *state, const char *option, const char *arg,
               const char *const *names);

#endif

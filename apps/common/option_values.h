/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_values.h - one value of an option: where it lies, what a user writes for it, how it is
 * spelled; for option_table.c and option_json.c.
 */
#ifndef CAVS_APPS_OPTION_VALUES_H
#define CAVS_APPS_OPTION_VALUES_H

#include "apps/common/option_table.h"

/* The row of that name; -1: there is none. */
int options_find(const struct option_list *l, const char *name);
/* Where the value of row i lies. */
void *options_value(const struct option_list *l, int i);

/* What choice i of the option is called; NULL after the last. */
const char *option_choice_name(const struct app_option *o, int i);
/* -1: there is none of that name. */
int option_find_choice(const struct app_option *o, const char *name);

/* Sets the value from the command line; a mistake ends the program with the usage. */
void option_set(struct argp_state *state, const struct app_option *o, void *value, char *arg);
/* The value as a user writes it, a real with the fewest digits that read back as it; false: there
 * is none. */
bool option_spell(const struct app_option *o, const void *value, char *text, size_t room);
/* A real for results in JSON, whose numbers are doubles: the one that is spelled the same. */
double option_real_as_spelled(float value);

#endif

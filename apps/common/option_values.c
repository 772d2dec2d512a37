/* SPDX-License-Identifier: Apache-2.0 */
/* option_values.c - values of options from the command line, and as a user would write them. */
#include "apps/common/option_values.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int options_find(const struct option_list *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (l->row[i]->name && strcmp(l->row[i]->name, name) == 0)
            return i;
    return -1;
}

void *options_value(const struct option_list *l, int i)
{
    return (char *)l->values[i] + l->row[i]->at;
}

/* strtol() and its like skip what is blank before a number: it has to begin with the first
 * character, too. */
static bool is_whole(const char *arg, const char *end)
{
    return end != arg && *end == '\0' && !isspace((unsigned char)*arg);
}

int app_int(struct argp_state *state, const char *option, const char *arg, int lo, int hi)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(arg, &end, 10);
    if (errno == 0 && is_whole(arg, end) && value >= lo && value <= hi)
        return value;
    if (hi == INT_MAX && errno == 0 && value <= hi)
        argp_error(state, "--%s wants a whole number from %d up, not '%s'", option, lo, arg);
    else
        argp_error(state, "--%s wants a whole number from %d to %d, not '%s'", option, lo, hi, arg);
    return lo;
}

double app_real(struct argp_state *state, const char *option, const char *arg, double lo, double hi)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(arg, &end);
    if (errno == 0 && is_whole(arg, end) && value >= lo && value <= hi)
        return value;
    argp_error(state, "--%s wants a number from %g to %g, not '%s'", option, lo, hi, arg);
    return lo;
}

const char *option_choice_name(const struct app_option *o, int i)
{
    return o->choices ? o->choices[i] : o->choice(i);
}

int option_find_choice(const struct app_option *o, const char *name)
{
    for (int i = 0; option_choice_name(o, i); i++)
        if (strcmp(option_choice_name(o, i), name) == 0)
            return i;
    return -1;
}

static int parse_choice(struct argp_state *state, const struct app_option *o, const char *arg)
{
    int found = option_find_choice(o, arg);
    char list[200] = "";

    if (found >= 0)
        return found;
    for (int i = 0; option_choice_name(o, i); i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 option_choice_name(o, i));
    argp_error(state, "--%s wants one of %s, not '%s'", o->name, list, arg);
    return 0;
}

static uint64_t parse_seed(struct argp_state *state, const char *option, const char *arg)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(arg, &end, 10);
    if (errno || !is_whole(arg, end) || strchr(arg, '-'))
        argp_error(state, "--%s wants a whole number from 0 up, not '%s'", option, arg);
    return value;
}

/* What a shell makes of a variable that is not set would be a file without a name. */
const char *app_text(struct argp_state *state, const char *option, const char *argument,
                     const char *arg)
{
    if (!*arg)
        argp_error(state, "--%s wants %s, not nothing", option, argument);
    return arg;
}

void option_set(struct argp_state *state, const struct app_option *o, void *value, char *arg)
{
    switch (o->kind) {
    case OPTION_HEADING: break;
    case OPTION_FLAG: *(bool *)value = true; break;
    case OPTION_INT: *(int *)value = app_int(state, o->name, arg, (int)o->lo, (int)o->hi); break;
    case OPTION_DEVICES:
        *(int *)value = strcmp(arg, "all") == 0 ? -1 : app_int(state, o->name, arg, 0, (int)o->hi);
        break;
    case OPTION_REAL: *(float *)value = (float)app_real(state, o->name, arg, o->lo, o->hi); break;
    case OPTION_SEED: *(uint64_t *)value = parse_seed(state, o->name, arg); break;
    case OPTION_CHOICE: *(int *)value = parse_choice(state, o, arg); break;
    case OPTION_TEXT: *(const char **)value = app_text(state, o->name, o->argument, arg); break;
    }
}

/* Six digits at most are all of a number that was written with them, and nine are of any. */
static void spell_real(float value, char *text, size_t room)
{
    for (int digits = FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(text, room, "%.*g", digits, (double)value);
        if (strtof(text, NULL) == value)
            return;
    }
}

double option_real_as_spelled(float value)
{
    char text[32];

    spell_real(value, text, sizeof text);
    return strtod(text, NULL);
}

bool option_spell(const struct app_option *o, const void *value, char *text, size_t room)
{
    switch (o->kind) {
    case OPTION_HEADING: return false;
    case OPTION_FLAG: snprintf(text, room, "%s", *(const bool *)value ? "yes" : "no"); return true;
    case OPTION_DEVICES:
    case OPTION_INT:
        if (*(const int *)value == -1)
            snprintf(text, room, "all");
        else
            snprintf(text, room, "%d", *(const int *)value);
        return true;
    case OPTION_REAL: spell_real(*(const float *)value, text, room); return true;
    case OPTION_SEED:
        snprintf(text, room, "%llu", (unsigned long long)*(const uint64_t *)value);
        return true;
    case OPTION_CHOICE:
        snprintf(text, room, "%s", option_choice_name(o, *(const int *)value));
        return true;
    case OPTION_TEXT:
        if (*(const char *const *)value)
            snprintf(text, room, "%s", *(const char *const *)value);
        return *(const char *const *)value != NULL;
    }
    return false;
}

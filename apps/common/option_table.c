/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/option_table.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/status.h"
#include "apps/common/surroundings.h"
#include "apps/common/utf8.h"

#define LIST_KEY  0x100
#define FIRST_KEY 0x101 /* option i has the key FIRST_KEY + i: no letter */

void app_print_version(FILE *stream, struct argp_state *state)
{
    fprintf(stream, "%s (cavs) %s\n", state->name, cavs_version());
}

/* argp's own variable: it has to be set before argp_parse() begins */
void (*argp_program_version_hook)(FILE *, struct argp_state *) = app_print_version;

/* ---- lists ----------------------------------------------------------------------------------- */

static int count_rows(const struct app_option *table)
{
    int n = 0;

    while (table[n].help)
        n++;
    return n;
}

static void add_rows(struct option_list *l, const struct option_set *set, int *group)
{
    for (const struct app_option *o = set->table; o->help; o++, l->n++) {
        l->row[l->n] = o;
        l->values[l->n] = set->values;
        if (o->kind == OPTION_HEADING)
            l->argp[l->n] = (struct argp_option){.doc = o->help, .group = ++*group};
        else
            l->argp[l->n] = (struct argp_option){
                .name = o->name, .key = FIRST_KEY + l->n, .arg = o->argument, .doc = o->help};
    }
}

bool options_list(struct option_list *l, const struct option_set *sets)
{
    size_t n = 3; /* two that --help does not show, and the end */
    int group = 0;

    for (const struct option_set *s = sets; s->table; s++)
        n += count_rows(s->table);
    *l = (struct option_list){.row = calloc(n, sizeof *l->row),
                              .values = calloc(n, sizeof *l->values),
                              .given = calloc(n, sizeof *l->given),
                              .argp = calloc(n, sizeof *l->argp),
                              .owned = calloc(n, sizeof *l->owned)};
    if (!l->row || !l->values || !l->given || !l->argp || !l->owned)
        return false;
    for (const struct option_set *s = sets; s->table; s++)
        add_rows(l, s, &group);
    l->argp[l->n] = (struct argp_option){.key = 'h', .flags = OPTION_HIDDEN};
    l->argp[l->n + 1] =
        (struct argp_option){.name = "list-options", .key = LIST_KEY, .flags = OPTION_HIDDEN};
    return true;
}

void options_clear(struct option_list *l)
{
    for (int i = 0; i < l->nowned; i++)
        free(l->owned[i]);
    free(l->row);
    free(l->values);
    free(l->given);
    free(l->argp);
    free(l->owned);
    *l = (struct option_list){0};
}

static int find(const struct option_list *l, const char *name)
{
    for (int i = 0; i < l->n; i++)
        if (l->row[i]->name && strcmp(l->row[i]->name, name) == 0)
            return i;
    return -1;
}

bool options_given(const struct option_list *l, const char *name)
{
    int i = find(l, name);

    return i >= 0 && l->given[i];
}

/* ---- values ---------------------------------------------------------------------------------- */

static void *value_of(const struct option_list *l, int i)
{
    return (char *)l->values[i] + l->row[i]->at;
}

const char *options_file(const struct option_list *l, const char *name)
{
    int i = find(l, name);
    const struct app_option *o = i < 0 ? NULL : l->row[i];
    const char *path;

    if (!o || o->kind != OPTION_TEXT ||
        (strcmp(o->argument, "FILE") != 0 && strcmp(o->argument, "PATH") != 0))
        return NULL;
    path = *(const char *const *)value_of(l, i);
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

int app_int(struct argp_state *state, const char *option, const char *arg, int lo, int hi)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(arg, &end, 10);
    if (errno == 0 && end != arg && *end == '\0' && value >= lo && value <= hi)
        return value;
    if (hi == INT_MAX)
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
    if (errno == 0 && end != arg && *end == '\0' && value >= lo && value <= hi)
        return value;
    argp_error(state, "--%s wants a number from %g to %g, not '%s'", option, lo, hi, arg);
    return lo;
}

/* What choice i of the option is called; NULL after the last. */
static const char *choice_name(const struct app_option *o, int i)
{
    return o->choices ? o->choices[i] : o->choice(i);
}

/* -1: there is none of that name. */
static int find_choice(const struct app_option *o, const char *name)
{
    for (int i = 0; choice_name(o, i); i++)
        if (strcmp(choice_name(o, i), name) == 0)
            return i;
    return -1;
}

static int parse_choice(struct argp_state *state, const struct app_option *o, const char *arg)
{
    int found = find_choice(o, arg);
    char list[200] = "";

    if (found >= 0)
        return found;
    for (int i = 0; choice_name(o, i); i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 choice_name(o, i));
    argp_error(state, "--%s wants one of %s, not '%s'", o->name, list, arg);
    return 0;
}

int app_choice(struct argp_state *state, const char *option, const char *arg,
               const char *const *names)
{
    const struct app_option o = {.name = option, .choices = names};

    return parse_choice(state, &o, arg);
}

static uint64_t parse_seed(struct argp_state *state, const char *option, const char *arg)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(arg, &end, 10);
    if (errno || end == arg || *end || strchr(arg, '-'))
        argp_error(state, "--%s wants a whole number from 0 up, not '%s'", option, arg);
    return value;
}

/* What a shell makes of a variable that is not set would be a file without a name. */
static const char *parse_text(struct argp_state *state, const struct app_option *o, const char *arg)
{
    if (!*arg)
        argp_error(state, "--%s wants %s, not nothing", o->name, o->argument);
    return arg;
}

static void set_value(struct argp_state *state, const struct app_option *o, void *value, char *arg)
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
    case OPTION_TEXT: *(const char **)value = parse_text(state, o, arg); break;
    }
}

/* The value as a user writes it; false: there is none. */
static bool spell_value(const struct app_option *o, const void *value, char *text, size_t room)
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
    case OPTION_REAL: snprintf(text, room, "%.9g", *(const float *)value); return true;
    case OPTION_SEED:
        snprintf(text, room, "%llu", (unsigned long long)*(const uint64_t *)value);
        return true;
    case OPTION_CHOICE:
        snprintf(text, room, "%s", choice_name(o, *(const int *)value));
        return true;
    case OPTION_TEXT:
        if (*(const char *const *)value)
            snprintf(text, room, "%s", *(const char *const *)value);
        return *(const char *const *)value != NULL;
    }
    return false;
}

/* ---- the list of options --------------------------------------------------------------------- */

static const char *kind_name(enum option_kind kind)
{
    switch (kind) {
    case OPTION_HEADING: break;
    case OPTION_FLAG: return "flag";
    case OPTION_INT: return "int";
    case OPTION_DEVICES: return "devices";
    case OPTION_REAL: return "real";
    case OPTION_SEED: return "seed";
    case OPTION_CHOICE: return "choice";
    case OPTION_TEXT: return "text";
    }
    return NULL;
}

static void list_one(FILE *to, const struct app_option *o)
{
    fprintf(to, "%s\t%s\t%s\t", o->name, kind_name(o->kind), o->argument ? o->argument : "");
    if (o->kind == OPTION_INT || o->kind == OPTION_REAL)
        fprintf(to, "%.10g %.10g", o->lo, o->hi);
    for (int k = 0; o->kind == OPTION_CHOICE && choice_name(o, k); k++)
        fprintf(to, "%s%s", k ? " " : "", choice_name(o, k));
    putc('\n', to);
}

/* --list-options */
static void list_all(const struct option_list *l, FILE *to)
{
    for (int i = 0; i < l->n; i++)
        if (l->row[i]->kind != OPTION_HEADING)
            list_one(to, l->row[i]);
    exit(fflush(to) == 0 ? APP_OK : APP_FAILED);
}

/* ---- the command line ------------------------------------------------------------------------ */

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct option_list *l = state->input;
    int i = key - FIRST_KEY;

    if (key == ARGP_KEY_INIT) {
        app_settle();
        argp_err_exit_status = APP_USAGE;
    }
    if (key == 'h')
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    if (key == LIST_KEY && !(state->flags & ARGP_NO_EXIT))
        list_all(l, state->out_stream);
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", arg);
    if (i < 0 || i >= l->n)
        return ARGP_ERR_UNKNOWN;
    set_value(state, l->row[i], value_of(l, i), arg);
    l->given[i] = true;
    return 0;
}

/* What is not worth a line: a flag is off, 0 devices, text that is not there. */
static bool has_default(const struct option_list *l, int i)
{
    const struct app_option *o = l->row[i];

    return o->kind == OPTION_INT || o->kind == OPTION_REAL || o->kind == OPTION_SEED ||
           o->kind == OPTION_CHOICE ||
           (o->kind == OPTION_TEXT && *(const char *const *)value_of(l, i));
}

/* ": one (what it does), another (...) or a third (...)" */
static void print_choices(FILE *to, const struct app_option *o)
{
    for (int i = 0; o->about && o->choice(i); i++)
        fprintf(to, "%s%s (%s)",
                i == 0             ? ": "
                : o->choice(i + 1) ? ", "
                                   : " or ",
                o->choice(i), o->about(i));
}

static void print_default(FILE *to, const struct option_list *l, int i)
{
    char value[200];

    if (l->row[i]->kind == OPTION_REAL)
        snprintf(value, sizeof value, "%g", (double)*(const float *)value_of(l, i));
    else
        spell_value(l->row[i], value_of(l, i), value, sizeof value);
    fprintf(to, " (default %s)", value);
}

static char *help_filter(int key, const char *text, void *input)
{
    const struct option_list *l = input;
    int i = key - FIRST_KEY;
    char *longer = NULL;
    size_t size;
    FILE *to;

    if (key == ARGP_KEY_HELP_EXTRA)
        return strdup(APP_STATUS_HELP);
    if (!l || i < 0 || i >= l->n || !text || !has_default(l, i) || strstr(text, "default") ||
        !(to = open_memstream(&longer, &size)))
        return (char *)text;
    fputs(text, to);
    print_choices(to, l->row[i]);
    print_default(to, l, i);
    return fclose(to) == 0 ? longer : (char *)text;
}

void options_parse(struct option_list *l, const char *doc, unsigned flags, int argc, char **argv)
{
    struct argp argp = {
        .options = l->argp, .parser = parse, .doc = doc, .help_filter = help_filter};

    argp_parse(&argp, argc, argv, flags, NULL, l);
}

void options_mistake(const char *format, ...)
{
    va_list ap;

    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fprintf(stderr, "\nTry `%s --help' or `%s --usage' for more information.\n",
            program_invocation_short_name, program_invocation_short_name);
    exit(APP_USAGE);
}

/* ---- in files -------------------------------------------------------------------------------- */

/* Seeds have 64 bits without a sign, which JSON has not: they go as text, and reals too, so that no
 * bit is lost. */
static json_t *value_to_json(const struct app_option *o, const void *value)
{
    char text[64];

    switch (o->kind) {
    case OPTION_FLAG: return json_boolean(*(const bool *)value);
    case OPTION_DEVICES:
    case OPTION_INT: return json_integer(*(const int *)value);
    case OPTION_TEXT:
        return *(const char *const *)value ? utf8_to_json(*(const char *const *)value)
                                           : json_null();
    default: return spell_value(o, value, text, sizeof text) ? json_string(text) : json_null();
    }
}

json_t *options_to_json(const struct option_list *l, enum option_role role)
{
    json_t *object = json_object();

    for (int i = 0; object && i < l->n; i++) {
        if (l->row[i]->kind == OPTION_HEADING || l->row[i]->role != role)
            continue;
        if (json_object_set_new(object, l->row[i]->name,
                                value_to_json(l->row[i], value_of(l, i))) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static bool choice_from_text(const struct app_option *o, const char *text, int *value)
{
    int found = text ? find_choice(o, text) : -1;

    if (found >= 0)
        *value = found;
    return found >= 0;
}

static bool int_from_json(const struct app_option *o, const json_t *json, int *value)
{
    json_int_t n = json_integer_value(json);
    int lo = o->kind == OPTION_DEVICES ? -1 : (int)o->lo;

    *value = (int)n;
    return json_is_integer(json) && n >= lo && n <= (json_int_t)o->hi;
}

static bool real_from_json(const struct app_option *o, const json_t *json, float *value)
{
    const char *text = json_string_value(json);
    char *end;

    if (!text)
        return false;
    *value = strtof(text, &end);
    return end != text && *end == '\0' && *value >= (float)o->lo && *value <= (float)o->hi;
}

static bool text_from_json(struct option_list *l, const json_t *json, const char **value)
{
    char *copy;

    *value = NULL;
    if (json_is_null(json))
        return true;
    if (!json_is_string(json) || !(copy = strdup(json_string_value(json))))
        return false;
    *value = l->owned[l->nowned++] = copy;
    return true;
}

/* Sets row i's value from the file's. */
static bool value_from_json(struct option_list *l, int i, const json_t *json)
{
    const struct app_option *o = l->row[i];
    const char *text = json_string_value(json);
    void *value = value_of(l, i);
    char *end;

    switch (o->kind) {
    case OPTION_HEADING: return false;
    case OPTION_FLAG: *(bool *)value = json_is_true(json); return json_is_boolean(json);
    case OPTION_DEVICES:
    case OPTION_INT: return int_from_json(o, json, value);
    case OPTION_REAL: return real_from_json(o, json, value);
    case OPTION_SEED:
        *(uint64_t *)value = text ? strtoull(text, &end, 10) : 0;
        return text && *text && !*end;
    case OPTION_CHOICE: return choice_from_text(o, text, value);
    case OPTION_TEXT: return text_from_json(l, json, value);
    }
    return false;
}

static int refuse_other(const struct option_list *l, int i, const json_t *json, const char *from,
                        struct app_error *e)
{
    const struct app_option *o = l->row[i];
    json_t *mine = value_to_json(o, value_of(l, i));
    bool same = json_equal(mine, json);
    char text[200] = "", there[200];

    if (!mine)
        return app_fail(e, CAVS_ENOMEM, "no memory for the option --%s", o->name);
    json_decref(mine);
    if (same)
        return 0;
    if (o->kind == OPTION_REAL)
        snprintf(text, sizeof text, "%g", (double)*(const float *)value_of(l, i));
    else
        spell_value(o, value_of(l, i), text, sizeof text);
    if (json_is_string(json))
        snprintf(there, sizeof there, "%s", json_string_value(json));
    else if (json_is_integer(json))
        snprintf(there, sizeof there, "%lld", (long long)json_integer_value(json));
    else
        snprintf(there, sizeof there, "%s", json_is_true(json) ? "yes" : "no");
    return app_fail(e, CAVS_EINVAL, "--%s %s: %s was made with %s; leave the option out", o->name,
                    text, from, there);
}

int options_from_json(struct option_list *l, enum option_role role, const json_t *object,
                      bool refuse, const char *from, struct app_error *e)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)object, name, value)
    {
        int i = find(l, name), rc;

        if (i < 0 || l->row[i]->role != role)
            return app_fail(e, CAVS_EFORMAT, "%s: it was made with an option --%s, unknown here",
                            from, name);
        if (l->given[i]) {
            if (refuse && (rc = refuse_other(l, i, value, from, e)) < 0)
                return rc;
        } else if (!value_from_json(l, i, value)) {
            return app_fail(e, CAVS_EFORMAT, "%s: its note of --%s cannot be understood", from,
                            name);
        }
    }
    return 0;
}

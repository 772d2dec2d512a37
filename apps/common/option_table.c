/* SPDX-License-Identifier: Apache-2.0 */
/* option_table.c - lists of options: made from the tables, parsed, explained; see
 * option_table.h. */
#include "apps/common/option_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/option_values.h"
#include "apps/common/status.h"

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

bool options_given(const struct option_list *l, const char *name)
{
    int i = options_find(l, name);

    return i >= 0 && l->given[i];
}

const char *options_file(const struct option_list *l, const char *name)
{
    int i = options_find(l, name);
    const struct app_option *o = i < 0 ? NULL : l->row[i];
    const char *path;

    if (!o || o->kind != OPTION_TEXT ||
        (strcmp(o->argument, "FILE") != 0 && strcmp(o->argument, "PATH") != 0))
        return NULL;
    path = *(const char *const *)options_value(l, i);
    return path && strcmp(path, "-") != 0 ? path : NULL;
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
    for (int k = 0; o->kind == OPTION_CHOICE && option_choice_name(o, k); k++)
        fprintf(to, "%s%s", k ? " " : "", option_choice_name(o, k));
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

    if (key == ARGP_KEY_INIT)
        argp_err_exit_status = APP_USAGE;
    if (key == 'h')
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    if (key == LIST_KEY && !(state->flags & ARGP_NO_EXIT))
        list_all(l, state->out_stream);
    if (key == ARGP_KEY_ARG)
        argp_error(state, "unexpected argument '%s'", arg);
    if (i < 0 || i >= l->n)
        return ARGP_ERR_UNKNOWN;
    option_set(state, l->row[i], options_value(l, i), arg);
    l->given[i] = true;
    return 0;
}

/* What is not worth a line: a flag is off, 0 devices, text that is not there. */
static bool has_default(const struct option_list *l, int i)
{
    const struct app_option *o = l->row[i];

    return o->kind == OPTION_INT || o->kind == OPTION_REAL || o->kind == OPTION_SEED ||
           o->kind == OPTION_CHOICE ||
           (o->kind == OPTION_TEXT && *(const char *const *)options_value(l, i));
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

    option_spell(l->row[i], options_value(l, i), value, sizeof value);
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

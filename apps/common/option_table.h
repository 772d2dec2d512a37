/* SPDX-License-Identifier: Apache-2.0 */
/*
 * option_table.h - options of a program as tables of records: one row says an option's name, where
 * its value lies, what values it takes, its line in --help, and what it has to do with results.
 * From the tables follow the parser, the defaults that --help shows, and what model files and
 * checkpoints keep of a run.
 */
#ifndef CAVS_APPS_OPTION_TABLE_H
#define CAVS_APPS_OPTION_TABLE_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "apps/common/app_error.h"

enum option_kind {
    OPTION_HEADING, /* only `help`: the title of the group that follows */
    OPTION_FLAG,    /* bool, without a value; true when it is given */
    OPTION_INT,     /* int from lo to hi */
    OPTION_DEVICES, /* int from 0 to hi, or "all", which is -1 */
    OPTION_REAL,    /* float from lo to hi */
    OPTION_SEED,    /* uint64_t */
    OPTION_CHOICE,  /* int: the position in `choices`, or the number that `choice` has it by */
    OPTION_TEXT     /* const char *; the argument itself, which lives as long as argv or the list */
};

/* What an option has to do with results. */
enum option_role {
    OPTION_FREE, /* nothing: where output goes, how fast it comes */
    OPTION_RUN,  /* it changes what training gives: a resumed run has to have the same */
    /* a resumed run has the same unless it says otherwise: paths, epochs, the learning rate */
    OPTION_KEPT,
    OPTION_MODEL, /* it decides on the model: a model file is of no use with another */
    OPTION_ROLES
};

struct app_option {
    const char *name;
    const char *argument; /* what --help calls its value; NULL for a flag */
    const char *help;
    enum option_kind kind;
    enum option_role role;
    size_t at; /* offset of the value in the struct that the table is for */
    double lo, hi;
    const char *const *choices; /* ended by NULL */
    /* In place of these: what choice i is called, and what --help says of it; NULL after the
     * last. */
    const char *(*choice)(int i);
    const char *(*about)(int i);
};

/* Rows of a table.  s is the struct type, m the member, hi INT_MAX: any number. */
#define OPTION_GROUP(title)                   \
    {                                         \
        .help = title, .kind = OPTION_HEADING \
    }
#define OPTION_ROW(k, n, arg, s, m, r, text, ...)                                             \
    {                                                                                         \
        .name = n, .argument = arg, .help = text, .kind = k, .role = r, .at = offsetof(s, m), \
        __VA_ARGS__                                                                           \
    }

/* A table, ended by an all-zero row without help, and the struct that its values lie in. */
struct option_set {
    const struct app_option *table;
    void *values;
};

/* All options of a program. */
struct option_list {
    int n;
    const struct app_option **row;
    void **values; /* of each row: the struct of its set */
    bool *given;   /* on the command line */
    struct argp_option *argp;
    char **owned; /* texts that options_from_json() made */
    int nowned;
};

/* The rows of these sets (`sets` is ended by one without a table) in order.  False: memory is
 * short. */
bool options_list(struct option_list *l, const struct option_set *sets);
void options_clear(struct option_list *l);

/* Parses the command line into the values.  `doc` and `flags` (0) as argp has them.  A mistake ends
 * the program with a message and status APP_USAGE.  Beside the rows there is --list-options, which
 * --help does not show: it prints a line for each row, with tabs between its name, its kind, what
 * --help calls its value, and its range or choices. */
void options_parse(struct option_list *l, const char *doc, unsigned flags, int argc, char **argv);
/* A mistake that only several options together are: ends the program with that message and status
 * APP_USAGE. */
void options_mistake(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* What --version prints.  For a program without tables, which has to set
 * argp_program_version_hook. */
void app_print_version(FILE *stream, struct argp_state *state);

/* Whether the option was given on the command line; false for a name that is none. */
bool options_given(const struct option_list *l, const char *name);

/* What an option for a FILE or PATH names; NULL: nothing, standard input, or it is no such option.
 */
const char *options_file(const struct option_list *l, const char *name);

/* The options with that role as an object, by name; NULL: memory is short. */
json_t *options_to_json(const struct option_list *l, enum option_role role);
/* Sets the options with that role from such an object, but for those given on the command line.  If
 * these differ from the object (`refuse`), an error naming option, both values and `from`, the file
 * it came from.  What the object has and the program does not is an error, too. */
int options_from_json(struct option_list *l, enum option_role role, const json_t *object,
                      bool refuse, const char *from, struct app_error *e);

/* Values of options that are in no table: on a mistake they end the program with a message that
 * names the option. */
const char *app_text(struct argp_state *state, const char *option, const char *argument,
                     const char *arg);
int app_int(struct argp_state *state, const char *option, const char *arg, int lo, int hi);
double app_real(struct argp_state *state, const char *option, const char *arg, double lo,
                double hi);

#endif

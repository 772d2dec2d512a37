/* SPDX-License-Identifier: Apache-2.0 */
/* cavs-pack - makes files of packed data for the programs, and looks into them. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/common/clashes.h"
#include "apps/common/option_table.h"
#include "apps/common/packed_set.h"
#include "apps/common/reserve.h"
#include "apps/common/status.h"
#include "apps/common/surroundings.h"
#include "apps/pack.h"

static const struct pack_form *const forms[] = {&pack_brackets, &pack_threefile, &pack_text,
                                                &pack_tagged, &pack_conllu};
static const char *const form_names[] = {"brackets", "threefile", "text", "tagged", "conllu", NULL};

/* ---- options --------------------------------------------------------------------------------- */

struct command {
    struct pack pack;
    const char *info, *verify;
};

enum { DEFAULT_LABELS = 5 };

enum {
    KEY_LIKE = 1,
    KEY_MIN_COUNT,
    KEY_WORDS,
    KEY_LABELS,
    KEY_STEPS,
    KEY_INFO,
    KEY_VERIFY,
    KEY_QUIET
};

static const struct argp_option options[] = {
    {"like", KEY_LIKE, "FILE", 0,
     "take words, tags and functions from this packed file: for the development set of a training "
     "set",
     0},
    {"min-count", KEY_MIN_COUNT, "N", 0, "words seen less often are <unk> (default 1)", 0},
    {"words", KEY_WORDS, "N", 0, "all but the N commonest words are <unk> (default: all are kept)",
     0},
    {"labels", KEY_LABELS, "N", 0, "brackets, threefile: labels are 0 to N - 1 (default 5)", 0},
    {"steps", KEY_STEPS, "N", 0,
     "text: chains of N words, wherever lines end (default: a chain for each line)", 0},
    {"info", KEY_INFO, "FILE", 0, "print what is in a packed file", 0},
    {"verify", KEY_VERIFY, "FILE", 0, "read a packed file and compare it with its checksums", 0},
    {"quiet", KEY_QUIET, NULL, 0, "do not print what is in the new file", 0},
    {0}};

static const struct pack_form *find_form(struct argp_state *state, const char *name)
{
    char list[200] = "";

    for (int i = 0; form_names[i]; i++) {
        if (strcmp(form_names[i], name) == 0)
            return forms[i];
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 form_names[i]);
    }
    argp_error(state, "FORM wants one of %s, not '%s'", list, name);
    return NULL;
}

static error_t on_argument(struct command *c, char *arg, struct argp_state *state)
{
    if (!*arg)
        argp_error(state, "expected FORM INPUT OUTPUT, and one of them is nothing");
    switch (state->arg_num) {
    case 0: c->pack.form = find_form(state, arg); return 0;
    case 1: c->pack.input = arg; return 0;
    case 2: c->pack.output = arg; return 0;
    default: argp_error(state, "unexpected argument '%s'", arg); return 0;
    }
}

/* Refuses options that would change nothing: of a file that is packed .. */
static void check_form(const struct pack *p, struct argp_state *state)
{
    if (p->steps && p->form != &pack_text)
        argp_error(state, "--steps is of the form text");
    if (p->labels != DEFAULT_LABELS && p->form != &pack_brackets && p->form != &pack_threefile)
        argp_error(state, "--labels is of the forms brackets and threefile");
    if (p->form == &pack_threefile && (p->min_count > 1 || p->words_kept))
        argp_error(state,
                   "words of the form threefile are numbers already: no --min-count or --words");
    if (p->min_count > 1 && p->words_kept)
        argp_error(state, "--words keeps the commonest, --min-count the frequent: give either");
    if (p->like && (p->min_count > 1 || p->words_kept))
        argp_error(state, "--like FILE brings the words: leave --min-count and --words out");
}

/* .. and where none is. */
static void check_no_form(const struct pack *p, struct argp_state *state)
{
    if (p->like || p->steps || p->labels != DEFAULT_LABELS || p->min_count > 1 || p->words_kept ||
        !p->verbose)
        argp_error(state, "--info and --verify only look into a file: the other options want FORM "
                          "INPUT OUTPUT");
}

static void check(const struct command *c, struct argp_state *state)
{
    if (!c->pack.output && (c->pack.form || (!c->info && !c->verify)))
        argp_error(state, "expected FORM INPUT OUTPUT");
    if (c->pack.form)
        check_form(&c->pack, state);
    else
        check_no_form(&c->pack, state);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct command *c = state->input;
    struct pack *p = &c->pack;

    switch (key) {
    case ARGP_KEY_INIT: argp_err_exit_status = APP_USAGE; return 0;
    case KEY_LIKE: p->like = app_text(state, "like", "FILE", arg); return 0;
    case KEY_MIN_COUNT: p->min_count = app_int(state, "min-count", arg, 1, INT_MAX); return 0;
    case KEY_WORDS: p->words_kept = app_int(state, "words", arg, 1, INT_MAX - 1); return 0;
    case KEY_LABELS: p->labels = app_int(state, "labels", arg, 1, INT_MAX); return 0;
    case KEY_STEPS: p->steps = app_int(state, "steps", arg, 1, INT_MAX - 1); return 0;
    case KEY_INFO: c->info = app_text(state, "info", "FILE", arg); return 0;
    case KEY_VERIFY: c->verify = app_text(state, "verify", "FILE", arg); return 0;
    case KEY_QUIET: p->verbose = false; return 0;
    case ARGP_KEY_ARG: return on_argument(c, arg, state);
    case ARGP_KEY_END: check(c, state); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "FORM INPUT OUTPUT\n--info FILE\n--verify FILE",
    .doc =
        "Packs samples into a file that is used as it lies: see packed-format.md.\v"
        "Forms of input:\n"
        "  brackets   trees, \"(3 (2 good) (2 film))\": for tree_lstm\n"
        "  threefile  folder of sents_idx.txt, parents.txt, labels.txt: for tree_lstm\n"
        "  text       words between spaces: for var_lstm and, with --steps, fixed_lstm\n"
        "  tagged     sentences of tokens word|TAG, one a line: for bilstm_tagger\n"
        "  conllu     CoNLL-U: trees of dependencies over the words, with UPOS: for\n"
        "             dep_tree_lstm\n"
        "The input is read twice (once with --like: it may be a pipe then) and may be larger than "
        "memory; the output is complete or not there.\n\n" APP_TOOL_STATUS_HELP};

/* ---- stages ---------------------------------------------------------------------------------- */

struct cavs_stage *pack_stage(struct pack *p, const char *name)
{
    return cavs_stage_create(p->model, name, 1);
}

void pack_function(struct cavs_stage *stage, const char *name, int arity, const char *const *inputs)
{
    struct cavs_function *f = cavs_function_create(stage, name);
    struct cavs_symbol *state =
        arity == PACK_ANY_ARITY ? cavs_sum_children(cavs_each_child(f)) : cavs_constant(f, 1, 0);

    for (int k = 0; k < arity; k++)
        state = cavs_gather(f, k);
    for (; *inputs; inputs++)
        cavs_pull_ids(f, *inputs);
    cavs_scatter(f, state);
}

struct cavs_stage *pack_over(struct pack *p, const char *name, struct cavs_stage *base,
                             const char *const *inputs)
{
    struct cavs_stage *stage = cavs_stage_over(p->model, name, base, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(stage, name);

    for (; *inputs; inputs++)
        cavs_pull_ids(f, *inputs);
    return stage;
}

int *pack_ints(struct pack *p, size_t n)
{
    return array_reserve(&p->ints, &p->ints_cap, n, sizeof *p->ints) ? p->ints : NULL;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Reads the input for the first time: words that are frequent enough get the lowest ids. */
static int choose_words(struct pack *p, struct app_error *e)
{
    int rc, *map;

    p->growing = true;
    rc = p->form->read(p, e);
    p->growing = false;
    if (rc < 0)
        return rc;
    map = p->words_kept ? vocab_keep(p->words, p->words_kept) : vocab_trim(p->words, p->min_count);
    free(map);
    return map ? 0 : CAVS_ENOMEM;
}

static int open_pattern(struct pack *p, struct app_error *e)
{
    int rc = cavs_packed_open(p->like, &p->pattern);

    if (rc < 0 || (rc = packed_vocab(p->pattern, p->like, "words", &p->words, e)) < 0 ||
        (rc = packed_vocab(p->pattern, p->like, "tags", &p->tags, e)) < 0)
        return rc;
    return packed_vocab(p->pattern, p->like, "relations", &p->relations, e);
}

/* The input is read twice, and a pipe gives what it holds only once. */
static int check_input(const struct pack *p, struct app_error *e)
{
    struct stat st;

    if (strcmp(p->input, "-") != 0 &&
        (stat(p->input, &st) != 0 || S_ISREG(st.st_mode) || S_ISDIR(st.st_mode)))
        return 0; /* what is not there is reported by who reads it */
    return app_fail(e, CAVS_EINVAL,
                    "%s: the input is read twice, first for its words, and a pipe can be read only "
                    "once: give a file, or take the words from a packed one (--like)",
                    p->input);
}

static int choose(struct pack *p, struct app_error *e)
{
    int rc;

    if (p->like)
        return open_pattern(p, e);
    if ((rc = check_input(p, e)) < 0)
        return rc;
    if (!(p->words = vocab_create()) || !(p->tags = vocab_create()) ||
        !(p->relations = vocab_create()))
        return CAVS_ENOMEM;
    return choose_words(p, e);
}

/* Words and tags of another form would make a set in which all are unknown. */
static int check_pattern(const struct pack *p)
{
    struct cavs_data *d = NULL;
    int rc = p->like ? cavs_data_open(p->model, p->like, &d) : 0;

    cavs_data_destroy(d);
    return rc;
}

static int check_output(const struct pack *p, struct app_error *e)
{
    if (!same_file(p->output, p->input) && (!p->like || !same_file(p->output, p->like)))
        return 0;
    return app_fail(e, CAVS_EINVAL, "%s: the output is what is read, which would be lost",
                    p->output);
}

static int pack(struct pack *p, struct app_error *e)
{
    int rc;

    if ((rc = check_output(p, e)) < 0 || (rc = choose(p, e)) < 0 ||
        (rc = cavs_model_create(&p->model)) < 0 || (rc = p->form->declare(p, e)) < 0 ||
        (rc = cavs_model_finish(p->model)) < 0 || (rc = check_pattern(p)) < 0 ||
        (rc = cavs_data_pack(p->model, p->output, &p->data)) < 0 || (rc = p->form->read(p, e)) < 0)
        return rc;
    if (cavs_data_size(p->data) == 0)
        return app_fail(e, CAVS_EDATA, "%s: no samples in it", p->input);
    if ((rc = packed_keep_vocab(p->data, "words", p->words)) < 0 ||
        (rc = packed_keep_vocab(p->data, "tags", p->tags)) < 0 ||
        (rc = packed_keep_vocab(p->data, "relations", p->relations)) < 0)
        return rc;
    return cavs_data_write(p->data);
}

static void clear(struct pack *p)
{
    cavs_data_destroy(p->data);
    cavs_model_destroy(p->model);
    cavs_packed_close(p->pattern);
    vocab_destroy(p->words);
    vocab_destroy(p->tags);
    vocab_destroy(p->relations);
    arities_clear(&p->arities);
    free(p->ints);
}

/* ---- looking into files ---------------------------------------------------------------------- */

static int print_info(const char *path)
{
    struct cavs_packed *p;
    char *text;
    int rc = cavs_packed_open(path, &p);

    if (rc < 0)
        return rc;
    rc = cavs_packed_describe(p, &text);
    if (rc == 0) {
        fputs(text, stdout);
        free(text);
    }
    cavs_packed_close(p);
    return rc;
}

static int verify(const char *path)
{
    struct cavs_packed *p;
    int rc = cavs_packed_open(path, &p);

    if (rc < 0)
        return rc;
    rc = cavs_packed_verify(p);
    cavs_packed_close(p);
    if (rc == 0)
        printf("%s: sound\n", path);
    return rc;
}

static int flush_output(struct app_error *e)
{
    return fflush(stdout) == 0 && !ferror(stdout)
               ? 0
               : app_fail(e, CAVS_EIO, "cannot write to standard output: %s", strerror(errno));
}

/* A pipe has nothing any more, and in a file that is the standard output the description would
 * stand over the data. */
static bool can_be_looked_into(const char *output)
{
    struct stat st;

    return stat(output, &st) == 0 && S_ISREG(st.st_mode) && !same_file(output, "/dev/stdout");
}

static int run(struct command *c, struct app_error *e)
{
    int rc = 0;

    if (c->pack.form) {
        rc = pack(&c->pack, e);
        clear(&c->pack);
        if (rc == 0 && c->pack.verbose && can_be_looked_into(c->pack.output))
            rc = print_info(c->pack.output);
    }
    if (rc == 0 && c->info)
        rc = print_info(c->info);
    if (rc == 0 && c->verify)
        rc = verify(c->verify);
    return rc == 0 ? flush_output(e) : rc;
}

int main(int argc, char **argv)
{
    struct command c = {.pack = {.min_count = 1, .labels = DEFAULT_LABELS, .verbose = true}};
    struct app_error error = {0};

    app_settle(argv);
    argp_parse(&argp, argc, argv, 0, NULL, &c);
    return app_status("cavs-pack", run(&c, &error), &error);
}

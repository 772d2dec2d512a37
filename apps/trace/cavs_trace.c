/* SPDX-License-Identifier: Apache-2.0 */
/* cavs-trace - what happened in a run, from the trace that StarPU recorded of it. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "apps/common/option_table.h"
#include "apps/common/status.h"
#include "apps/common/surroundings.h"
#include "apps/trace/trace.h"

struct command {
    const char *dir, *input;
    bool again, quiet;
};

enum { KEY_INPUT = 1, KEY_SUMMARY, KEY_QUIET };

static const struct argp_option options[] = {
    {"input", KEY_INPUT, "FILE", 0,
     "what StarPU recorded, if it lies elsewhere; default: trace.fxt in the folder, or the one "
     "file there whose name ends in _0, as StarPU itself calls it; with one of several ranks come "
     "those beside it that end in _1, _2, ..",
     0},
    {"summary", KEY_SUMMARY, NULL, 0,
     "do not convert again: the files that starpu_fxt_tool makes are there", 0},
    {"quiet", KEY_QUIET, NULL, 0, "do not print the summary", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct command *c = state->input;

    switch (key) {
    case ARGP_KEY_INIT: argp_err_exit_status = APP_USAGE; return 0;
    case KEY_INPUT: c->input = app_text(state, "input", "FILE", arg); return 0;
    case KEY_SUMMARY: c->again = true; return 0;
    case KEY_QUIET: c->quiet = true; return 0;
    case ARGP_KEY_ARG:
        if (c->dir)
            argp_error(state, "unexpected argument '%s'", arg);
        c->dir = arg;
        return 0;
    case ARGP_KEY_END:
        if (!c->dir || !*c->dir)
            argp_error(state, "expected the folder of a trace");
        if (c->input && c->again)
            argp_error(state, "--summary reads what was made from the record: leave --input out");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "DIR",
    .doc =
        "Says what happened in a run, from the trace that StarPU recorded of it into the folder "
        "DIR: "
        "converts the record by StarPU's starpu_fxt_tool, writes summary.txt and gantt.svg beside "
        "it, and prints the summary.\v"
        "The programs' option --trace DIR runs this at the end.  It may be repeated, and works on "
        "the traces of all programs that use StarPU; phases are those of "
        "cavs.\n\n" APP_TOOL_STATUS_HELP};

/* ---- the work -------------------------------------------------------------------------------- */

static int check_folder(const char *dir, struct app_error *e)
{
    struct stat st;

    if (stat(dir, &st) != 0)
        return app_fail(e, CAVS_EIO, "%s: %s", dir, strerror(errno));
    return S_ISDIR(st.st_mode)
               ? 0
               : app_fail(e, CAVS_EIO, "%s: it is a file, and the folder of a trace is wanted",
                          dir);
}

/* The record is converted if there is one; without it what was made from it will do. */
static int make_summary(const struct command *c, struct app_error *e)
{
    char record[4200], tasks[4200];
    const char *input = c->input;
    int rc;

    if (!input && !c->again && trace_find_record(c->dir, record, sizeof record))
        input = record;
    if (!input && !trace_has(c->dir, "tasks.rec", tasks, sizeof tasks))
        return app_fail(
            e, CAVS_EIO,
            "no trace in the folder %s: neither trace.fxt, nor one file whose name ends "
            "in _0, nor tasks.rec",
            c->dir);
    rc = input ? trace_convert(c->dir, input, e) : 0;
    return rc ? rc : trace_summarise(c->dir, e);
}

static int print_summary(const char *dir, struct app_error *e)
{
    char path[4200], part[4096];
    size_t n;
    FILE *in;

    snprintf(path, sizeof path, "%s/summary.txt", dir);
    in = fopen(path, "r");
    if (!in)
        return app_fail(e, CAVS_EIO, "cannot read %s: %s", path, strerror(errno));
    while ((n = fread(part, 1, sizeof part, in)) > 0)
        fwrite(part, 1, n, stdout);
    fclose(in);
    if (fflush(stdout) != 0 || ferror(stdout))
        return app_fail(e, CAVS_EIO, "cannot write to standard output: %s", strerror(errno));
    return 0;
}

static int run(const struct command *c, struct app_error *e)
{
    int rc = check_folder(c->dir, e);

    if (rc == 0)
        rc = make_summary(c, e);
    return rc || c->quiet ? rc : print_summary(c->dir, e);
}

int main(int argc, char **argv)
{
    struct command c = {0};
    struct app_error error = {0};

    app_settle(argv);
    argp_program_version_hook = app_print_version;
    argp_parse(&argp, argc, argv, 0, NULL, &c);
    return app_status("cavs-trace", run(&c, &error), &error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/descriptors.h"

static void print_version(FILE *stream, struct argp_state *state)
{
    fprintf(stream, "%s (cavs) %s\n", state->name, cavs_version());
}

/* argp's own variable: it has to be set before argp_parse() begins */
void (*argp_program_version_hook)(FILE *, struct argp_state *) = print_version;

/* the numbers of the enums in cavs.h */
static const char *const optimizer_names[] = {"sgd",     "momentum", "nesterov", "adagrad",
                                              "rmsprop", "adam",     NULL};
static const char *const policy_names[] = {"serial", "depth", "frontier", "agenda", NULL};

/* clang-format off */
enum key {
    KEY_EPOCHS = 0x100, KEY_BATCH, KEY_HIDDEN, KEY_EMBED, KEY_LR, KEY_OPTIMIZER, KEY_CLIP,
    KEY_WEIGHT_DECAY, KEY_SEED, KEY_INFER, KEY_INIT, KEY_SAVE, KEY_CHECKPOINT, KEY_EVERY,
    KEY_RESUME, KEY_WORKERS, KEY_GPUS, KEY_OPENCL, KEY_TF32, KEY_REQUIRE,
    KEY_SCHED, KEY_SHARDS, KEY_POLICY, KEY_NO_LAZY, KEY_NO_EAGER, KEY_NO_FUSION, KEY_NO_DEDUP,
    KEY_JSON, KEY_ROOFLINE, KEY_QUIET, KEY_CHECK_FINITE, KEY_EXPLAIN, KEY_MEASURE, KEY_TRACE
};
/* clang-format on */

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Training:", 10},
    {"epochs", KEY_EPOCHS, "N", 0, "passes over the samples; 0 only sets up", 0},
    {"batch", KEY_BATCH, "K", 0, "samples in a minibatch", 0},
    {"hidden", KEY_HIDDEN, "N", 0, "width of the hidden state", 0},
    {"embed", KEY_EMBED, "N", 0, "width of the embedding", 0},
    {"optimizer", KEY_OPTIMIZER, "NAME", 0, "sgd, momentum, nesterov, adagrad, rmsprop or adam", 0},
    {"lr", KEY_LR, "X", 0, "learning rate", 0},
    {"clip", KEY_CLIP, "X", 0, "largest norm of the gradient; 0: any", 0},
    {"weight-decay", KEY_WEIGHT_DECAY, "X", 0, "added to the gradient: X times the parameter", 0},
    {"seed", KEY_SEED, "N", 0, "of everything that is random", 0},
    {"infer", KEY_INFER, NULL, 0, "forward passes only, nothing is trained", 0},
    {"init", KEY_INIT, "FILE", 0, "start from the parameters in this model file", 0},
    {"save", KEY_SAVE, "FILE", 0, "write the parameters there at the end (safetensors)", 0},
    {"checkpoint", KEY_CHECKPOINT, "DIR", 0,
     "after each epoch keep there what --resume needs, in one file that is replaced as a whole", 0},
    {"every", KEY_EVERY, "N", 0, "and after every N batches", 0},
    {"resume", KEY_RESUME, "DIR", 0,
     "go on from the checkpoint there, to the same results as without interruption", 0},

    {NULL, 0, NULL, 0, "Machine:", 11},
    {"workers", KEY_WORKERS, "N", 0, "CPU workers; default: one a core", 0},
    {"gpus", KEY_GPUS, "N", 0, "CUDA devices, or 'all'; default: 0", 0},
    {"opencl", KEY_OPENCL, "N", 0, "OpenCL devices, or 'all'; default: 0", 0},
    {"require", KEY_REQUIRE, NULL, 0, "fail if a device or trace that was asked for is not there",
     0},
    {"tf32", KEY_TF32, NULL, 0, "let CUDA devices round operands of products to TF32", 0},
    {"sched", KEY_SCHED, "NAME", 0,
     "StarPU's scheduling policy; default: lws, with devices dmdas", 0},

    {NULL, 0, NULL, 0, "How a batch is evaluated:", 12},
    {"policy", KEY_POLICY, "NAME", 0,
     "how vertices are grouped: serial (one by one), depth, frontier or agenda", 0},
    {"shards", KEY_SHARDS, "N", 0,
     "independent parts a batch is cut into; default: one a core of the machine", 0},
    {"no-lazy", KEY_NO_LAZY, NULL, 0, "do not put off operators that nothing waits for", 0},
    {"no-eager", KEY_NO_EAGER, NULL, 0, "do not run operators ahead that wait for nothing", 0},
    {"no-fusion", KEY_NO_FUSION, NULL, 0, "do not fuse element-wise operators", 0},
    {"no-dedup", KEY_NO_DEDUP, NULL, 0, "evaluate identical vertices each for itself", 0},

    {NULL, 0, NULL, 0, "Output:", 13},
    {"json", KEY_JSON, NULL, 0, "the last line on stdout is one JSON object with the results", 0},
    {"roofline", KEY_ROOFLINE, NULL, 0,
     "measure matrix products on all CPU workers too, and report the share of that speed", 0},
    {"measure", KEY_MEASURE, NULL, 0, "time what workers do: products, moving rows, the rest", 0},
    {"quiet", KEY_QUIET, NULL, 0, "no progress on stderr", 0},
    {"explain", KEY_EXPLAIN, NULL, 0, "print first what became of each operator", 0},
    {"trace", KEY_TRACE, "DIR", 0,
     "fill this new or empty folder with a trace: summary.txt, gantt.svg, paje.trace, ...", 0},
    {"check-finite", KEY_CHECK_FINITE, NULL, 0,
     "stop at the first NaN or infinity and say where it arose (slow)", 0},
    {NULL, 0, NULL, 0, NULL, 0}};

struct app_options app_options_defaults(void)
{
    return (struct app_options){
        .epochs = 3,
        .batch = 64,
        .hidden = 256,
        .runtime = CAVS_RUNTIME_DEFAULTS,
        .session = cavs_session_defaults(),
    };
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

int app_choice(struct argp_state *state, const char *option, const char *arg,
               const char *const *names)
{
    char list[200] = "";

    for (int i = 0; names[i]; i++)
        if (strcmp(arg, names[i]) == 0)
            return i;
    for (int i = 0; names[i]; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
    argp_error(state, "--%s wants one of %s, not '%s'", option, list, arg);
    return 0;
}

static uint64_t parse_seed(struct argp_state *state, const char *arg)
{
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(arg, &end, 10);
    if (errno || end == arg || *end || strchr(arg, '-'))
        argp_error(state, "--seed wants a whole number from 0 up, not '%s'", arg);
    return value;
}

/* A number of devices; -1 for all of them. */
static int parse_devices(struct argp_state *state, const char *option, const char *arg)
{
    return strcmp(arg, "all") == 0 ? -1 : app_int(state, option, arg, 0, 1024);
}

/* Options of the training. */
static error_t parse_training(int key, char *arg, struct argp_state *state)
{
    struct app_options *o = state->input;

    switch (key) {
    case KEY_EPOCHS: o->epochs = app_int(state, "epochs", arg, 0, INT_MAX); break;
    case KEY_BATCH: o->batch = app_int(state, "batch", arg, 1, INT_MAX); break;
    case KEY_HIDDEN: o->hidden = app_int(state, "hidden", arg, 1, 1 << 20); break;
    case KEY_EMBED: o->embed = app_int(state, "embed", arg, 1, 1 << 20); break;
    case KEY_OPTIMIZER:
        o->session.optimizer = app_choice(state, "optimizer", arg, optimizer_names);
        break;
    case KEY_LR: o->session.lr = app_real(state, "lr", arg, 0, 1e6); break;
    case KEY_CLIP: o->session.clip = app_real(state, "clip", arg, 0, 1e30); break;
    case KEY_WEIGHT_DECAY:
        o->session.weight_decay = app_real(state, "weight-decay", arg, 0, 1e6);
        break;
    case KEY_SEED: o->session.seed = parse_seed(state, arg); break;
    case KEY_INFER: o->infer = o->session.inference = true; break;
    case KEY_INIT: o->init = arg; break;
    case KEY_SAVE: o->save = arg; break;
    case KEY_CHECKPOINT: o->checkpoint = arg; break;
    case KEY_EVERY: o->every = app_int(state, "every", arg, 1, INT_MAX); break;
    case KEY_RESUME: o->resume = arg; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Options of the machine and of the evaluation. */
static error_t parse_machine(int key, char *arg, struct argp_state *state)
{
    struct app_options *o = state->input;

    switch (key) {
    case KEY_WORKERS: o->runtime.workers = app_int(state, "workers", arg, 0, 4096); break;
    case KEY_GPUS: o->runtime.cuda = parse_devices(state, "gpus", arg); break;
    case KEY_OPENCL: o->runtime.opencl = parse_devices(state, "opencl", arg); break;
    case KEY_REQUIRE: o->runtime.require = true; break;
    case KEY_TF32: o->runtime.tf32 = true; break;
    case KEY_SCHED: o->runtime.scheduler = arg; break;
    case KEY_POLICY: o->session.policy = app_choice(state, "policy", arg, policy_names); break;
    case KEY_SHARDS: o->session.shards = app_int(state, "shards", arg, 1, 4096); break;
    case KEY_NO_LAZY: o->session.no_lazy = true; break;
    case KEY_NO_EAGER: o->session.no_eager = true; break;
    case KEY_NO_FUSION: o->session.no_fusion = true; break;
    case KEY_NO_DEDUP: o->session.no_dedup = true; break;
    case KEY_MEASURE: o->session.measure = true; break;
    case KEY_TRACE: o->runtime.trace = arg; break;
    case KEY_CHECK_FINITE: o->session.check_finite = true; break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* Options that do not go together. */
static void check_together(const struct app_options *o, struct argp_state *state)
{
    if (!o->runtime.workers && !o->runtime.cuda && !o->runtime.opencl)
        argp_error(state, "--workers 0 leaves nothing to compute with: add --gpus or --opencl");
    if (o->infer && (o->checkpoint || o->resume))
        argp_error(state, "--checkpoint and --resume are for training: leave --infer out, or give "
                          "a checkpoint's file to --init");
    if (o->init && o->resume)
        argp_error(state, "--resume brings the parameters: leave --init out");
    if (o->every && !o->checkpoint)
        argp_error(state, "--every wants --checkpoint DIR");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct app_options *o = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        app_keep_descriptors();
        argp_err_exit_status = APP_USAGE;
        return 0;
    case KEY_JSON: o->json = true; return 0;
    case KEY_ROOFLINE: o->roofline = true; return 0;
    case KEY_QUIET: o->quiet = true; return 0;
    case KEY_EXPLAIN: o->explain = true; return 0;
    case ARGP_KEY_SUCCESS: check_together(o, state); return 0;
    default: return parse_training(key, arg, state) ? parse_machine(key, arg, state) : 0;
    }
}

/* The defaults of the program at hand, below the list of its options. */
static char *defaults_text(const struct app_options *o)
{
    char embed[32] = "", *text;

    if (o->embed)
        snprintf(embed, sizeof embed, " --embed %d", o->embed);
    if (asprintf(&text,
                 "Defaults: --epochs %d --batch %d --hidden %d%s --optimizer %s --lr %g "
                 "--policy %s",
                 o->epochs, o->batch, o->hidden, embed, optimizer_names[o->session.optimizer],
                 o->session.lr, policy_names[o->session.policy]) < 0)
        return NULL;
    return text;
}

static char *help_filter(int key, const char *text, void *input)
{
    if (key == ARGP_KEY_HELP_EXTRA && input)
        return defaults_text(input);
    return (char *)text;
}

const struct argp app_argp = {.options = options, .parser = parse, .help_filter = help_filter};

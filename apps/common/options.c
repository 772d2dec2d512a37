/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/options.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const app_set_names[APP_SETS] = {"train", "dev", "test"};

#define ROW(kind, name, argument, member, role, ...)                                     \
    OPTION_ROW(OPTION_##kind, name, argument, struct app_options, member, OPTION_##role, \
               __VA_ARGS__)

/* clang-format off */
const struct app_option app_options_data[] = {
    OPTION_GROUP("Data:"),
    ROW(TEXT, "train", "PATH", set[APP_TRAIN], KEPT, "training set"),
    ROW(TEXT, "dev", "PATH", set[APP_DEV], KEPT,
        "development set: evaluated after each epoch, and what --best and --patience look at"),
    ROW(TEXT, "test", "PATH", set[APP_TEST], KEPT, "test set: evaluated once, at the end"),
    ROW(TEXT, "vectors", "FILE", vectors, FREE,
        "start the embedding from these word vectors: a word and --embed numbers a line (GloVe's "
        "text form)"),
    {0}};

const struct app_option app_options_packed[] = {
    ROW(TEXT, "packed", "FILE", packed[APP_TRAIN], KEPT,
        "training set as cavs-pack made it, in place of text"),
    ROW(TEXT, "packed-dev", "FILE", packed[APP_DEV], KEPT,
        "the development set, packed --like the training set"),
    ROW(TEXT, "packed-test", "FILE", packed[APP_TEST], KEPT, "likewise the test set"),
    {0}};

const struct app_option app_options_words[] = {
    ROW(INT, "min-count", "N", min_count, RUN,
        "words seen less often in the training set are <unk>, as words of the other sets that it "
        "does not have (with 1 <unk> is not trained)", 1, INT_MAX),
    {0}};

const struct app_option app_options_predict[] = {
    OPTION_GROUP("Predictions:"),
    ROW(TEXT, "predict", "FILE", predict, FREE,
        "write what the model says of the samples in FILE ('-': standard input); it is the model "
        "of --init or the one just trained; without --epochs or --resume nothing is trained. "
        "Results go to --output, in the form of the input, or as a JSON object a line with --json"),
    ROW(TEXT, "output", "FILE", output, FREE,
        "where predictions go, when all are made; default: standard output, the report and what "
        "--explain prints then go to standard error"),
    {0}};

/* --help sorts the options of a group by name, as argp does: what belongs together is a group. */
const struct app_option app_options_training[] = {
    OPTION_GROUP("Training:"),
    ROW(INT, "epochs", "N", epochs, KEPT,
        "passes over the samples; with 0 nothing is trained", 0, INT_MAX),
    ROW(INT, "hidden", "N", hidden, MODEL, "width of the hidden state", 1, 1 << 20),
    ROW(CHOICE, "optimizer", "NAME", session.optimizer, RUN,
        "how gradients change parameters",
        .choice = cavs_optimizer_name, .about = cavs_optimizer_summary),
    ROW(CHOICE, "precision", "NAME", session.precision, RUN,
        "what products are made of; in either, all else is float32",
        .choice = cavs_precision_name, .about = cavs_precision_summary),
    ROW(REAL, "clip", "X", session.clip, RUN, "largest norm of the gradient; 0: any", 0, 1e30),
    ROW(REAL, "weight-decay", "X", session.weight_decay, RUN,
        "pulls parameters to 0: X times the parameter is added to its gradient, if the optimizer "
        "does not take it beside that (of an embedding, the rows that a batch touches)", 0, 1e6),
    ROW(SEED, "seed", "N", session.seed, RUN, "of everything that is drawn at random"),
    ROW(FLAG, "infer", NULL, infer, FREE,
        "forward passes over the training set only, one unless --epochs says more; nothing is "
        "trained"),
    {0}};

/* These three stand in the group "Training:", too. */
const struct app_option app_options_batch[] = {
    ROW(INT, "batch", "K", batch, RUN, "samples in a minibatch", 1, INT_MAX),
    {0}};

const struct app_option app_options_embed[] = {
    ROW(INT, "embed", "N", embed, MODEL, "width of the embedding", 1, 1 << 20),
    {0}};

const struct app_option app_options_dropout[] = {
    ROW(REAL, "dropout", "X", dropout, RUN,
        "in training, the share of zeros put into the words and the states that are read",
        0, 0.999),
    {0}};

const struct app_option app_options_rate[] = {
    OPTION_GROUP("Learning rate:"),
    ROW(REAL, "lr", "X", session.lr, KEPT, "learning rate", 0, 1e6),
    ROW(CHOICE, "lr-schedule", "NAME", rate.schedule, RUN,
        "how the learning rate changes: constant, step, exponential or cosine",
        .choices = rate_schedule_names),
    ROW(INT, "lr-step", "N", rate.step, RUN,
        "of --lr-schedule step: epochs from one step to the next", 1, INT_MAX),
    ROW(REAL, "lr-factor", "X", rate.factor, RUN,
        "of --lr-schedule: what a step, or with exponential an epoch, multiplies the rate by; "
        "with cosine the share of it that is left at the end", 0, 1e6),
    ROW(INT, "warmup", "N", rate.warmup, RUN,
        "in the first N batches the learning rate goes up from 0", 0, INT_MAX),
    {0}};

const struct app_option app_options_files[] = {
    OPTION_GROUP("Model files and checkpoints:"),
    ROW(TEXT, "init", "FILE", init, FREE,
        "start from this model file: its parameters, words and sizes; no other option has to be "
        "repeated"),
    ROW(TEXT, "partial", "FILE", partial, FREE,
        "start from what this model file has of the same name and shape, of embeddings the rows "
        "of the same words"),
    ROW(TEXT, "save", "FILE", save, FREE, "write the model there at the end (safetensors)"),
    ROW(CHOICE, "save-precision", "NAME", save_precision, FREE,
        "of the numbers that --save writes: float32, or bfloat16, which rounds them and takes half "
        "the room", .choice = cavs_precision_name),
    ROW(TEXT, "best", "NAME", best, RUN,
        "keep the model of the epoch that was best on the development set by this number, as the "
        "report calls it without dev_: loss, accuracy, ..."),
    ROW(INT, "patience", "N", patience, RUN,
        "stop when N epochs in a row were no better than the --best one; 0: never", 0, INT_MAX),
    ROW(TEXT, "checkpoint", "DIR", checkpoint, FREE,
        "after each epoch keep there what --resume needs, in one file that is replaced as a whole"),
    ROW(INT, "every", "N", every, FREE,
        "with --checkpoint: after every N batches, too; 0: not", 0, INT_MAX),
    ROW(TEXT, "resume", "DIR", resume, FREE,
        "go on from the checkpoint there with the options it was made with, to the same results "
        "as without interruption"),
    {0}};

const struct app_option app_options_recorded[] = {
    OPTION_GROUP("Recording:"),
    ROW(FLAG, "no-blocks", NULL, no_blocks, KEPT,
        "compute what is recorded operator by operator: runs of operators that recur do not become "
        "one function"),
    ROW(FLAG, "one-recorder", NULL, one_recorder, FREE,
        "record on one thread, not on all workers (the results are the same)"),
    {0}};

const struct app_option app_options_machine[] = {
    OPTION_GROUP("Machine:"),
    ROW(INT, "workers", "N", runtime.workers, FREE,
        "CPU workers; default: one a core; devices take a core each, and the main thread one "
        "beside them", 0, 4096),
    ROW(DEVICES, "gpus", "N", runtime.cuda, FREE, "CUDA devices, or 'all'; default: 0", 0, 1024),
    ROW(DEVICES, "opencl", "N", runtime.opencl, FREE,
        "OpenCL devices, or 'all'; default: 0", 0, 1024),
    ROW(FLAG, "tf32", NULL, runtime.tf32, FREE,
        "let CUDA devices round operands of products to TF32: faster, with 11 significant bits "
        "instead of 24"),
    ROW(FLAG, "require", NULL, runtime.require, FREE,
        "fail if a device or trace that was asked for is not there"),
    ROW(TEXT, "sched", "NAME", runtime.scheduler, FREE,
        "StarPU's scheduling policy; default: lws, prio from 32 workers on; dmdas with devices"),

    OPTION_GROUP("How a batch is evaluated:"),
    ROW(CHOICE, "policy", "NAME", session.policy, KEPT,
        "which vertices are evaluated together",
        .choice = cavs_policy_name, .about = cavs_policy_summary),
    ROW(INT, "shards", "N", session.shards, KEPT,
        "independent parts a batch is cut into; default: one a core of the machine, or a device of "
        "several ranks; of few samples, where weights are large, fewer", 0, 4096),
    ROW(FLAG, "no-lazy", NULL, session.no_lazy, KEPT,
        "do not put off operators that nothing waits for"),
    ROW(FLAG, "no-eager", NULL, session.no_eager, KEPT,
        "do not run operators ahead that wait for nothing"),
    ROW(FLAG, "no-fusion", NULL, session.no_fusion, KEPT, "do not fuse element-wise operators"),
    ROW(FLAG, "no-dedup", NULL, session.no_dedup, KEPT,
        "evaluate identical vertices each for itself"),
    ROW(INT, "keep-mb", "N", session.keep_mb, FREE,
        "megabytes for what was prepared of batches, in case they come again; with 0 each is "
        "prepared anew",
        0, 1 << 20),

    OPTION_GROUP("Output:"),
    ROW(FLAG, "json", NULL, json, FREE,
        "the last line on stdout is one JSON object with the results"),
    ROW(TEXT, "log", "FILE", log, FREE, "write every epoch's numbers there, a JSON object a line"),
    ROW(FLAG, "roofline", NULL, roofline, FREE,
        "measure matrix products and memory on all CPU workers too, and report the share of these "
        "speeds"),
    ROW(FLAG, "measure", NULL, session.measure, FREE,
        "time what workers do: products, moving rows, the rest"),
    ROW(FLAG, "quiet", NULL, quiet, FREE, "no progress on stderr"),
    ROW(FLAG, "explain", NULL, explain, FREE, "print first what became of each operator"),
    ROW(TEXT, "trace", "DIR", runtime.trace, FREE,
        "fill this new or empty folder with a trace: summary.txt, gantt.svg, paje.trace, ..."),
    /* (recorded networks have no blocks then, which shows in the last digits) */
    ROW(FLAG, "check-finite", NULL, session.check_finite, KEPT,
        "stop at the first NaN or infinity and say where it arose (slow)"),
    {0}};
/* clang-format on */

struct app_options app_options_defaults(void)
{
    return (struct app_options){
        .epochs = 3,
        .batch = 64,
        .hidden = 256,
        .min_count = 1,
        .rate = {.step = 1, .factor = 0.5f},
        .runtime = CAVS_RUNTIME_DEFAULTS,
        .session = cavs_session_defaults(),
    };
}

/* ---- together -------------------------------------------------------------------------------- */

/* Words of packed data are numbers already. */
static void check_packed(const struct app_options *o, const struct option_list *l)
{
    static const char *const choosing[] = {"min-count", "words"};

    for (size_t i = 0; o->packed[APP_TRAIN] && i < sizeof choosing / sizeof *choosing; i++)
        if (options_given(l, choosing[i]))
            options_mistake("--packed %s has its words in it: give --%s to cavs-pack",
                            o->packed[APP_TRAIN], choosing[i]);
}

static void check_sets(const struct app_options *o)
{
    for (int i = 0; i < APP_SETS; i++)
        if (o->packed[i] && (o->set[APP_TRAIN] || o->set[APP_DEV] || o->set[APP_TEST]))
            options_mistake("--packed is in place of --train, --dev and --test: give either");
    if ((o->packed[APP_DEV] || o->packed[APP_TEST]) && !o->packed[APP_TRAIN] && !o->init)
        options_mistake("--packed-dev and --packed-test want --packed, or --init, too");
    if (o->output && !o->predict)
        options_mistake("--output wants --predict FILE");
}

static void check_start(const struct app_options *o)
{
    if (o->init && o->partial)
        options_mistake("--init takes all of a model file, --partial what fits: give either");
    if ((o->init || o->partial || o->vectors) && o->resume)
        options_mistake(
            "--resume brings the parameters: leave --init, --partial and --vectors out");
    if (o->init && o->vectors)
        options_mistake("--init brings the embedding: leave --vectors out");
}

/* Options that change nothing beside these others were meant otherwise. */
static void check_rate(const struct app_options *o, const struct option_list *l)
{
    if (options_given(l, "lr-step") && o->rate.schedule != RATE_STEP)
        options_mistake("--lr-step wants --lr-schedule step");
    if (options_given(l, "lr-factor") && o->rate.schedule == RATE_CONSTANT)
        options_mistake("--lr-factor wants --lr-schedule step, exponential or cosine");
}

static void check_training(const struct app_options *o, const struct option_list *l)
{
    if (o->infer && (o->checkpoint || o->resume))
        options_mistake("--checkpoint and --resume are for training: leave --infer out, or give a "
                        "checkpoint's file to --init");
    if (o->every && !o->checkpoint)
        options_mistake("--every wants --checkpoint DIR");
    if (o->infer && (options_given(l, "best") || options_given(l, "patience")))
        options_mistake("--best and --patience are for training: leave --infer out");
    if (!o->epochs && !o->resume &&
        (o->checkpoint || options_given(l, "best") || options_given(l, "patience")))
        options_mistake("--checkpoint, --best and --patience are for training, of which there is "
                        "none with --epochs 0, or --predict without --epochs: leave them out");
    if (o->patience && !o->best)
        options_mistake("--patience wants --best NAME");
    if (o->save_precision != CAVS_FLOAT32 && !o->save)
        options_mistake("--save-precision wants --save FILE");
}

static void check_devices(const struct cavs_runtime_options *o)
{
    if (!o->workers && !o->cuda && !o->opencl)
        options_mistake("--workers 0 leaves nothing to compute with: add --gpus or --opencl");
    if (o->tf32 && !o->cuda)
        options_mistake("--tf32 is for CUDA devices: add --gpus");
    if (o->require && !o->cuda && !o->opencl && !o->trace)
        options_mistake("--require is for what --gpus, --opencl or --trace ask for: add one");
}

/* Which ones there are depends on StarPU, so it is no table of choices. */
static void check_scheduler(const char *name)
{
    char list[1000] = "";
    const char *known;

    for (int i = 0; name && (known = cavs_scheduler_name(i)) != NULL; i++) {
        size_t length = strlen(list);

        if (strcmp(known, name) == 0)
            return;
        snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "", known);
    }
    if (name)
        options_mistake("--sched wants one of %s, not '%s'", list, name);
}

void app_options_check(struct app_options *o, const struct option_list *l)
{
    check_scheduler(o->runtime.scheduler);
    check_devices(&o->runtime);
    check_sets(o);
    check_packed(o, l);
    check_start(o);
    if (o->infer && !options_given(l, "epochs"))
        o->epochs = 1;
    if (o->predict && !o->resume && !options_given(l, "epochs"))
        o->epochs = 0;
    check_training(o, l);
    check_rate(o, l);
    if (o->infer)
        o->best = NULL;
    if (o->predict && o->epochs == 0 && !o->init && !o->resume)
        options_mistake("--predict wants a model: --init FILE, or --epochs N to train one first");
    o->session.inference = o->infer || (o->epochs == 0 && o->init && !o->explain);
}

const char *app_asked_by(const struct app_options *o, const char *text, char by[APP_ASKED_BY])
{
    const struct {
        const char *kind, *option;
        int asked;
    } all[] = {{"CUDA", "gpus", o->runtime.cuda}, {"OpenCL", "opencl", o->runtime.opencl}};
    size_t n = 0;

    by[0] = '\0';
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char number[16] = "all";

        if (all[i].asked == 0 || !strstr(text, all[i].kind))
            continue;
        if (all[i].asked > 0)
            snprintf(number, sizeof number, "%d", all[i].asked);
        n += (size_t)snprintf(by + n, APP_ASKED_BY - n, "%s--%s %s", n ? ", " : " (", all[i].option,
                              number);
    }
    if (n > 0)
        snprintf(by + n, APP_ASKED_BY - n, ")");
    return by;
}

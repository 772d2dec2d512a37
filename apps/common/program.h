/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - the frame of all programs: what one does from its command line to its exit status.
 *
 * A program is a struct program, which says what is its own: options, data, model, and what it
 * measures and predicts.  Its state is a struct of its own that begins with a struct app, so that
 * the functions below, which are given the app, find the rest.  main() fills the defaults of the
 * state in and calls program_main():
 *
 *     options            of the command line, completed by those that a model file or checkpoint
 *                        was made with
 *     paths              of output are tried, of data found
 *     prepare(), fill()  the program's: words, texts, a finished model; samples of each set
 *     session            workers start; --init, --partial, --vectors, --resume
 *     epochs             train.c; after each the development set is evaluated, a checkpoint written
 *     test set           evaluated once, by the best model if --best was given
 *     predictions        predict.c
 *     report             and the model file
 */
#ifndef CAVS_APPS_PROGRAM_H
#define CAVS_APPS_PROGRAM_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/common/app_error.h"
#include "apps/common/options.h"
#include "apps/common/report.h"
#include "apps/common/vocab.h"

#ifdef CAVS_SIMULATED
#define main starpu_main /* main() itself is StarPU's */
int main(int argc, char **argv);
#endif

struct app;

/* What is minimised, of what the losses of a batch add up to. */
enum app_objective {
    APP_SUM, /* that, or what prepare() makes of it by options.session.scale */
    /* divided by --batch: each sample has the same weight, in the last, smaller batch, too */
    APP_MEAN_OF_SAMPLES,
    /* by the vertices that a batch of the training set has on average: each has the same weight */
    APP_MEAN_OF_VERTICES,
};

/* A metric of the model, and what its mean is called in the report behind train_, dev_ and
 * test_. */
struct app_mean {
    const char *metric, *field;
};

struct program {
    const char *name;
    const char *doc;                         /* of --help, as argp has it */
    const struct app_option *options;        /* its own, in the program's state; NULL: none */
    const struct app_option *shared_options; /* and those of a family of programs; NULL: none */
    bool reads_data;                   /* it has the options --train, --dev, --test, --vectors */
    bool reads_packed;                 /* and --packed, ... */
    bool counts_words;                 /* and --min-count */
    bool embeds;                       /* and --embed */
    bool drops;                        /* and --dropout */
    bool one_sample;                   /* is all that a set has: there is no --batch */
    const char *default_set[APP_SETS]; /* below $CAVS_DATA: read if --train is not given */

    /* Options of the program's own that do not go together: options_mistake() says so.  May be
     * NULL. */
    void (*check)(struct app *a, const struct option_list *l);
    /* Sets a->model, finished, and a->graph.  Words are those of the model file where app_vocab()
     * has them; otherwise those of the training set, which app_keep_vocab() makes part of model
     * files.  May set a->options.session and make sets of its own, too.  Returns 0 or a negative
     * code with a->error or the library's message, as what follows does. */
    int (*prepare)(struct app *a);
    /* After that, for each set that is there as text (app_has_set()): adds its samples to d, which
     * becomes a->data[set]. NULL: prepare() has made all sets. */
    int (*fill)(struct app *a, enum app_set set, struct cavs_data *d);
    /* In place of fill(), for a program that records its networks on a tape (cavs.h): prepare()
     * says by app_record_set() which samples there are, and this records some of them on a->tape,
     * and asks it for values where it wants to look at them.  The frame begins and finishes the
     * recording, for training or for evaluation. */
    int (*record)(struct app *a, enum app_set set, const int *samples, int n);
    /* A program whose models have the same parameters and options: --init takes its files, too.
     * May be NULL. */
    const char *twin;
    /* Frees the program's own; a->model and a->data are the frame's.  May be NULL. */
    void (*clear)(struct app *a);

    /* Ends what the program has on the runtime itself, sessions of its own; called before the
     * runtime ends, maybe more than once.  May be NULL. */
    void (*stop)(struct app *a);

    /* What is trained. */
    enum app_objective objective;
    const char *loss;     /* the metric that progress and the report call loss */
    bool loss_per_sample; /* its mean is over samples; otherwise over what it counted */
    const char *samples;  /* what people call them; NULL: samples */
    /* before each batch; may rewrite inputs of these samples.  May be NULL. */
    int (*before_batch)(struct app *a, const int *samples, int n);

    /* What is measured. */
    const struct app_mean *means; /* ended by one without a metric; NULL: none */
    const char *const *measures;  /* names of what measure() adds, ended by NULL; NULL: none */
    /* Evaluates these samples of the development or test set as cavs_session_evaluate() does, and
     * looks at what comes of it: app_rows_of() does both.  May be NULL. */
    int (*evaluate)(struct app *a, struct cavs_data *d, const int *samples, int n);
    /* After a pass over the set, while its metrics hold: more numbers, by app_number(); may run
     * passes of its own, and returns 1 if a signal ended these.  May be NULL. */
    int (*measure)(struct app *a, enum app_set set);
    bool measures_alone; /* no pass over the development or test set is made before measure() */
    /* After the last epoch and the test set, with the model that counts: what else there is to do.
     * May be NULL. */
    int (*at_end)(struct app *a);

    /* Predicts what is next in a->predictions.in, at most `most` samples, and writes the results
     * to a->predictions.out.  d is empty, for these samples; NULL if networks are recorded.
     * Returns how many there were, 0 at the end, or a negative code.  NULL: the program predicts
     * nothing, and has no option --predict. */
    int (*predict)(struct app *a, struct cavs_data *d, int most);
};

/* A vocabulary that model files keep. */
struct app_words {
    const char *name; /* "words", "tags", ... */
    const struct vocab *vocab;
    const char *rows, *cols; /* parameters whose rows, or columns, are these words; NULL: none */
};
enum { APP_MOST_VOCABS = 8 };

/* What --predict reads and writes. */
struct predictions {
    FILE *in, *out;
    struct cavs_file *file;         /* whose stream `out` is; NULL: it is standard output */
    const char *in_name, *out_name; /* for messages */
    size_t line;                    /* of the input that was written last: predictions_at_line() */
    float *rows;                    /* app_rows()'s */
    size_t room;
};

/* A set of a program that records: sample i has first[i] .. first[i+1] of all vertices. */
struct app_samples {
    int n;
    const size_t *first; /* [n + 1], the program's; NULL: there is no such set */
    uint64_t hash;       /* of what it consists of */
};

struct app {
    const struct program *program;
    struct app_options options;
    struct option_list list;
    struct app_error error; /* what went wrong, if it was not in the library */
    int status;             /* what main() returns if nothing else went wrong */
    bool stop_was_said;     /* that a signal came, and what was kept */

    char *path[APP_SETS];   /* of the sets that are to be read as text; NULL: none */
    const char *model_path; /* of the model file below: --init, or the checkpoint of --resume */
    struct cavs_model_file *model_file;
    char *owned_path;
    DIR *checkpoints;         /* the folder of --checkpoint, while this run has it for itself */
    char fingerprint[24];     /* of the training set */
    char dev_fingerprint[24]; /* of the development set; "none" without one */
    bool dev_is_new; /* to the resumed run, and none of its epochs has looked at it so far */
    struct app_words words[APP_MOST_VOCABS];
    int nwords;

    struct cavs_model *model;
    struct cavs_data *data[APP_SETS];
    struct app_samples recorded[APP_SETS]; /* in place of data, if the program has record() */
    /* the stage whose vertices the report counts; prepare() sets it */
    const struct cavs_stage *graph;
    struct cavs_runtime *runtime;
    struct cavs_session *session;
    /* On the session, if the program has record(): what is recorded on now. Batches of training are
     * on a tape of their own: which blocks a tape has, and so the last digits of losses, depends on
     * all that was recorded on it, and is to be the same with and without --dev. */
    struct cavs_tape *tape;
    struct cavs_tape *training; /* NULL: nothing is trained */
    double record_seconds;      /* that record() took */
    struct report report;
    struct predictions predictions;
};

/* The whole program; returns the exit status.  `a` has its options' defaults, all else is zero. */
int program_main(const struct program *p, struct app *a, int argc, char **argv);

/* ---- for prepare() --------------------------------------------------------------------------- */

/* Whether there will be a pass over the training set; otherwise its samples are not needed. */
bool app_trains(const struct app *a);
/* Whether the set is to be read, from a->path[set] or as a packed file. */
bool app_has_set(const struct app *a, enum app_set set);
/* The first packed file among the sets to be read, whose words are those of all; NULL: there is
 * none. */
const char *app_first_packed(const struct app *a);
/* The vocabulary of that name in the model file: *out is set, and the caller's; 0 without one there
 * leaves it NULL. */
int app_vocab(struct app *a, const char *name, struct vocab **out);
/* Several vocabularies, whose names NULL ends: 1 if the model file has them all; 0 if they are to
 * be filled from the training set, and are empty.  A model file without them is an error where no
 * training set is read. */
int app_vocabs(struct app *a, const char *const *names, struct vocab **const *out);
/* Rows that this parameter has in the model file; 0: it is not there. */
int app_model_rows(const struct app *a, const char *param);
/* From now on model files keep this vocabulary; it has to live as long as `a`.  `rows` and `cols`
 * name the parameters whose rows or columns stand for its words, or for all but <unk> (NULL: none):
 * --partial and --vectors go by them. */
void app_keep_vocab(struct app *a, const char *name, const struct vocab *v, const char *rows,
                    const char *cols);

/* For a program that records: a set of n samples, of which sample i has the vertices first[i] ..
 * first[i+1] of all (whatever the program counts); the array stays the program's.  What belongs to
 * the samples beside that is added to what --resume knows a training set by. */
void app_record_set(struct app *a, enum app_set set, int n, const size_t *first);
void app_record_array(struct app *a, enum app_set set, const void *bytes, size_t n);

/* Something goes on otherwise than asked for: on stderr, and in the report. */
void app_notice(struct app *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For fill() of a training set whose labels are words of the model file: those that are <unk>
 * there, which are trained as such, are worth a notice.  `input` is that of the stage which the
 * labels are, `what` what people call them. */
void app_notice_unknown(struct app *a, struct cavs_data *d, const struct cavs_stage *stage,
                        const char *input, const char *what);
/* The same of n labels. */
void app_notice_unknown_ids(struct app *a, size_t n, const int *labels, const char *what);

/* ---- for measure() and predict() ------------------------------------------------------------- */

/* A number of that set for the report, the log and --best: train_NAME, dev_NAME or test_NAME. */
void app_number(struct app *a, enum app_set set, const char *name, double value);
/* Sum and count of a metric since the last reset. */
int app_sum(struct app *a, const char *metric, double *sum, double *count);
/* Their quotient; NaN if nothing was counted. */
int app_mean(struct app *a, const char *metric, double *mean);
/* One forward pass over all samples, metrics from zero. */
int app_evaluate(struct app *a, enum app_set set);
/* Whether this mean of the training set is the loss of the epoch, which the report has anyway. */
bool app_is_train_loss(const struct program *p, const struct app_mean *m);
/* Evaluates the set and reports its numbers: the means and what the program measures.  0, 1 if a
 * signal came first, which leaves no numbers, or a negative code. */
int app_report_set(struct app *a, enum app_set set);
/* One forward pass over n samples of d, or over all, which are few: what the vertices of
 * fetch->stage pushed on fetch->channel, as cavs_session_run() gives it.  The rows are the frame's
 * and valid until the next call. */
int app_rows_of(struct app *a, const struct cavs_data *d, const int *samples, int n,
                struct cavs_fetch *fetch);
int app_rows(struct app *a, const struct cavs_data *d, struct cavs_fetch *fetch);

#endif

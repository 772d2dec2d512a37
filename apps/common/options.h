/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the options that every program has, and those of the programs that read data. */
#ifndef CAVS_APPS_OPTIONS_H
#define CAVS_APPS_OPTIONS_H

#include <stdbool.h>

#include "apps/common/learning_rate.h"
#include "apps/common/option_table.h"
#include "apps/common/status.h"
#include "core/cavs.h"

/* Sets of samples, by what they are for. */
enum app_set { APP_TRAIN, APP_DEV, APP_TEST, APP_SETS };
/* "train", "dev", "test": what options and results call them */
extern const char *const app_set_names[APP_SETS];

struct app_options {
    int epochs, batch, hidden;
    /* of programs that have them: */
    int embed;     /* width of the embedding */
    int min_count; /* rarer words are <unk> */
    float dropout;
    bool infer, json, roofline, quiet, explain;
    bool no_blocks, one_recorder; /* of programs that record */
    const char *set[APP_SETS];    /* paths of text; NULL: not given */
    const char *packed[APP_SETS]; /* packed files in place of text */
    const char *predict, *output;
    const char *init, *partial, *vectors, *save;
    enum cavs_precision save_precision;
    const char *checkpoint, *resume; /* folders */
    int every;                       /* batches between checkpoints; 0: an epoch */
    /* name of a number on the development set; NULL: the last epoch's model counts */
    const char *best;
    int patience; /* epochs without a better one; 0: all epochs */
    struct learning_rate rate;
    const char *log;
    struct cavs_runtime_options runtime;
    struct cavs_session_options session;
};

struct app_options app_options_defaults(void);

/* The tables; their values lie in a struct app_options. */
extern const struct app_option app_options_training[], app_options_rate[], app_options_files[],
    app_options_machine[];
/* --batch, --embed and --dropout, which follow those of training, and --min-count, for programs
 * that have them */
extern const struct app_option app_options_batch[], app_options_embed[], app_options_dropout[],
    app_options_words[];
/* --train, --dev, --test, --vectors; and the same sets packed */
extern const struct app_option app_options_data[], app_options_packed[];
/* --no-blocks and --one-recorder, for programs that record */
extern const struct app_option app_options_recorded[];
/* --predict and --output, for programs that predict */
extern const struct app_option app_options_predict[];

/* Options that do not go together: ends the program with a message.  Then fills what follows from
 * others. */
void app_options_check(struct app_options *o, const struct option_list *l);

/* The options that asked for the devices which a text of the library's is about, as " (--gpus 2)";
 * "" where it is about none.  The library does not know what they are called here. */
enum { APP_ASKED_BY = 64 };
const char *app_asked_by(const struct app_options *o, const char *text, char by[APP_ASKED_BY]);

#endif

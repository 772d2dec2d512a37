/* SPDX-License-Identifier: Apache-2.0 */
/* tagger_program.c - what declared and recorded taggers share. */
#include "apps/tagger.h"

void tagger_clear(struct app *a)
{
    struct tagger *t = (struct tagger *)a;

    tagger_predictor_clear(&t->predictor);
    for (int i = 0; i < APP_SETS; i++)
        sentences_clear(&t->text[i]);
    vocab_destroy(t->words);
    vocab_destroy(t->tags);
}

int tagger_load(struct tagger *t)
{
    int rc = tagger_read(t);

    if (rc < 0)
        return rc;
    report_count(&t->app.report, "words", vocab_size(t->words));
    report_count(&t->app.report, "tags", vocab_size(t->tags) - 1);
    return 0;
}

void tagger_check_halves(struct app *a, const struct option_list *l)
{
    (void)l;
    if (a->options.embed % 2)
        options_mistake("--embed has to be even, not %d: half of it is for each way",
                        a->options.embed);
}

struct program tagger_program(void)
{
    static const struct app_mean means[] = {
        {"loss", "loss"}, {"correct", "accuracy"}, {NULL, NULL}};
    static const char *const measures[] = {"f1", "precision", "recall", NULL};

    return (struct program){
        .reads_data = true,
        .embeds = true,
        .drops = true,
        .default_set = {"wikiner10k/train.txt", "wikiner10k/dev.txt"},
        .clear = tagger_clear,
        .objective = APP_MEAN_OF_SAMPLES,
        .loss = "loss",
        .means = means,
        .measures = measures,
        .measure = tagger_measure,
        .predict = tagger_predict,
    };
}

struct tagger tagger_defaults(void)
{
    struct tagger t = {.app = {.options = app_options_defaults()}, .min_count = 5};
    struct app_options *o = &t.app.options;

    o->epochs = 5;
    o->batch = 32;
    o->embed = 128;
    o->session.optimizer = CAVS_ADAM;
    o->session.lr = 1e-3f;
    return t;
}

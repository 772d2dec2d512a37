/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "apps/common/known_classes.h"
#include "apps/common/params.h"
#include "apps/dyn_tagger.h"

/* Sentences that are recorded at one go, on several workers. */
struct to_record {
    const struct dyn_tagger *t;
    const struct sentences *of;
    const int *samples;          /* NULL: all */
    bool tagged;                 /* words are compared with their tags */
    struct cavs_symbol **logits; /* where the scores of words go; NULL: nowhere */
    const size_t *at;            /* of each sentence's first word among them */
};

/* One of these sentences, while it is recorded. */
struct one_sentence {
    const struct dyn_tagger *t;
    struct cavs_tape *tape;
    int n;                             /* words */
    struct cavs_symbol **word, **h[2]; /* [n] by enum cavs_way */
};

/* ---- the network ----------------------------------------------------------------------------- */

static void declare_cells(struct cavs_model *m, const char *const names[2], int width, int hidden,
                          struct cavs_cell cell[2])
{
    for (int way = 0; way < 2; way++)
        cell[way] = cavs_lstm_params(m, names[way], width, hidden);
}

static int declare(struct dyn_tagger *t)
{
    static const char *const ways[] = {"forward", "backward"};
    static const char *const char_ways[] = {"char_forward", "char_backward"};
    const struct app_options *o = &t->shared.app.options;
    int classes = vocab_size(t->shared.tags), rc = cavs_model_create(&t->shared.app.model);
    struct cavs_model *m = t->shared.app.model;

    if (rc < 0)
        return rc;
    t->embedding = app_embedding(m, "embedding", vocab_size(t->shared.words), o->embed, 0.05f);
    if (t->char_embed) {
        t->char_embedding = app_embedding(m, "char_embedding", 256, t->char_embed, 0.05f);
        declare_cells(m, char_ways, t->char_embed, o->embed / 2, t->chars);
    }
    declare_cells(m, ways, o->embed, o->hidden, t->lstm);
    t->W_tag = app_weight(m, "W_tag", 2 * o->hidden, classes);
    t->b_tag = app_bias(m, "b_tag", classes);
    return cavs_model_finish(m);
}

static struct cavs_symbol *start(const struct cavs_cell *lstm, struct cavs_function *f)
{
    return cavs_constant(f, 2 * lstm->hidden, 0);
}

/* The row of a word that is made from its characters: the states in which both directions end. */
static struct cavs_symbol *spell(const struct one_sentence *x, const char *word)
{
    const struct dyn_tagger *t = x->t;
    struct cavs_function *f = cavs_tape_function(x->tape);
    const unsigned char *c = (const unsigned char *)word;
    size_t n = strlen(word);
    struct cavs_symbol *state[2] = {start(&t->chars[0], f), start(&t->chars[1], f)}, *end[2];

    for (int way = 0; way < 2; way++) {
        for (size_t i = 0; i < n; i++) {
            int id = c[way == CAVS_WAY_FORWARD ? i : n - 1 - i];
            struct cavs_symbol *read = cavs_lookup(t->char_embedding, cavs_tape_id(x->tape, id));

            state[way] = cavs_cell_next(&t->chars[way], read, state[way]);
        }
        end[way] = cavs_cell_output(&t->chars[way], state[way]);
    }
    return cavs_concat(2, end);
}

static struct cavs_symbol *word(const struct one_sentence *x, int row, const char *text)
{
    return x->t->char_embed && row == VOCAB_UNKNOWN
               ? spell(x, text)
               : cavs_lookup(x->t->embedding, cavs_tape_id(x->tape, row));
}

/* Records the states of a sentence's words, read in one direction. */
static void read_words(const struct one_sentence *x, enum cavs_way way)
{
    const struct cavs_cell *lstm = &x->t->lstm[way];
    struct cavs_symbol *state = start(lstm, cavs_tape_function(x->tape));
    float dropout = x->t->shared.app.options.dropout;

    for (int i = 0; i < x->n; i++) {
        int w = way == CAVS_WAY_FORWARD ? i : x->n - 1 - i;

        state = cavs_cell_next(lstm, cavs_dropout(x->word[w], dropout), state);
        x->h[way][w] = cavs_cell_output(lstm, state);
    }
}

static struct cavs_symbol *scores(const struct one_sentence *x, int w)
{
    struct cavs_symbol *both[] = {x->h[CAVS_WAY_FORWARD][w], x->h[CAVS_WAY_BACKWARD][w]};

    return cavs_affine(cavs_dropout(cavs_concat(2, both), x->t->shared.app.options.dropout),
                       x->t->W_tag, x->t->b_tag);
}

static void compare(struct cavs_tape *tape, struct cavs_symbol *logits, int tag)
{
    struct cavs_function *f = cavs_tape_function(tape);
    struct cavs_symbol *label = cavs_tape_id(tape, tag);

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", correct_known(f, logits, label), label);
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* Makes room for what is known of the sentence's words. false: there is no memory. */
static bool reserve(struct one_sentence *x)
{
    size_t n = (size_t)x->n;

    x->word = malloc((3 * n + 1) * sizeof(*x->word));
    if (!x->word)
        return false;
    x->h[CAVS_WAY_FORWARD] = x->word + n;
    x->h[CAVS_WAY_BACKWARD] = x->word + 2 * n;
    return true;
}

/* Records a sentence whose words are rows of the embedding by now. */
static int record_sentence(struct cavs_tape *tape, int i, void *user)
{
    const struct to_record *all = user;
    const struct sentences *s = all->of;
    int sample = all->samples ? all->samples[i] : i;
    size_t first = s->first[sample];
    struct one_sentence x = {.t = all->t, .tape = tape, .n = sentences_length(s, sample)};

    if (!reserve(&x))
        return CAVS_ENOMEM;
    for (int w = 0; w < x.n; w++)
        x.word[w] = word(&x, s->word[first + w], texts_get(&s->texts, first + w));
    read_words(&x, CAVS_WAY_FORWARD);
    read_words(&x, CAVS_WAY_BACKWARD);
    for (int w = 0; w < x.n; w++) {
        struct cavs_symbol *logits = scores(&x, w);

        if (all->tagged)
            compare(tape, logits, s->tag[first + w]);
        if (all->logits)
            all->logits[all->at[i] + (size_t)w] = logits;
    }
    free(x.word);
    return 0;
}

static int reserve_logits(struct dyn_tagger *t, size_t words)
{
    int rc = tape_rows_reserve(&t->logits, words, vocab_size(t->shared.tags));

    return rc < 0
               ? app_fail(&t->shared.app.error, rc, "no memory for the scores of %zu words", words)
               : 0;
}

/* Entities are counted where tags are looked at: not in training. */
static int count_entities(struct dyn_tagger *t, const struct sentences *s, const int *samples,
                          int n)
{
    const float *logits = t->logits.numbers;
    int rc = tape_rows_compute(&t->logits, t->shared.app.tape);

    for (int i = 0; rc == 0 && i < n; i++) {
        int words = sentences_length(s, samples[i]);

        rc = tagger_count(&t->shared, words, s->tag + s->first[samples[i]], logits);
        logits += (size_t)words * (size_t)t->logits.width;
    }
    return rc;
}

/* Where the words of each sentence begin among those of the batch; the last element is where they
 * end. */
static size_t *begins(const struct sentences *s, const int *samples, int n)
{
    size_t *at = malloc(((size_t)n + 1) * sizeof *at);

    for (int i = 0; at && i <= n; i++)
        at[i] = i == 0 ? 0 : at[i - 1] + (size_t)sentences_length(s, samples[i - 1]);
    return at;
}

static int record_and_count(struct dyn_tagger *t, struct to_record *all, int n)
{
    size_t *at = begins(all->of, all->samples, n);
    int rc = at ? reserve_logits(t, at[n])
                : app_fail(&t->shared.app.error, CAVS_ENOMEM, "no memory for %d sentences", n);

    all->logits = t->logits.symbol;
    all->at = at;
    if (rc == 0)
        rc = cavs_tape_record(t->shared.app.tape, n, record_sentence, all);
    free(at);
    return rc == 0 ? count_entities(t, all->of, all->samples, n) : rc;
}

static int record(struct app *a, enum app_set set, const int *samples, int n)
{
    struct dyn_tagger *t = (struct dyn_tagger *)a;
    struct to_record all = {.t = t, .of = &t->shared.text[set], .samples = samples, .tagged = true};

    return set == APP_TRAIN ? cavs_tape_record(a->tape, n, record_sentence, &all)
                            : record_and_count(t, &all, n);
}

/* The sentences that the predictor has read. */
static int score(struct tagger *shared, struct cavs_data *none, const float **logits)
{
    struct dyn_tagger *t = (struct dyn_tagger *)shared;
    const struct sentences *s = &shared->predictor.read;
    struct to_record all = {.t = t, .of = s, .at = s->first};
    int rc = reserve_logits(t, s->tokens);

    (void)none;
    all.logits = t->logits.symbol;
    if (rc == 0)
        rc = cavs_tape_begin(shared->app.tape, CAVS_TAPE_EVALUATE);
    if (rc == 0)
        rc = cavs_tape_record(shared->app.tape, s->n, record_sentence, &all);
    *logits = t->logits.numbers;
    return rc == 0 ? tape_rows_compute(&t->logits, shared->app.tape) : rc;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Turns words into rows of the embedding; those that are seen too rarely become unknown. */
static void offer(struct dyn_tagger *t, enum app_set set)
{
    struct app *a = &t->shared.app;
    struct sentences *s = &t->shared.text[set];

    app_record_set(a, set, s->n, s->first);
    for (size_t w = 0; w < s->tokens; w++) {
        const char *text = texts_get(&s->texts, w);

        s->word[w] = vocab_find(t->shared.words, text, strlen(text));
        app_record_array(a, set, text, strlen(text) + 1);
    }
    app_record_array(a, set, s->tag, s->tokens * sizeof *s->tag);
    if (set == APP_TRAIN)
        app_notice_unknown_ids(a, s->tokens, s->tag, "tags");
}

static int prepare(struct app *a)
{
    struct dyn_tagger *t = (struct dyn_tagger *)a;
    int rc = tagger_load(&t->shared);

    for (int i = 0; rc == 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            offer(t, i);
    return rc < 0 ? rc : declare(t);
}

struct dyn_tagger dyn_tagger_defaults(void)
{
    return (struct dyn_tagger){.shared = tagger_defaults()};
}

struct program dyn_tagger_program(struct dyn_tagger *t)
{
    struct program p = tagger_program();

    t->shared.score = score;
    p.prepare = prepare;
    p.record = record;
    return p;
}

void dyn_tagger_clear(struct dyn_tagger *t)
{
    tape_rows_clear(&t->logits);
}

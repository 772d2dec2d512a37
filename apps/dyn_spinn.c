/* SPDX-License-Identifier: Apache-2.0 */
/* dyn_spinn - sentiment of sentences by trees that the network makes itself (dyn_spinn.h). */
#include "apps/dyn_spinn.h"

#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"

/* ---- options --------------------------------------------------------------------------------- */

#define ROW(kind, name, argument, member, role, ...) \
    OPTION_ROW(OPTION_##kind, name, argument, struct dyn_spinn, member, OPTION_##role, __VA_ARGS__)

static const struct app_option options[] = {
    OPTION_GROUP("Network:"),
    ROW(INT, "tracker", "N", tracker_width, MODEL, "width of the LSTM that follows the moves", 1,
        1 << 20),
    ROW(REAL, "explore", "P", explore, RUN,
        "a sentence is trained on the network's own way with probability P", 0, 1),
    {0}};

/* ---- sentences side by side ------------------------------------------------------------------ */

/* Room for the readings of n trees of so many vertices together. */
static int reserve(struct dyn_spinn *s, int n, size_t vertices)
{
    return array_reserve(&s->readings, &s->readings_room, (size_t)n + 1, sizeof *s->readings) &&
                   array_reserve(&s->ints, &s->ints_room, 4 * vertices + 1, sizeof *s->ints) &&
                   array_reserve(&s->pieces, &s->pieces_room, vertices + 1, sizeof *s->pieces) &&
                   tape_rows_reserve(&s->moves, (size_t)n, SPINN_MOVES) == 0 &&
                   tape_rows_reserve(&s->logits, vertices, TREE_CLASSES) == 0
               ? 0
               : app_fail(&s->app.error, CAVS_ENOMEM, "no memory for %zu vertices side by side",
                          vertices);
}

/* A reading that begins; ints: room for 4 of each vertex. */
static struct reading start(const struct tree *tree, int *ints, struct piece *stack)
{
    int n = tree->n, *parent = ints, *leaf = ints + n;
    struct reading r = {.tree = *tree, .parent = parent, .leaf = leaf, .stack = stack};

    r.children = ints + 2 * n;
    r.front_of = -1;
    parent[n - 1] = -1;
    for (int v = 0; v < n; v++) {
        if (tree_arity(tree, v) == 0)
            leaf[r.words++] = v;
        for (int k = tree->child_ptr[v]; k < tree->child_ptr[v + 1]; k++)
            parent[tree->children[k]] = v;
    }
    return r;
}

/* Begins with these trees of a forest (samples NULL: the first n). */
static int read_all(struct dyn_spinn *s, const struct forest *f, const int *samples, int n)
{
    size_t vertices = 0, done = 0;
    int rc;

    for (int i = 0; i < n; i++)
        vertices += (size_t)forest_tree(f, samples ? samples[i] : i).n;
    rc = reserve(s, n, vertices);
    s->n = rc < 0 ? 0 : n;
    for (int i = 0; i < s->n; i++) {
        struct tree tree = forest_tree(f, samples ? samples[i] : i);

        s->readings[i] = start(&tree, s->ints + 4 * done, s->pieces + done);
        s->readings[i].of = cavs_tape_sample(s->app.tape);
        done += (size_t)tree.n;
    }
    return rc;
}

/* Does what needs no values: moves along the tree, and those that are the only ones. */
static void go_ahead(struct dyn_spinn *s, int i)
{
    struct reading *r = &s->readings[i];

    cavs_tape_resume(s->app.tape, i);
    while (!dyn_spinn_is_done(r)) {
        dyn_spinn_decide(s, r);
        if (r->own_way && dyn_spinn_has_choice(r))
            return;
        dyn_spinn_move(s, r, NULL);
    }
}

/* All sentences to their ends: those that wait for a decision get them at one go. */
static int advance_all(struct dyn_spinn *s)
{
    int waiting = 0, rc = 0;

    for (int i = 0; i < s->n; i++)
        go_ahead(s, i);
    do {
        waiting = 0;
        for (int i = 0; i < s->n; i++)
            if (!dyn_spinn_is_done(&s->readings[i]))
                s->moves.symbol[waiting++] = s->readings[i].moves;
        s->moves.n = (size_t)waiting;
        rc = waiting ? tape_rows_compute(&s->moves, s->app.tape) : 0;
        for (int i = 0, k = 0; rc == 0 && k < waiting; i++)
            if (!dyn_spinn_is_done(&s->readings[i])) {
                cavs_tape_resume(s->app.tape, i);
                dyn_spinn_move(s, &s->readings[i], s->moves.numbers + SPINN_MOVES * k++);
                go_ahead(s, i);
            }
    } while (rc == 0 && waiting);
    return rc;
}

/* ---- training and evaluation ----------------------------------------------------------------- */

/* Which sentences are read the network's own way follows from the seed and how many batches there
 * were. */
static int begin_batch(struct app *a, const int *samples, int n)
{
    struct dyn_spinn *s = (struct dyn_spinn *)a;

    (void)samples;
    (void)n;
    rng_seed(&s->draws, a->options.session.seed, (1ull << 34) + s->batches++);
    return 0;
}

static int record(struct app *a, enum app_set set, const int *samples, int n)
{
    struct dyn_spinn *s = (struct dyn_spinn *)a;
    bool trains = set == APP_TRAIN && !a->options.infer;
    int rc = read_all(s, &s->bank.set[set], samples, n);

    for (int i = 0; i < s->n; i++) {
        s->readings[i].labelled = true;
        s->readings[i].own_way =
            !trains || (double)(rng_next(&s->draws) >> 11) * 0x1p-53 < (double)s->explore;
    }
    if (rc == 0)
        rc = advance_all(s);
    for (int i = 0; rc == 0 && set != APP_TRAIN && i < s->n; i++) {
        s->phrases += s->readings[i].phrases;
        s->all_phrases += s->readings[i].words - 1;
    }
    return rc;
}

/* The share of the phrases of the trees that the network has found. */
static int measure(struct app *a, enum app_set set)
{
    struct dyn_spinn *s = (struct dyn_spinn *)a;

    if (set == APP_TRAIN)
        return 0;
    app_number(a, set, "phrases",
               s->all_phrases ? (double)s->phrases / (double)s->all_phrases : 1.0);
    s->phrases = s->all_phrases = 0;
    return 0;
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* The tree that the network has made of the words of sentence i. */
static int keep_tree(struct dyn_spinn *s, int i)
{
    const struct reading *r = &s->readings[i];
    struct forest *f = &s->made;
    int rc = 0, word = 0;

    for (int v = 0; rc >= 0 && v < r->vertices; v++) {
        const int *children = r->children + 2 * v;
        bool leaf = children[0] < 0;
        int vertex = leaf ? r->leaf[word++] : -1;
        const char *text = leaf ? forest_text(&s->predictor.trees, i, vertex) : "";

        rc = forest_add_vertex(f, -1, leaf ? r->tree.word[vertex] : -1, leaf ? 0 : 2, children,
                               &s->app.error);
        if (rc >= 0 && !texts_add(&f->texts, text, strlen(text)))
            rc = app_fail(&s->app.error, CAVS_ENOMEM, "no memory for a word");
    }
    return rc < 0 ? rc : forest_end_tree(f, r->tree.line, &s->app.error);
}

/* In place of the trees that were read come those that were made. */
static int make_trees(struct dyn_spinn *s)
{
    struct forest *read = &s->predictor.trees, swap;
    size_t done = 0;
    int rc = cavs_tape_begin(s->app.tape, CAVS_TAPE_EVALUATE);

    if (rc == 0)
        rc = read_all(s, read, NULL, read->trees);
    for (int i = 0; rc == 0 && i < s->n; i++) {
        s->readings[i].own_way = true;
        s->readings[i].logits = s->logits.symbol + done;
        done += (size_t)s->readings[i].tree.n;
    }
    if (rc == 0 && (rc = advance_all(s)) == 0)
        rc = tape_rows_compute(&s->logits, s->app.tape);
    forest_empty(&s->made);
    for (int i = 0; rc == 0 && i < s->n; i++)
        rc = keep_tree(s, i);
    swap = *read;
    *read = s->made;
    s->made = swap;
    return rc;
}

static int check_trees(struct dyn_spinn *s, const struct forest *f, const char *path)
{
    for (int i = 0; i < f->trees; i++) {
        struct tree tree = forest_tree(f, i);

        for (int v = 0; v < tree.n; v++)
            if (tree_arity(&tree, v) != 0 && tree_arity(&tree, v) != 2)
                return app_fail(&s->app.error, CAVS_EDATA,
                                "%s:%zu: a vertex of this tree has %d child%s, expected two", path,
                                tree.line, tree_arity(&tree, v),
                                tree_arity(&tree, v) == 1 ? "" : "ren");
    }
    return 0;
}

static int predict(struct app *a, struct cavs_data *none, int most)
{
    struct dyn_spinn *s = (struct dyn_spinn *)a;
    int n = tree_predictor_read(&s->predictor, a, most, s->bank.vocab, NULL), rc;

    (void)none;
    if (n <= 0)
        return n;
    rc = check_trees(s, &s->predictor.trees, a->predictions.in_name);
    if (rc == 0 && (rc = make_trees(s)) == 0)
        rc = tree_predictor_write(&s->predictor, a, s->logits.numbers);
    return rc < 0 ? rc : n;
}

/* ---- the program ----------------------------------------------------------------------------- */

static int offer(struct dyn_spinn *s, enum app_set set)
{
    const struct forest *f = &s->bank.set[set];
    struct app *a = &s->app;

    app_record_set(a, set, f->trees, f->first);
    app_record_array(a, set, f->label, f->vertices * sizeof *f->label);
    app_record_array(a, set, f->word, f->vertices * sizeof *f->word);
    app_record_array(a, set, f->child_ptr, (f->vertices + (size_t)f->trees) * sizeof *f->child_ptr);
    app_record_array(a, set, f->children, (f->vertices - (size_t)f->trees) * sizeof *f->children);
    return check_trees(s, f, a->path[set]);
}

static int prepare(struct app *a)
{
    struct dyn_spinn *s = (struct dyn_spinn *)a;
    struct treebank_options files = {.labels = TREE_CLASSES, .min_count = a->options.min_count};
    int rc = treebank_load(&s->bank, a, &files);

    for (int i = 0; rc == 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            rc = offer(s, i);
    report_count(&a->report, "words", s->bank.words);
    return rc < 0 ? rc : dyn_spinn_declare(s);
}

static void clear(struct app *a)
{
    struct dyn_spinn *s = (struct dyn_spinn *)a;

    tree_predictor_clear(&s->predictor);
    forest_clear(&s->made);
    treebank_clear(&s->bank);
    tape_rows_clear(&s->moves);
    tape_rows_clear(&s->logits);
    free(s->readings);
    free(s->ints);
    free(s->pieces);
}

static const struct app_mean means[] = {{"loss", "loss"},
                                        {"root_correct", "accuracy_root"},
                                        {"move_loss", "move_loss"},
                                        {"right_move", "moves"},
                                        {NULL, NULL}};
static const char *const measures[] = {"phrases", NULL};

static const struct program program = {
    .name = "dyn_spinn",
    .doc = "Trains a network that parses sentences while it reads them, to label them (5 "
           "classes).\v"
           "PATH is a file of trees in labelled brackets, \"(3 (2 good) (2 film))\", in which each "
           "phrase has two parts, or a folder with the three files sents_idx.txt, parents.txt and "
           "labels.txt. Without --train, $CAVS_DATA/sst/train.txt and dev.txt are read. Trees say "
           "which phrases there are in training alone: dev_accuracy_root is of trees that the "
           "network makes, dev_phrases the share of the treebank's phrases in these. moves is the "
           "share of moves that it has right, move_loss their mean loss. --predict reads "
           "brackets, and writes the words with the brackets and labels that the network gives "
           "them.\n\n"
           "Parameters in model files (e: --embed, h: --hidden, t: --tracker; gates side by side): "
           "embedding (words x e), W_leaf (e x 2h), b_leaf, tracker_W (3h x 4t), tracker_U (t x "
           "4t), tracker_b, W_move (t x 2), b_move, U (2h + t x 5h), b, W_class (h x 5), b_class.",
    .options = options,
    .reads_data = true,
    .counts_words = true,
    .embeds = true,
    .default_set = {"sst/train.txt", "sst/dev.txt"},
    .prepare = prepare,
    .record = record,
    .clear = clear,
    .objective = APP_MEAN_OF_SAMPLES,
    .loss = "loss",
    .means = means,
    .measures = measures,
    .measure = measure,
    .before_batch = begin_batch,
    .predict = predict,
};

int main(int argc, char **argv)
{
    struct dyn_spinn s = {
        .app = {.options = app_options_defaults()}, .tracker_width = 64, .explore = 0.25f};

    s.app.options.embed = 256;
    s.app.options.session.optimizer = CAVS_ADAM;
    s.app.options.session.lr = 1e-3f;
    return program_main(&program, &s.app, argc, argv);
}

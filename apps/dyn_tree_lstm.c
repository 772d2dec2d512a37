/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dyn_tree_lstm - tree_lstm written as ordinary code and recorded on a tape: parameters, options,
 * files and losses are the same (tree_lstm.h).
 *
 * There are no stages, graphs and vertex functions here: a loop goes over the vertices of a tree,
 * children first, calls the cell, and keeps the state that it gives.  Which vertices of which trees
 * can be computed together is found by the tape.  With --apply the cell is the declared one, which
 * is one symbol; what stands around it is as before.
 */
#include <stdlib.h>

#include "apps/common/tape_rows.h"
#include "apps/tree_lstm.h"

struct recorded {
    struct tree_lstm shared; /* first: the frame hands it over */
    struct tree_lstm_cell cell;
    struct tree_lstm_head head;
    bool apply;
    struct cavs_stage *tree; /* --apply: the declared cell */
    struct arities arities;  /* of it, where numbers of children vary: the leaf, and any others */
    struct tape_rows logits; /* of all vertices that --predict has read last */
};

/* Trees that are recorded at one go, on several workers. */
struct trees {
    const struct recorded *t;
    const struct forest *of;
    const int *samples;          /* NULL: all */
    struct cavs_symbol **logits; /* where the scores of all vertices go; NULL: they are compared
                                    with the labels */
};

/* One of these trees, while it is recorded. */
struct one_tree {
    const struct recorded *t;
    struct cavs_tape *tape;
    struct tree tree;
    struct tree_lstm_state *state, *child; /* of its vertices, and of the children of one; --apply:
                                              c is the whole state */
    struct cavs_symbol **children;
};

/* ---- the network ----------------------------------------------------------------------------- */

/* A list of children is one operand of what is applied.  So where their number varies it has no
 * functions of its own; where it does not, one that names each child is faster. */
static int declare_cell(struct recorded *t, const struct tree_lstm_sizes *given)
{
    bool sums = t->shared.cell == CELL_CHILDSUM && given->arities->n > 2;
    struct tree_lstm_sizes sizes = *given;
    int rc = sums ? arities_note(&t->arities, 0) : 0;

    if (rc == 0 && sums)
        rc = arities_note(&t->arities, ARITY_MANY);
    if (sums)
        sizes.arities = &t->arities;
    if (rc == 0)
        t->tree = tree_lstm_declare(t->shared.app.model, t->shared.cell, &sizes);
    return rc;
}

static int declare(struct recorded *t)
{
    struct app *a = &t->shared.app;
    struct tree_lstm_sizes sizes = tree_lstm_sizes(&t->shared);
    int rc = cavs_model_create(&a->model);

    if (rc == 0 && t->apply)
        rc = declare_cell(t, &sizes);
    if (rc < 0)
        return rc;
    if (!t->apply)
        t->cell = tree_lstm_params(a->model, t->shared.cell, &sizes);
    t->head = tree_lstm_head_params(a->model, &sizes);
    return cavs_model_finish(a->model);
}

/* Records the state of a vertex whose children have theirs. */
static struct tree_lstm_state vertex(struct one_tree *x, int v)
{
    int arity = tree_arity(&x->tree, v), first = x->tree.child_ptr[v];
    struct tree_lstm_cell cell = x->t->cell;

    if (arity == 0)
        return tree_lstm_leaf(&cell, cavs_tape_id(x->tape, x->tree.word[v]));
    for (int k = 0; k < arity; k++)
        x->child[k] = x->state[x->tree.children[first + k]];
    cell.tape = x->tape;
    cell.room = x->children;
    return tree_lstm_inner(&cell, arity, x->child);
}

/* Records the same state by the declared cell. */
static struct tree_lstm_state apply(struct one_tree *x, int v)
{
    int arity = tree_arity(&x->tree, v);
    struct cavs_named word = {"word", NULL}, h = {"h", NULL};
    struct cavs_application a = {.inputs = &word, .nchildren = arity, .nchannels = 1};
    struct cavs_symbol *state;

    if (arity == 0) {
        word.x = cavs_tape_id(x->tape, x->tree.word[v]);
        a.ninputs = 1;
    }
    for (int k = 0; k < arity; k++)
        x->children[k] = x->state[x->tree.children[x->tree.child_ptr[v] + k]].c;
    a.children = x->children;
    a.channels = &h;
    state = cavs_tape_apply(x->tape, cavs_stage_function_at(x->t->tree, arity > 0), &a);
    return (struct tree_lstm_state){state, h.x};
}

static struct cavs_symbol *classify(const struct recorded *t, struct cavs_symbol *h)
{
    return cavs_affine(h, t->head.W, t->head.b);
}

static void compare(const struct one_tree *x, struct cavs_symbol *logits, int v)
{
    struct cavs_function *f = cavs_tape_function(x->tape);
    struct cavs_symbol *id = cavs_tape_id(x->tape, x->tree.label[v]);
    struct cavs_symbol *correct = cavs_correct(logits, id);

    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, id), id);
    cavs_metric(f, "correct", correct, id);
    if (v == x->tree.n - 1)
        cavs_metric(f, "root_correct", correct, id);
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Makes room for the states of a tree. false: there is no memory. */
static bool reserve(struct one_tree *x)
{
    size_t n = (size_t)x->tree.n, most = 1;

    for (int v = 0; v < x->tree.n; v++)
        if ((size_t)tree_arity(&x->tree, v) > most)
            most = (size_t)tree_arity(&x->tree, v);
    x->state = malloc((n + most) * sizeof *x->state + most * sizeof(*x->children));
    if (!x->state)
        return false;
    x->child = x->state + n;
    x->children = (struct cavs_symbol **)(x->child + most);
    return true;
}

static int record_tree(struct cavs_tape *tape, int i, void *user)
{
    const struct trees *trees = user;
    int sample = trees->samples ? trees->samples[i] : i;
    struct one_tree x = {.t = trees->t, .tape = tape, .tree = forest_tree(trees->of, sample)};

    if (!reserve(&x))
        return CAVS_ENOMEM;
    for (int v = 0; v < x.tree.n; v++) {
        struct cavs_symbol *logits;

        x.state[v] = x.t->apply ? apply(&x, v) : vertex(&x, v);
        logits = classify(x.t, x.state[v].h);
        if (trees->logits)
            trees->logits[trees->of->first[sample] + (size_t)v] = logits;
        else
            compare(&x, logits, v);
    }
    free(x.state);
    return 0;
}

static int record(struct app *a, enum app_set set, const int *samples, int n)
{
    struct recorded *t = (struct recorded *)a;
    struct trees trees = {.t = t, .of = &t->shared.bank.set[set], .samples = samples};

    return cavs_tape_record(a->tape, n, record_tree, &trees);
}

/* ---- predictions ----------------------------------------------------------------------------- */

/* Records the scores of all vertices at one go. */
static int score(struct recorded *t, const struct forest *trees)
{
    struct cavs_tape *tape = t->shared.app.tape;
    struct trees all = {.t = t, .of = trees};
    int rc = tape_rows_reserve(&t->logits, trees->vertices, TREE_CLASSES);

    if (rc < 0)
        return app_fail(&t->shared.app.error, rc, "no memory for the scores of %zu vertices",
                        trees->vertices);
    all.logits = t->logits.symbol;
    rc = cavs_tape_begin(tape, CAVS_TAPE_EVALUATE);
    if (rc == 0)
        rc = cavs_tape_record(tape, trees->trees, record_tree, &all);
    return rc == 0 ? tape_rows_compute(&t->logits, tape) : rc;
}

static int predict(struct app *a, struct cavs_data *none, int most)
{
    struct recorded *t = (struct recorded *)a;
    struct tree_predictor *p = &t->shared.predictor;
    int n = tree_lstm_read(&t->shared, most), rc;

    (void)none;
    if (n <= 0)
        return n;
    rc = score(t, &p->trees);
    if (rc == 0)
        rc = tree_predictor_write(p, a, t->logits.numbers);
    return rc < 0 ? rc : n;
}

/* ---- the program ----------------------------------------------------------------------------- */

static void offer(struct app *a, enum app_set set, const struct forest *f)
{
    app_record_set(a, set, f->trees, f->first);
    app_record_array(a, set, f->label, f->vertices * sizeof *f->label);
    app_record_array(a, set, f->word, f->vertices * sizeof *f->word);
    app_record_array(a, set, f->child_ptr, (f->vertices + f->trees) * sizeof *f->child_ptr);
    app_record_array(a, set, f->children, (f->vertices - f->trees) * sizeof *f->children);
}

static int prepare(struct app *a)
{
    struct recorded *t = (struct recorded *)a;
    int rc = tree_lstm_load(&t->shared);

    for (int i = 0; rc == 0 && i < APP_SETS; i++)
        if (app_has_set(a, i))
            offer(a, i, &t->shared.bank.set[i]);
    return rc < 0 ? rc : declare(t);
}

int main(int argc, char **argv)
{
    static const struct app_option options[] = {
        TREE_LSTM_OPTIONS,
        OPTION_ROW(OPTION_FLAG, "apply", NULL, struct recorded, apply, OPTION_RUN,
                   "the cell is a declared vertex function, applied to each vertex"),
        {0}};
    struct recorded t = {.shared = tree_lstm_defaults()};
    struct program p = tree_lstm_program();
    int status;

    p.name = "dyn_tree_lstm";
    p.doc = "Trains a Tree-LSTM to label every vertex of parse trees (5 classes): tree_lstm, but "
            "recorded on a tape.\v" TREE_LSTM_DOC;
    p.options = options;
    p.twin = "tree_lstm";
    p.prepare = prepare;
    p.record = record;
    p.predict = predict;
    status = program_main(&p, &t.shared.app, argc, argv);
    arities_clear(&t.arities);
    tape_rows_clear(&t.logits);
    return status;
}

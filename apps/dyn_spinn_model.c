/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/params.h"
#include "apps/dyn_spinn.h"

int dyn_spinn_declare(struct dyn_spinn *s)
{
    int e = s->app.options.embed, h = s->app.options.hidden, t = s->tracker_width;
    int rc = cavs_model_create(&s->app.model);
    struct cavs_model *m = s->app.model;

    if (rc < 0)
        return rc;
    s->embedding = app_embedding(m, "embedding", s->bank.words, e, 0.05f);
    s->W_leaf = app_weights(m, "W_leaf", e, h, 2);
    s->b_leaf = app_bias(m, "b_leaf", 2 * h);
    s->tracker = cavs_lstm_params(m, "tracker", 3 * h, t);
    s->W_move = app_weight(m, "W_move", t, SPINN_MOVES);
    s->b_move = app_bias(m, "b_move", SPINN_MOVES);
    s->U = app_weights(m, "U", 2 * h + t, h, 5);
    s->b = app_bias(m, "b", 5 * h);
    s->W_class = app_weight(m, "W_class", h, TREE_CLASSES);
    s->b_class = app_bias(m, "b_class", TREE_CLASSES);
    return cavs_model_finish(m);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static struct piece read_word(const struct dyn_spinn *s, const struct reading *r, int vertex)
{
    struct cavs_symbol *id = cavs_tape_id(s->app.tape, r->tree.word[vertex]), *ch[2] = {NULL};

    cavs_split(cavs_affine(cavs_lookup(s->embedding, id), s->W_leaf, s->b_leaf), 2, ch);
    return (struct piece){ch[0], ch[1], vertex, -1};
}

/* The next word, which is looked at before it is shifted. */
static struct piece front_word(const struct dyn_spinn *s, struct reading *r)
{
    if (r->front_of != r->next)
        r->front = read_word(s, r, r->leaf[r->next]);
    r->front_of = r->next;
    return r->front;
}

static struct piece join(const struct dyn_spinn *s, const struct reading *r, struct piece left,
                         struct piece right)
{
    struct cavs_symbol *x[] = {left.h, right.h, cavs_cell_output(&s->tracker, r->tracker)};
    struct cavs_symbol *gate[5] = {NULL}, *c;

    cavs_split(cavs_affine(cavs_concat(3, x), s->U, s->b), 5, gate);
    c = cavs_mul(cavs_sigmoid(gate[0]), cavs_tanh(gate[2]));
    c = cavs_add(c, cavs_mul(cavs_sigmoid(gate[3]), left.c));
    c = cavs_add(c, cavs_mul(cavs_sigmoid(gate[4]), right.c));
    return (struct piece){c, cavs_mul(cavs_sigmoid(gate[1]), cavs_tanh(c)), -1, -1};
}

/* ---- what is compared ------------------------------------------------------------------------ */

/* The vertex of the tree that these two make; -1: none. */
static int phrase_of(const struct reading *r, const struct piece *left, const struct piece *right)
{
    int parent = left->vertex >= 0 && right->vertex >= 0 ? r->parent[left->vertex] : -1;

    return parent >= 0 && r->parent[right->vertex] == parent ? parent : -1;
}

static enum spinn_move right_move(const struct reading *r)
{
    const struct piece *top = &r->stack[r->depth - 1];

    if (r->depth < 2)
        return SPINN_SHIFT;
    if (r->next == r->words)
        return SPINN_REDUCE;
    return phrase_of(r, top - 1, top) >= 0 ? SPINN_REDUCE : SPINN_SHIFT;
}

static void compare_move(const struct dyn_spinn *s, const struct reading *r)
{
    struct cavs_symbol *truth = cavs_tape_id(s->app.tape, (int)right_move(r));

    cavs_loss(r->of, "move_loss", cavs_softmax_cross_entropy(r->moves, truth), NULL);
    cavs_metric(r->of, "right_move", cavs_correct(r->moves, truth), NULL);
}

/* The whole has the label of the tree's root, whatever became of its phrases. */
static void compare_label(const struct dyn_spinn *s, const struct reading *r,
                          const struct piece *piece, struct cavs_symbol *logits)
{
    bool whole = dyn_spinn_is_done(r);
    int vertex = whole ? r->tree.n - 1 : piece->vertex;
    int label = vertex < 0 ? -1 : r->tree.label[vertex];
    struct cavs_symbol *truth = cavs_tape_id(s->app.tape, label);

    if (label < 0)
        return;
    cavs_loss(r->of, "loss", cavs_softmax_cross_entropy(logits, truth), NULL);
    if (whole)
        cavs_metric(r->of, "root_correct", cavs_correct(logits, truth), NULL);
}

/* ---- moves ----------------------------------------------------------------------------------- */

bool dyn_spinn_is_done(const struct reading *r)
{
    return r->next == r->words && r->depth == 1;
}

bool dyn_spinn_has_choice(const struct reading *r)
{
    return r->depth >= 2 && r->next < r->words;
}

static struct cavs_symbol *h_at(const struct dyn_spinn *s, const struct reading *r, int from_top)
{
    return r->depth > from_top ? r->stack[r->depth - 1 - from_top].h
                               : cavs_constant(r->of, s->app.options.hidden, 0);
}

void dyn_spinn_decide(struct dyn_spinn *s, struct reading *r)
{
    struct cavs_symbol *next =
        r->next < r->words ? front_word(s, r).h : cavs_constant(r->of, s->app.options.hidden, 0);
    struct cavs_symbol *x[] = {next, h_at(s, r, 0), h_at(s, r, 1)};

    if (!r->tracker)
        r->tracker = cavs_constant(r->of, 2 * s->tracker_width, 0);
    r->tracker = cavs_cell_next(&s->tracker, cavs_concat(3, x), r->tracker);
    r->moves = cavs_affine(cavs_cell_output(&s->tracker, r->tracker), s->W_move, s->b_move);
}

static void make(struct dyn_spinn *s, struct reading *r, enum spinn_move m)
{
    int *children = r->children + 2 * r->vertices;
    struct piece *piece, joined;
    struct cavs_symbol *logits;

    if (m == SPINN_SHIFT) {
        joined = front_word(s, r);
        r->next++;
        children[0] = children[1] = -1;
    } else {
        struct piece *left = &r->stack[r->depth - 2], *right = left + 1;

        joined = join(s, r, *left, *right);
        joined.vertex = phrase_of(r, left, right);
        r->phrases += joined.vertex >= 0;
        children[0] = left->made;
        children[1] = right->made;
        r->depth -= 2;
    }
    piece = &r->stack[r->depth++];
    *piece = joined;
    piece->made = r->vertices++;
    logits = cavs_affine(piece->h, s->W_class, s->b_class);
    if (r->labelled)
        compare_label(s, r, piece, logits);
    if (r->logits)
        r->logits[piece->made] = logits;
}

void dyn_spinn_move(struct dyn_spinn *s, struct reading *r, const float *scores)
{
    enum spinn_move m = right_move(r);

    if (dyn_spinn_has_choice(r)) {
        if (r->labelled)
            compare_move(s, r);
        if (scores)
            m = scores[SPINN_REDUCE] > scores[SPINN_SHIFT] ? SPINN_REDUCE : SPINN_SHIFT;
    }
    make(s, r, m);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/tree_lstm_cells.h"

#include "apps/common/params.h"

const char *const cell_names[] = {"bench", "childsum", "nary", NULL};

/* ---- parameters ------------------------------------------------------------------------------ */

struct tree_lstm_cell tree_lstm_params(struct cavs_model *m, enum cell kind,
                                       const struct tree_lstm_sizes *s)
{
    int h = s->hidden;
    bool sums = kind == CELL_CHILDSUM, inner = s->arities->n > 1;
    struct tree_lstm_cell p = {.kind = kind};

    p.b_leaf = app_bias(m, sums ? "b_iou" : "b_leaf", 3 * h);
    p.embedding = app_embedding(m, "embedding", s->words, s->embed, 0.05f);
    p.W_iou = app_weights(m, "W_iou", s->embed, h, 3);
    if (sums) {
        p.U = app_weights(m, "U_iou", h, h, 3);
        p.b = p.b_leaf;
        p.F1 = p.F2 = app_weight(m, "U_f", h, h);
        p.b_f = app_bias(m, "b_f", h);
    } else if (inner && kind == CELL_NARY) {
        p.U = app_weights(m, "U_iouf", 2 * h, h, 5);
        p.b = app_bias(m, "b_iouf", 5 * h);
    } else if (inner) {
        p.U = app_weights(m, "U_iou", 2 * h, h, 3);
        p.b = app_bias(m, "b_iou", 3 * h);
        p.F1 = app_weight(m, "F1", h, h);
        p.F2 = app_weight(m, "F2", h, h);
        p.b_f = app_bias(m, "b_f", h);
    }
    return p;
}

/* ---- cells, from symbols to symbols ---------------------------------------------------------- */

/* s(i) tanh(u) */
static struct cavs_symbol *input_part(struct cavs_symbol *i, struct cavs_symbol *u)
{
    return cavs_mul(cavs_sigmoid(i), cavs_tanh(u));
}

/* c + s(f) c_k */
static struct cavs_symbol *keep(struct cavs_symbol *c, struct cavs_symbol *f,
                                struct cavs_symbol *c_k)
{
    return cavs_add(c, cavs_mul(cavs_sigmoid(f), c_k));
}

/* h = s(o) tanh(c) */
static struct tree_lstm_state state_of(struct cavs_symbol *c, struct cavs_symbol *o)
{
    return (struct tree_lstm_state){c, cavs_mul(cavs_sigmoid(o), cavs_tanh(c))};
}

struct tree_lstm_state tree_lstm_leaf(const struct tree_lstm_cell *p, struct cavs_symbol *word)
{
    struct cavs_symbol *iou[3] = {NULL};

    cavs_split(cavs_affine(cavs_lookup(p->embedding, word), p->W_iou, p->b_leaf), 3, iou);
    return state_of(input_part(iou[0], iou[2]), iou[1]);
}

static struct tree_lstm_state bench(const struct tree_lstm_cell *p,
                                    const struct tree_lstm_state *child)
{
    struct cavs_symbol *both[] = {child[0].h, child[1].h}, *iou[3] = {NULL}, *c;

    cavs_split(cavs_affine(cavs_concat(2, both), p->U, p->b), 3, iou);
    c = input_part(iou[0], iou[2]);
    c = keep(c, cavs_affine(child[0].h, p->F1, p->b_f), child[0].c);
    c = keep(c, cavs_affine(child[1].h, p->F2, p->b_f), child[1].c);
    return state_of(c, iou[1]);
}

static struct tree_lstm_state nary(const struct tree_lstm_cell *p,
                                   const struct tree_lstm_state *child)
{
    struct cavs_symbol *both[] = {child[0].h, child[1].h}, *gate[5] = {NULL}, *c;

    cavs_split(cavs_affine(cavs_concat(2, both), p->U, p->b), 5, gate);
    c = input_part(gate[0], gate[2]);
    c = keep(c, gate[3], child[0].c);
    c = keep(c, gate[4], child[1].c);
    return state_of(c, gate[1]);
}

static struct tree_lstm_state childsum(const struct tree_lstm_cell *p, int n,
                                       const struct tree_lstm_state *child)
{
    struct cavs_symbol *sum = child[0].h, *iou[3] = {NULL}, *c;

    for (int k = 1; k < n; k++)
        sum = cavs_add(sum, child[k].h);
    cavs_split(cavs_affine(sum, p->U, p->b), 3, iou);
    c = input_part(iou[0], iou[2]);
    for (int k = 0; k < n; k++)
        c = keep(c, cavs_affine(child[k].h, p->F1, p->b_f), child[k].c);
    return state_of(c, iou[1]);
}

/* The same on a tape, where sums over any number of children are batched together. */
static struct tree_lstm_state childsum_of_lists(const struct tree_lstm_cell *p, int n,
                                                const struct tree_lstm_state *child)
{
    struct cavs_symbol **x = p->room, *iou[3] = {NULL}, *c, *f;

    for (int k = 0; k < n; k++)
        x[k] = child[k].h;
    cavs_split(cavs_affine(cavs_sum_children(cavs_tape_list(p->tape, n, x)), p->U, p->b), 3, iou);
    for (int k = 0; k < n; k++) {
        f = cavs_sigmoid(cavs_affine(child[k].h, p->F1, p->b_f));
        x[k] = cavs_mul(f, child[k].c);
    }
    c = cavs_sum_children(cavs_tape_list(p->tape, n, x));
    return state_of(cavs_add(input_part(iou[0], iou[2]), c), iou[1]);
}

struct tree_lstm_state tree_lstm_inner(const struct tree_lstm_cell *p, int n,
                                       const struct tree_lstm_state *child)
{
    switch (p->kind) {
    case CELL_BENCH: return bench(p, child);
    case CELL_NARY: return nary(p, child);
    default: return p->tape ? childsum_of_lists(p, n, child) : childsum(p, n, child);
    }
}

/* ---- vertex functions of them ---------------------------------------------------------------- */

/* Hands the state up to the parent, and h to the classifier. */
static void set_state(struct cavs_function *f, struct tree_lstm_state s)
{
    struct cavs_symbol *state[] = {s.c, s.h};

    cavs_scatter(f, cavs_concat(2, state));
    cavs_push(f, "h", s.h);
}

/* Declares a vertex with so many children, each read by its number. */
static void declare_inner(struct cavs_function *f, const struct tree_lstm_cell *p, int arity)
{
    struct tree_lstm_state child[ARITY_MANY];

    for (int k = 0; k < arity; k++) {
        struct cavs_symbol *ch[2] = {NULL, NULL};

        cavs_split(cavs_gather(f, k), 2, ch);
        child[k] = (struct tree_lstm_state){ch[0], ch[1]};
    }
    set_state(f, tree_lstm_inner(p, arity, child));
}

/* Declares the childsum cell over any number of children, with a row for each of them. */
static void declare_childsum_of_many(struct cavs_function *inner, const struct tree_lstm_cell *p)
{
    struct cavs_symbol *child[2] = {NULL, NULL}, *iou[3] = {NULL}, *f, *c;

    cavs_split(cavs_each_child(inner), 2, child); /* c, h */
    cavs_split(cavs_affine(cavs_sum_children(child[1]), p->U, p->b), 3, iou);
    f = cavs_sigmoid(cavs_affine(child[1], p->F1, p->b_f));
    c = cavs_add(input_part(iou[0], iou[2]), cavs_sum_children(cavs_mul(f, child[0])));
    set_state(inner, state_of(c, iou[1]));
}

/* Declares a function for each small number of children that occurs, which computes nothing for
 * children that are not there. */
static void declare_childsums(struct cavs_stage *tree, const struct arities *arities,
                              const struct tree_lstm_cell *p)
{
    char name[ARITY_NAME_SIZE];

    for (int i = 1; i < arities->n; i++) {
        struct cavs_function *inner = cavs_function_create(tree, arities_name(arities, i, name));

        if (arities->children[i] < ARITY_MANY)
            declare_inner(inner, p, arities->children[i]);
        else
            declare_childsum_of_many(inner, p);
    }
}

struct cavs_stage *tree_lstm_declare(struct cavs_model *m, enum cell kind,
                                     const struct tree_lstm_sizes *s)
{
    struct cavs_stage *tree = cavs_stage_create(m, "tree", 2 * s->hidden);
    struct tree_lstm_cell p = tree_lstm_params(m, kind, s);
    struct cavs_function *leaf = cavs_function_create(tree, "leaf");

    set_state(leaf, tree_lstm_leaf(&p, cavs_pull_ids(leaf, "word")));
    if (kind == CELL_CHILDSUM)
        declare_childsums(tree, s->arities, &p);
    else if (s->arities->n > 1)
        declare_inner(cavs_function_create(tree, "inner"), &p, 2);
    return tree;
}

struct tree_lstm_head tree_lstm_head_params(struct cavs_model *m, const struct tree_lstm_sizes *s)
{
    return (struct tree_lstm_head){app_weight(m, "W_class", s->hidden, s->classes),
                                   app_bias(m, "b_class", s->classes)};
}

struct cavs_stage *tree_lstm_classifier(struct cavs_model *m, struct cavs_stage *tree,
                                        const struct tree_lstm_sizes *s)
{
    struct tree_lstm_head p = tree_lstm_head_params(m, s);
    struct cavs_stage *head = cavs_stage_over(m, "class", tree, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(head, "class");
    struct cavs_symbol *logits = cavs_affine(cavs_pull_from(f, tree, "h", NULL), p.W, p.b);
    struct cavs_symbol *label = cavs_pull_ids(f, "label"), *root = cavs_pull_ids(f, "root");

    if (s->predict)
        cavs_push(f, TREE_LOGITS, logits);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", cavs_correct(logits, label), label);
    cavs_metric(f, "root_correct", cavs_correct(logits, root), root);
    return head;
}

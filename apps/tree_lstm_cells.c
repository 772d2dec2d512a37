/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/tree_lstm_cells.h"

#include "apps/common/params.h"

const char *const cell_names[] = {"bench", "childsum", "nary", NULL};

/* c and h of a child */
struct child {
    struct cavs_symbol *c, *h;
};

static struct child gather_child(struct cavs_function *f, int k)
{
    struct cavs_symbol *ch[2] = {NULL, NULL};

    cavs_split(cavs_gather(f, k), 2, ch);
    return (struct child){.c = ch[0], .h = ch[1]};
}

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

/* h = s(o) tanh(c); the state goes up, h to the classifier. */
static void set_state(struct cavs_function *f, struct cavs_symbol *c, struct cavs_symbol *o)
{
    struct cavs_symbol *h = cavs_mul(cavs_sigmoid(o), cavs_tanh(c));
    struct cavs_symbol *state[] = {c, h};

    cavs_scatter(f, cavs_concat(2, state));
    cavs_push(f, "h", h);
}

/* ---- leaves ---------------------------------------------------------------------------------- */

static void declare_leaf(struct cavs_model *m, struct cavs_stage *tree,
                         const struct tree_lstm_sizes *s, struct cavs_param *b)
{
    struct cavs_param *table = app_embedding(m, "embedding", s->words, s->embed, 0.05f);
    struct cavs_param *W = app_weights(m, "W_iou", s->embed, s->hidden, 3);
    struct cavs_function *leaf = cavs_function_create(tree, "leaf");
    struct cavs_symbol *x = cavs_lookup(table, cavs_pull_ids(leaf, "word"));
    struct cavs_symbol *iou[3] = {NULL};

    cavs_split(cavs_affine(x, W, b), 3, iou);
    set_state(leaf, input_part(iou[0], iou[2]), iou[1]);
}

/* ---- inner vertices -------------------------------------------------------------------------- */

static void declare_bench(struct cavs_model *m, struct cavs_stage *tree, int h)
{
    struct cavs_param *U = app_weights(m, "U_iou", 2 * h, h, 3), *b = app_bias(m, "b_iou", 3 * h);
    struct cavs_param *F1 = app_weight(m, "F1", h, h), *F2 = app_weight(m, "F2", h, h);
    struct cavs_param *b_f = app_bias(m, "b_f", h);
    struct cavs_function *inner = cavs_function_create(tree, "inner");
    struct child l = gather_child(inner, 0), r = gather_child(inner, 1);
    struct cavs_symbol *both[] = {l.h, r.h}, *iou[3] = {NULL}, *c;

    cavs_split(cavs_affine(cavs_concat(2, both), U, b), 3, iou);
    c = input_part(iou[0], iou[2]);
    c = keep(c, cavs_affine(l.h, F1, b_f), l.c);
    c = keep(c, cavs_affine(r.h, F2, b_f), r.c);
    set_state(inner, c, iou[1]);
}

static void declare_nary(struct cavs_model *m, struct cavs_stage *tree, int h)
{
    struct cavs_param *U = app_weights(m, "U_iouf", 2 * h, h, 5), *b = app_bias(m, "b_iouf", 5 * h);
    struct cavs_function *inner = cavs_function_create(tree, "inner");
    struct child l = gather_child(inner, 0), r = gather_child(inner, 1);
    struct cavs_symbol *both[] = {l.h, r.h}, *gate[5] = {NULL}, *c;

    cavs_split(cavs_affine(cavs_concat(2, both), U, b), 5, gate);
    c = input_part(gate[0], gate[2]);
    c = keep(c, gate[3], l.c);
    c = keep(c, gate[4], r.c);
    set_state(inner, c, gate[1]);
}

/* What the childsum functions of all arities share. */
struct childsum {
    struct cavs_param *U, *b, *U_f, *b_f;
};

static void declare_childsum(struct cavs_function *inner, const struct childsum *p, int arity)
{
    struct cavs_symbol *sum = gather_child(inner, 0).h, *iou[3] = {NULL}, *c;

    for (int k = 1; k < arity; k++)
        sum = cavs_add(sum, gather_child(inner, k).h);
    cavs_split(cavs_affine(sum, p->U, p->b), 3, iou);
    c = input_part(iou[0], iou[2]);
    for (int k = 0; k < arity; k++) {
        struct child child = gather_child(inner, k);

        c = keep(c, cavs_affine(child.h, p->U_f, p->b_f), child.c);
    }
    set_state(inner, c, iou[1]);
}

/* The same for any number of children: a row for each of them. */
static void declare_childsum_of_many(struct cavs_function *inner, const struct childsum *p)
{
    struct cavs_symbol *child[2] = {NULL, NULL}, *iou[3] = {NULL}, *f, *c;

    cavs_split(cavs_each_child(inner), 2, child); /* c, h */
    cavs_split(cavs_affine(cavs_sum_children(child[1]), p->U, p->b), 3, iou);
    f = cavs_sigmoid(cavs_affine(child[1], p->U_f, p->b_f));
    c = cavs_add(input_part(iou[0], iou[2]), cavs_sum_children(cavs_mul(f, child[0])));
    set_state(inner, c, iou[1]);
}

/* One function for each small arity that occurs: no arithmetic on children that are not there. */
static void declare_childsums(struct cavs_model *m, struct cavs_stage *tree,
                              const struct tree_lstm_sizes *s, struct cavs_param *b)
{
    int h = s->hidden;
    char name[ARITY_NAME_SIZE];
    struct childsum p = {
        .U = app_weights(m, "U_iou", h, h, 3),
        .b = b,
        .U_f = app_weight(m, "U_f", h, h),
        .b_f = app_bias(m, "b_f", h),
    };

    for (int i = 1; i < s->arities->n; i++) {
        struct cavs_function *inner = cavs_function_create(tree, arities_name(s->arities, i, name));

        if (s->arities->children[i] < ARITY_MANY)
            declare_childsum(inner, &p, s->arities->children[i]);
        else
            declare_childsum_of_many(inner, &p);
    }
}

struct cavs_stage *tree_lstm_declare(struct cavs_model *m, enum cell cell,
                                     const struct tree_lstm_sizes *s)
{
    struct cavs_stage *tree = cavs_stage_create(m, "tree", 2 * s->hidden);
    struct cavs_param *b = app_bias(m, cell == CELL_CHILDSUM ? "b_iou" : "b_leaf", 3 * s->hidden);

    declare_leaf(m, tree, s, b);
    if (cell == CELL_CHILDSUM)
        declare_childsums(m, tree, s, b);
    else if (s->arities->n > 1 && cell == CELL_NARY)
        declare_nary(m, tree, s->hidden);
    else if (s->arities->n > 1)
        declare_bench(m, tree, s->hidden);
    return tree;
}

struct cavs_stage *tree_lstm_classifier(struct cavs_model *m, struct cavs_stage *tree,
                                        const struct tree_lstm_sizes *s)
{
    struct cavs_param *W = app_weight(m, "W_class", s->hidden, s->classes);
    struct cavs_param *b = app_bias(m, "b_class", s->classes);
    struct cavs_stage *head = cavs_stage_over(m, "class", tree, CAVS_ALL_VERTICES);
    struct cavs_function *f = cavs_function_create(head, "class");
    struct cavs_symbol *logits = cavs_affine(cavs_pull_from(f, tree, "h", NULL), W, b);
    struct cavs_symbol *label = cavs_pull_ids(f, "label"), *root = cavs_pull_ids(f, "root");

    if (s->predict)
        cavs_push(f, TREE_LOGITS, logits);
    cavs_loss(f, "loss", cavs_softmax_cross_entropy(logits, label), label);
    cavs_metric(f, "correct", cavs_correct(logits, label), label);
    cavs_metric(f, "root_correct", cavs_correct(logits, root), root);
    return head;
}

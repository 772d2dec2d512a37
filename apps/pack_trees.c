/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_trees.c - trees for tree_lstm: the stage "tree" with the functions leaf, inner1, inner2, ... for the numbers of
 * children that occur, and the stage "class" over it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "apps/common/packed.h"
#include "apps/common/ptb.h"
#include "apps/common/threefile.h"
#include "apps/pack.h"

enum { TREE, CLASS };

/* ---- the first reading: arities, and ids of words that are numbers already --------------------- */

static int note_tree(struct pack *p, const struct tree *t)
{
    for (int v = 0; v < t->n; v++) {
        int arity = tree_arity(t, v);

        if (arity > p->max_arity || !p->arities) {
            bool *grown = realloc(p->arities, (arity + 1) * sizeof *grown);

            if (!grown)
                return CAVS_ENOMEM;
            for (int k = p->arities ? p->max_arity + 1 : 0; k <= arity; k++)
                grown[k] = false;
            p->arities = grown;
            p->max_arity = arity;
        }
        p->arities[arity] = true;
    }
    return 0;
}

/* ---- samples ----------------------------------------------------------------------------------- */

static int add_tree(struct pack *p, const struct tree *t, struct app_error *e)
{
    int *functions = pack_ints(p, 2 * (size_t)t->n), *root = functions + t->n, rc;

    if (!functions)
        return CAVS_ENOMEM;
    for (int v = 0; v < t->n; v++) {
        int arity = tree_arity(t, v);

        if (arity > p->max_arity || !p->arities[arity])
            return app_fail(e, CAVS_EDATA,
                            "%s:%zu: a vertex of this tree has %d children, as none in %s",
                            p->input, t->line, arity, p->like);
        functions[v] = p->function_of[arity];
        root[v] = v == t->n - 1 ? t->label[v] : -1;
    }
    if ((rc = cavs_data_begin(p->data)) < 0 ||
        (rc = cavs_data_graph(p->data, p->stages[TREE], t->n, functions, t->child_ptr,
                              t->children)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[TREE], "word", t->n, t->word)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[CLASS], "label", t->n, t->label)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[CLASS], "root", t->n, root)) < 0)
        return rc;
    return cavs_data_end(p->data);
}

static int on_tree(void *context, const struct tree *t, struct app_error *e)
{
    struct pack *p = context;

    return p->growing ? note_tree(p, t) : add_tree(p, t, e);
}

static int read_brackets(struct pack *p, struct app_error *e)
{
    struct ptb_options o = {.labels = p->labels, .vocab = p->words, .grow = p->growing};
    struct tree_visitor visitor = {on_tree, p};

    return ptb_each(p->input, &o, &visitor, e);
}

/* Words are numbers here; their names are these numbers, too, and none is <unk>. */
static int on_numbered_tree(void *context, const struct tree *t, struct app_error *e)
{
    struct pack *p = context;

    for (int v = 0; p->growing && v < t->n; v++) {
        while (t->word[v] >= vocab_size(p->words)) {
            char name[16];
            int length = snprintf(name, sizeof name, "%d", vocab_size(p->words));

            if (vocab_add(p->words, name, length) < 0)
                return CAVS_ENOMEM;
        }
    }
    return on_tree(context, t, e);
}

static int read_threefile(struct pack *p, struct app_error *e)
{
    struct tree_visitor visitor = {on_numbered_tree, p};

    return threefile_each(p->input, p->labels, &visitor, e);
}

/* ---- stages ------------------------------------------------------------------------------------ */

static int declare(struct pack *p, struct app_error *e)
{
    static const char *const of_leaf[] = {"word", NULL}, *const of_inner[] = {NULL};
    static const char *const of_class[] = {"label", "root", NULL};
    int rc, n = 0;

    if (p->pattern && (rc = packed_arities(p->pattern, p->like, &p->arities, &p->max_arity, e)) < 0)
        return rc;
    if (!p->arities)
        return app_fail(e, CAVS_EDATA, "%s: no trees in it", p->input);
    if (!(p->function_of = calloc(p->max_arity + 1, sizeof *p->function_of)))
        return CAVS_ENOMEM;
    p->stages[TREE] = pack_stage(p, "tree");
    for (int arity = 0; arity <= p->max_arity; arity++) {
        char name[32] = "leaf";

        if (!p->arities[arity])
            continue;
        if (arity)
            snprintf(name, sizeof name, "inner%d", arity);
        pack_function(p->stages[TREE], name, arity, arity ? of_inner : of_leaf);
        p->function_of[arity] = n++;
    }
    p->stages[CLASS] = pack_over(p, "class", p->stages[TREE], of_class);
    return 0;
}

const struct pack_form pack_brackets = {"brackets", read_brackets, declare};
const struct pack_form pack_threefile = {"threefile", read_threefile, declare};

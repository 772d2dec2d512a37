/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_trees.c - trees for tree_lstm: the stage "tree" with a function for each number of children
 * that occurs, as arities.h has them, and the stage "class" over it.
 */
#include <stdio.h>

#include "apps/common/packed_set.h"
#include "apps/common/ptb.h"
#include "apps/common/threefile.h"
#include "apps/pack.h"

enum { TREE, CLASS };
/* All words up to the largest id get a name, so a single wrong id would fill the memory. */
enum { MOST_NUMBERED_WORDS = 1 << 24 };

/* ---- samples --------------------------------------------------------------------------------- */

static int add_tree(struct pack *p, const struct tree *t, struct app_error *e)
{
    int *functions = pack_ints(p, 2 * (size_t)t->n), *root, rc;

    if (!functions)
        return CAVS_ENOMEM;
    root = functions + t->n;
    for (int v = 0; v < t->n; v++) {
        functions[v] = arities_function(&p->arities, tree_arity(t, v));
        if (functions[v] < 0)
            return app_fail(e, CAVS_EDATA,
                            "%s:%zu: a vertex of this tree has %d children, as none in %s",
                            p->input, t->line, tree_arity(t, v), p->like);
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

    return p->growing ? arities_note_tree(&p->arities, t) : add_tree(p, t, e);
}

static int read_brackets(struct pack *p, struct app_error *e)
{
    struct ptb_options o = {.labels = p->labels, .vocab = p->words, .grow = p->growing};
    struct tree_visitor visitor = {on_tree, p};

    return ptb_each(p->input, &o, &visitor, e);
}

/* The words of these files are numbers; their names are the numbers, too, and none is <unk>. */
static int name_words_to(struct vocab *words, int last)
{
    while (vocab_size(words) <= last) {
        char name[16];
        int length = snprintf(name, sizeof name, "%d", vocab_size(words));

        if (vocab_add(words, name, length) < 0)
            return CAVS_ENOMEM;
    }
    return 0;
}

static int on_numbered_tree(void *context, const struct tree *t, struct app_error *e)
{
    struct pack *p = context;
    int rc = 0;

    for (int v = 0; p->growing && rc == 0 && v < t->n; v++) {
        if (t->word[v] >= MOST_NUMBERED_WORDS)
            return app_fail(e, CAVS_EDATA,
                            "%s/sents_idx.txt:%zu: expected ids of words up to %d, found %d",
                            p->input, t->line, MOST_NUMBERED_WORDS - 1, t->word[v]);
        rc = name_words_to(p->words, t->word[v]);
    }
    return rc < 0 ? rc : on_tree(context, t, e);
}

static int read_threefile(struct pack *p, struct app_error *e)
{
    struct tree_visitor visitor = {on_numbered_tree, p};

    return threefile_each(p->input, p->labels, &visitor, e);
}

/* ---- stages ---------------------------------------------------------------------------------- */

static int declare(struct pack *p, struct app_error *e)
{
    static const char *const of_leaf[] = {"word", NULL}, *const of_inner[] = {NULL};
    static const char *const of_class[] = {"label", "root", NULL};
    char name[ARITY_NAME_SIZE];
    int rc;

    if (p->pattern && (rc = packed_arities(p->pattern, p->like, &p->arities, e)) < 0)
        return rc;
    if (p->arities.n == 0)
        return app_fail(e, CAVS_EDATA, "%s: no trees in it", p->input);
    p->stages[TREE] = pack_stage(p, "tree");
    for (int i = 0; i < p->arities.n; i++) {
        int children = p->arities.children[i];

        pack_function(p->stages[TREE], arities_name(&p->arities, i, name),
                      children < ARITY_MANY ? children : PACK_ANY_ARITY,
                      children > 0 ? of_inner : of_leaf);
    }
    p->stages[CLASS] = pack_over(p, "class", p->stages[TREE], of_class);
    return 0;
}

const struct pack_form pack_brackets = {"brackets", read_brackets, declare};
const struct pack_form pack_threefile = {"threefile", read_threefile, declare};

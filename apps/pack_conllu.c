/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack_conllu.c - trees of dependencies: the stage "tree" has a vertex a word, the children of a
 * word are its dependents, its inputs are the word, with ASCII capitals made small, and the
 * relation to its head, -1 for the root; the stage "tag" over it has the label UPOS.
 */
#include <stdlib.h>

#include "apps/common/conllu.h"
#include "apps/pack.h"

enum { TREE, TAG };

static int add_sentence(struct pack *p, const struct conllu_sentence *s, const int *child_ptr,
                        const int *child, const int *relation)
{
    int rc;

    if ((rc = cavs_data_begin(p->data)) < 0 ||
        (rc = cavs_data_graph(p->data, p->stages[TREE], s->n, NULL, child_ptr, child)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[TREE], "word", s->n, s->form)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[TREE], "relation", s->n, relation)) < 0 ||
        (rc = cavs_data_ids(p->data, p->stages[TAG], "label", s->n, s->upos)) < 0)
        return rc;
    return cavs_data_end(p->data);
}

static int on_sentence(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    struct pack *p = context;
    int *child_ptr, *child, *relation;

    (void)e;
    if (p->growing)
        return 0;
    child_ptr = pack_ints(p, 3 * (size_t)s->n + 1);
    if (!child_ptr)
        return CAVS_ENOMEM;
    child = child_ptr + s->n + 1;
    relation = child + s->n;
    conllu_tree(s, child_ptr, child);
    conllu_tree_relations(s, relation);
    return add_sentence(p, s, child_ptr, child, relation);
}

static int read_conllu(struct pack *p, struct app_error *e)
{
    struct conllu_options o = {.forms = p->words,
                               .upos = p->tags,
                               .relations = p->relations,
                               .grow_forms = p->growing,
                               .grow_tags = p->growing,
                               .lower = true,
                               .wanted = CONLLU_HEAD | CONLLU_DEPREL};
    struct conllu_visitor visitor = {on_sentence, p};

    return conllu_read(p->input, &o, &visitor, e);
}

static int declare(struct pack *p, struct app_error *e)
{
    static const char *const of_word[] = {"word", "relation", NULL}, *const of_tag[] = {"label",
                                                                                        NULL};

    (void)e;
    p->stages[TREE] = pack_stage(p, "tree");
    pack_function(p->stages[TREE], "word", PACK_ANY_ARITY, of_word);
    p->stages[TAG] = pack_over(p, "tag", p->stages[TREE], of_tag);
    return 0;
}

const struct pack_form pack_conllu = {"conllu", read_conllu, declare};

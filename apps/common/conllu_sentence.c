/* SPDX-License-Identifier: Apache-2.0 */
/* conllu_sentence.c - a sentence of a CoNLL-U file is complete: numbered, checked, handed over. */
#include <string.h>

#include "apps/common/conllu_stream.h"
#include "apps/common/reserve.h"

static int bad_head(struct conllu_stream *r, const struct conllu_reference *at, const char *what)
{
    return app_fail(r->error, CAVS_EFORMAT, "%s:%zu:%zu: expected %s, found %d%s%.0d",
                    r->lines.name, at->line, at->column, what, at->word, at->empty ? "." : "",
                    at->empty);
}

/* Words first, then the empty nodes: number[i] is that of the i-th node of the file. */
static void number_nodes(struct conllu_stream *r)
{
    int next = r->words;

    for (int i = 0; i < r->nnodes; i++)
        r->number[i] = r->nodes[i].empty ? next++ : r->nodes[i].word - 1;
}

static int make_words(struct conllu_stream *r)
{
    int roots = 0;

    for (int i = 0; i < r->nnodes; i++) {
        const struct conllu_node *node = &r->nodes[i];
        int v = r->number[i];

        r->form[v] = node->form;
        r->upos[v] = node->upos;
        if (node->empty)
            continue;
        if (node->head.word > r->words || node->head.word == node->word)
            return bad_head(r, &node->head, "another word of the sentence or 0");
        if (node->head.word == 0 && roots++)
            return bad_head(r, &node->head, "the head of a word (there is a root before)");
        r->head[v] = node->head.word < 0 ? CONLLU_NO_HEAD : node->head.word - 1;
        r->relation[v] = node->relation;
    }
    return 0;
}

/* Every word reaches the root, or a word whose head is not known, in at most n steps; number[] is
 * free to note which are known to. */
static int check_tree(struct conllu_stream *r)
{
    int *reaches = r->number;

    memset(reaches, 0, r->words * sizeof *reaches);
    for (int v = 0; v < r->words; v++) {
        int u = v, steps = 0;

        for (; u >= 0 && !reaches[u] && steps <= r->words; steps++)
            u = r->head[u];
        if (steps > r->words)
            return app_fail(r->error, CAVS_EFORMAT,
                            "%s:%zu: expected a tree, found a cycle: word %d is its own ancestor",
                            r->lines.name, r->first_line, u + 1);
        for (u = v; u >= 0 && !reaches[u]; u = r->head[u])
            reaches[u] = 1;
    }
    return 0;
}

/* The node with that ID, CONLLU_ROOT for 0, or -2. */
static int find_node(const struct conllu_stream *r, const struct conllu_reference *id)
{
    if (!id->empty)
        return id->word <= r->words ? id->word - 1 : -2;
    for (int i = 0; i < r->nnodes; i++)
        if (r->nodes[i].word == id->word && r->nodes[i].empty == id->empty)
            return r->number[i];
    return -2;
}

static int make_edges(struct conllu_stream *r)
{
    for (int i = 0; i < r->nraw; i++) {
        const struct conllu_raw_edge *raw = &r->raw[i];
        int head = find_node(r, &raw->head);

        if (head < CONLLU_ROOT)
            return bad_head(r, &raw->head, "a node of the sentence or 0");
        r->edges[i] = (struct conllu_edge){r->number[raw->node], head, raw->relation};
    }
    return 0;
}

static bool reserve_sentence(struct conllu_stream *r)
{
    size_t n = r->nnodes;

    return array_reserve(&r->form, &r->form_cap, n, sizeof(int)) &&
           array_reserve(&r->upos, &r->upos_cap, n, sizeof(int)) &&
           array_reserve(&r->head, &r->head_cap, n, sizeof(int)) &&
           array_reserve(&r->relation, &r->relation_cap, n, sizeof(int)) &&
           array_reserve(&r->number, &r->number_cap, n, sizeof(int)) &&
           array_reserve(&r->edges, &r->edges_cap, r->nraw, sizeof *r->edges);
}

int conllu_end_sentence(struct conllu_stream *r, struct conllu_sentence *out)
{
    int rc;

    if (!r->first_line)
        return 0;
    if (!r->words || r->covered > r->words)
        return app_fail(r->error, CAVS_EFORMAT,
                        "%s:%zu: expected word %d, found the sentence's end", r->lines.name,
                        r->lines.number, r->words + 1);
    if (!reserve_sentence(r))
        return conllu_no_memory(r);
    number_nodes(r);
    if ((rc = make_words(r)) < 0 || (rc = make_edges(r)) < 0 || (rc = check_tree(r)) < 0)
        return rc;
    if (r->options.text && !conllu_text_end(r->options.text))
        return conllu_no_memory(r);
    *out = (struct conllu_sentence){
        .line = r->first_line,
        .n = r->words,
        .nodes = r->nnodes,
        .form = r->form,
        .upos = r->upos,
        .head = r->head,
        .relation = r->relation,
        .edges = r->edges,
        .nedges = r->nraw,
    };
    r->words = r->empty = r->covered = r->nnodes = r->nraw = 0;
    r->first_line = 0;
    return 1;
}

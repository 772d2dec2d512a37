/* SPDX-License-Identifier: Apache-2.0 */
/* parser_predict.c - sentences in, their trees out. */
#include "apps/common/json_build.h"
#include "apps/common/predict.h"
#include "apps/common/utf8.h"
#include "apps/parser.h"

static int on_sentence(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    struct parser *p = context;
    const struct conllu_text *lines = &p->predictor.text;

    return parser_text_add(&p->unparsed, &p->words, s, lines, lines->n - 1, e);
}

static int parse_all(struct parser *p, struct cavs_data *d)
{
    return parser_trees_reserve(&p->trees, p->unparsed.words, p->app.options.json)
               ? p->parse(p, &p->unparsed, d, &p->trees)
               : CAVS_ENOMEM;
}

/* Heads are the numbers of words from 1, 0 for the root. */
static int write_json(struct parser *p, int i)
{
    size_t first = p->unparsed.first[i], end = p->unparsed.first[i + 1];
    json_t *sentence = json_object(), *heads = json_array(), *relations = json_array();
    json_t *moves = json_array(), *labels = json_array();

    for (size_t v = first + 1; v < end; v++) {
        int relation = p->trees.relation[v];

        json_build_append(&heads, json_integer(p->trees.head[v]));
        json_build_append(&relations, relation
                                          ? utf8_to_json(vocab_word(p->words.relations, relation))
                                          : json_null());
        json_build_append(&moves, json_build_number((double)p->trees.move[v]));
        json_build_append(&labels, json_build_number((double)p->trees.label[v]));
    }
    json_build_set(&sentence, "forms", conllu_predictor_forms(&p->predictor, i));
    json_build_set(&sentence, "heads", heads);
    json_build_set(&sentence, "relations", relations);
    json_build_set(&sentence, "move_probabilities", moves);
    json_build_set(&sentence, "relation_probabilities", labels);
    return predictions_write_json(&p->app, sentence);
}

/* The words of a CoNLL-U sentence are numbered from 0, without the root. */
static int write_lines(struct parser *p, int i)
{
    size_t first = p->unparsed.first[i] + 1;
    struct conllu_columns c = {.head = p->trees.head + first,
                               .relation = p->trees.relation + first,
                               .relation_names = p->words.relations};

    for (size_t v = first; v < p->unparsed.first[i + 1]; v++) {
        p->trees.head[v] += CONLLU_ROOT;
        if (p->trees.relation[v] == VOCAB_UNKNOWN)
            p->trees.relation[v] = -1;
    }
    conllu_predictor_write(&p->predictor, &p->app, i, &c);
    return 0;
}

int parser_predict(struct app *a, struct cavs_data *d, int most)
{
    struct parser *p = (struct parser *)a;
    struct conllu_options options = {.relations = p->words.relations};
    struct conllu_visitor visitor = {on_sentence, p};
    int n, rc;

    parser_text_empty(&p->unparsed);
    n = conllu_predictor_read(&p->predictor, a, most, &options, &visitor);
    if (n <= 0)
        return n;
    if ((rc = parse_all(p, d)) != 0)
        return rc < 0 ? rc : 0;
    for (int i = 0; rc == 0 && i < n; i++)
        rc = (a->options.json ? write_json : write_lines)(p, i);
    if (rc < 0)
        return rc;
    conllu_predictor_finish(&p->predictor, a);
    return n;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* dag_rnn_data.c - sentences as graphs: of the sets, and of what is to be predicted. */
#include <stdlib.h>

#include "apps/common/reserve.h"
#include "apps/dag_rnn.h"

/* The sentences of one file on their way to the data. */
struct reading {
    struct dag_rnn *d;
    struct cavs_data *data; /* NULL: only words are noted */
    enum cycles cycles;
    struct coverage *coverage; /* of data */
};

/* A sentence's graph and inputs, in d->ints. */
struct sample {
    int n, *ptr, *child, *relation, *label, *scratch;
};

static bool reserve(struct dag_rnn *d, const struct conllu_sentence *s, struct sample *out)
{
    size_t n = (size_t)s->nodes, edges = (size_t)s->nedges + n;

    if (!array_reserve(&d->ints, &d->cap, 5 * n + 1 + 2 * edges, sizeof *d->ints))
        return false;
    out->ptr = d->ints;
    out->child = out->ptr + n + 1;
    out->relation = out->child + edges;
    out->label = out->relation + edges;
    out->scratch = out->label + n;
    return true;
}

/* The graph that is trained on; returns how many edges of DEPS close a cycle: these are not in
 * it. */
static int make_graph(const struct dag_rnn *d, const struct conllu_sentence *s, struct sample *to)
{
    int cut;

    conllu_graph(s, to->ptr, to->child, to->relation);
    cut = conllu_cut_cycles(s, to->ptr, to->child, to->relation, to->scratch);
    to->n = s->nodes;
    if (d->graph == GRAPH_HEAD) {
        to->n = s->n;
        conllu_tree(s, to->ptr, to->child);
        for (int k = 0; k < to->ptr[s->n]; k++)
            to->relation[k] = s->relation[to->child[k]];
    }
    for (int v = 0; v < to->n; v++)
        to->label[v] = v < s->n ? s->upos[v] : -1;
    return cut;
}

static int add_sample(const struct dag_rnn *d, struct cavs_data *to, const struct sample *s,
                      const int *words)
{
    int rc;

    if ((rc = cavs_data_begin(to)) < 0 ||
        (rc = cavs_data_graph(to, d->dag, s->n, NULL, s->ptr, s->child)) < 0 ||
        (rc = cavs_data_ids(to, d->dag, "word", s->n, words)) < 0 ||
        (rc = cavs_data_edge_ids(to, d->dag, "relation", s->ptr[s->n], s->relation)) < 0 ||
        (rc = cavs_data_ids(to, d->tag, "label", s->n, s->label)) < 0)
        return rc;
    return cavs_data_end(to);
}

static int on_sentence(void *context, const struct conllu_sentence *s, struct app_error *e)
{
    struct reading *r = context;
    struct sample sample;
    bool cyclic;

    if (!r->data)
        return 0;
    if (!reserve(r->d, s, &sample))
        return app_fail(e, CAVS_ENOMEM, "no memory for a sentence of %d words", s->n);
    cyclic = make_graph(r->d, s, &sample) > 0;
    r->coverage->words += s->n;
    r->coverage->cyclic += cyclic;
    if (!cyclic || r->cycles == CYCLES_CUT)
        return add_sample(r->d, r->data, &sample, s->form);
    r->coverage->words_left_out += s->n;
    r->coverage->sentences_left_out++;
    return 0;
}

static struct conllu_options reader(const struct dag_rnn *d, bool grow)
{
    bool deps = d->graph == GRAPH_DEPS;

    return (struct conllu_options){.forms = d->words,
                                   .upos = d->tags,
                                   .relations = deps ? NULL : d->relations,
                                   .deps = deps ? d->relations : NULL,
                                   .grow_forms = grow,
                                   .grow_tags = grow,
                                   .lower = true,
                                   .wanted = deps ? CONLLU_DEPS : CONLLU_HEAD | CONLLU_DEPREL};
}

static int read_file(struct reading *r, const char *path)
{
    struct conllu_visitor visitor = {on_sentence, r};
    struct conllu_options o = reader(r->d, !r->data);

    return conllu_read(path, &o, &visitor, &r->d->app.error);
}

int dag_rnn_words(struct dag_rnn *d)
{
    static const char *const names[] = {"words", "tags", "relations", NULL};
    struct vocab **const all[] = {&d->words, &d->tags, &d->relations};
    struct reading r = {.d = d};
    int rc = app_vocabs(&d->app, names, all), *map;

    if (rc != 0)
        return rc;
    if ((rc = read_file(&r, d->app.path[APP_TRAIN])) < 0)
        return rc;
    map = vocab_trim(d->words, d->app.options.min_count);
    free(map);
    if (!map || !(map = vocab_trim(d->relations, d->min_relation)))
        return CAVS_ENOMEM;
    free(map);
    return 0;
}

int dag_rnn_fill(struct app *a, enum app_set set, struct cavs_data *to)
{
    struct dag_rnn *d = (struct dag_rnn *)a;
    struct reading r = {.d = d,
                        .data = to,
                        .cycles = set == APP_TRAIN ? CYCLES_SKIP : d->cycles,
                        .coverage = &d->coverage[set]};
    int rc = read_file(&r, a->path[set]);

    if (rc < 0 || cavs_data_size(to) > 0)
        return rc;
    return app_fail(&a->error, CAVS_EDATA, "%s: no %ssentences in it", a->path[set],
                    r.coverage->cyclic ? "acyclic " : "");
}

int dag_rnn_predict(struct app *a, struct cavs_data *to, int most)
{
    struct dag_rnn *d = (struct dag_rnn *)a;
    struct coverage all = {0};
    struct reading r = {.d = d, .data = to, .cycles = CYCLES_CUT, .coverage = &all};
    struct conllu_options o = reader(d, false);
    struct conllu_visitor visitor = {on_sentence, &r};
    int n = conllu_predictor_read(&d->predictor, a, most, &o, &visitor), rc = 0;

    if (n > 0)
        rc = conllu_predictor_tag(&d->predictor, a, to, d->tag, d->tags);
    return rc < 0 ? rc : n;
}

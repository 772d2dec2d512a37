/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/conllu.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/lines.h"
#include "apps/common/reserve.h"

enum { ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC, COLUMNS };

/* A head as it is written: word.empty, and where. */
struct reference {
    int word, empty; /* word -1: '_' */
    size_t line, column;
};

/* A node of the sentence being read. */
struct node {
    int word, empty; /* its ID: 5, 0 or 5, 1 */
    int form, upos, relation;
    struct reference head;
};

struct raw_edge {
    int node, relation; /* position among the nodes in the order of the file */
    struct reference head;
};

struct conllu_stream {
    struct lines lines; /* first: lines_stream() makes it */
    struct conllu_options options;
    struct app_error *error; /* of the present call */
    int failed;              /* what ended the reading, or 0 */
    int words;               /* of this sentence so far */
    int empty;               /* empty nodes behind the last word */
    int covered;             /* last word of the present multi-word token */
    size_t first_line;       /* of this sentence; 0: none is open */
    struct node *nodes;
    struct raw_edge *raw;
    int nnodes, nraw;
    size_t nodes_cap, raw_cap;
    char *lower;
    size_t lower_cap;
    /* the sentence as it is handed over */
    int *form, *upos, *head, *relation, *number;
    struct conllu_edge *edges;
    size_t form_cap, upos_cap, head_cap, relation_cap, number_cap, edges_cap;
};

static int no_memory(struct conllu_stream *r)
{
    return app_fail(r->error, CAVS_ENOMEM, "%s:%zu: no memory for a sentence of %d nodes",
                    r->lines.name, r->lines.number, r->nnodes);
}

#define EXPECTED(r, field, ...) lines_expected(&(r)->lines, (field), (r)->error, __VA_ARGS__)

/* ---- pieces ---------------------------------------------------------------------------------- */

/* 5, or 5.1: two numbers. */
static bool read_id(struct field f, char separator, int *first, int *second)
{
    const char *mark = memchr(f.text, separator, f.length);
    struct field before = f, after = f;

    *second = 0;
    if (mark) {
        before.length = mark - f.text;
        after.text = mark + 1;
        after.length = f.length - before.length - 1;
        *second = field_number(&after);
        if (*second < 1)
            return false;
    }
    *first = field_number(&before);
    return *first >= 0;
}

static const char *lowered(struct conllu_stream *r, const struct field *f)
{
    if (!array_reserve(&r->lower, &r->lower_cap, f->length + 1, 1))
        return NULL;
    for (size_t i = 0; i < f->length; i++)
        r->lower[i] = f->text[i] >= 'A' && f->text[i] <= 'Z' ? f->text[i] - 'A' + 'a' : f->text[i];
    return r->lower;
}

/* The id of a field in a vocabulary that may not be wanted; -1 when memory is short. */
static int find_id(struct vocab *v, bool grow, const char *text, size_t length)
{
    if (!v)
        return 0;
    return !text ? -1 : grow ? vocab_add(v, text, length) : vocab_find(v, text, length);
}

static int add_edge(struct conllu_stream *r, const struct field *entry)
{
    const char *colon = memchr(entry->text, ':', entry->length);
    struct field head = *entry;
    struct raw_edge edge = {.node = r->nnodes - 1,
                            .head = {.line = r->lines.number, .column = entry->column}};

    head.length = colon ? colon - entry->text : 0;
    if (!colon || colon + 1 == entry->text + entry->length ||
        !read_id(head, '.', &edge.head.word, &edge.head.empty))
        return EXPECTED(r, entry, "HEAD:RELATION in the column DEPS");
    edge.relation =
        find_id(r->options.deps, r->options.grow_tags, colon + 1, entry->length - head.length - 1);
    if (edge.relation < 0 || !array_reserve(&r->raw, &r->raw_cap, r->nraw + 1, sizeof *r->raw))
        return no_memory(r);
    r->raw[r->nraw++] = edge;
    return 0;
}

static int add_edges(struct conllu_stream *r, const struct field *deps)
{
    size_t from = 0;

    if (deps->length == 1 && *deps->text == '_')
        return 0;
    while (from <= deps->length) {
        const char *bar = memchr(deps->text + from, '|', deps->length - from);
        size_t length = bar ? (size_t)(bar - deps->text) - from : deps->length - from;
        struct field entry = {deps->text + from, length, deps->column + from};
        int rc = add_edge(r, &entry);

        if (rc < 0)
            return rc;
        from += length + 1;
    }
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static int split(struct conllu_stream *r, struct field *f)
{
    size_t at = 0;
    int n = 0;

    while (n < COLUMNS && lines_field(&r->lines, '\t', &at, &f[n])) {
        if (!f[n].length)
            return EXPECTED(r, &f[n], "a value or '_' in column %d", n + 1);
        n++;
    }
    if (n < COLUMNS || at <= r->lines.length) {
        struct field rest = {"", 0, at <= r->lines.length ? at + 1 : r->lines.length + 1};

        if (at <= r->lines.length)
            rest = (struct field){r->lines.text + at, r->lines.length - at, at + 1};
        return EXPECTED(r, &rest, "%d columns between tabs", COLUMNS);
    }
    return 0;
}

/* The id of a tag, or -1 if it is not known. */
static int find_tag(struct conllu_stream *r, struct vocab *v, const struct field *f, int *id)
{
    if (r->options.partial && f->length == 1 && *f->text == '_')
        *id = -1;
    else if ((*id = find_id(v, r->options.grow_tags, f->text, f->length)) < 0)
        return no_memory(r);
    return 0;
}

static int read_head(struct conllu_stream *r, const struct field *f, struct reference *head)
{
    *head = (struct reference){field_number(f), 0, r->lines.number, f->column};
    if (head->word >= 0 || (r->options.partial && f->length == 1 && *f->text == '_'))
        return 0;
    return EXPECTED(r, f, "the number of a word or 0 in the column HEAD");
}

/* '_' in a column that is wanted. */
static int check_wanted(struct conllu_stream *r, const struct field *f, bool is_empty)
{
    static const struct {
        unsigned column;
        int at;
        const char *what;
    } columns[] = {{CONLLU_HEAD, HEAD, "the number of a word or 0 in the column HEAD"},
                   {CONLLU_DEPREL, DEPREL, "a relation in the column DEPREL"},
                   {CONLLU_DEPS, DEPS, "HEAD:RELATION in the column DEPS"}};

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const struct field *field = &f[columns[i].at];

        if ((r->options.wanted & columns[i].column) && field->length == 1 && *field->text == '_' &&
            (!is_empty || columns[i].column == CONLLU_DEPS))
            return EXPECTED(r, field, "%s", columns[i].what);
    }
    return 0;
}

static int add_node(struct conllu_stream *r, const struct field *f, int word, int empty)
{
    const struct conllu_options *o = &r->options;
    struct node node = {.word = word, .empty = empty};
    const char *form = o->lower ? lowered(r, &f[FORM]) : f[FORM].text;
    int rc;

    node.form = find_id(o->forms, o->grow_forms, form, f[FORM].length);
    if (node.form < 0)
        return no_memory(r);
    if ((rc = check_wanted(r, f, empty)) < 0 ||
        (rc = find_tag(r, o->upos, &f[UPOS], &node.upos)) < 0 ||
        (!empty && (rc = find_tag(r, o->relations, &f[DEPREL], &node.relation)) < 0) ||
        (!empty && (rc = read_head(r, &f[HEAD], &node.head)) < 0))
        return rc;
    if (r->nnodes == INT_MAX ||
        !array_reserve(&r->nodes, &r->nodes_cap, r->nnodes + (size_t)1, sizeof *r->nodes))
        return no_memory(r);
    r->nodes[r->nnodes++] = node;
    return add_edges(r, &f[DEPS]);
}

/* A line 3-4: the words to come are written as one. */
static int on_range(struct conllu_stream *r, const struct field *id)
{
    int from, to;

    if (!read_id(*id, '-', &from, &to) || from != r->words + 1 || to < from || from <= r->covered)
        return EXPECTED(r, id, "%d or a range of words that begins with it", r->words + 1);
    r->covered = to;
    return 0;
}

static int on_word(struct conllu_stream *r, const struct field *f)
{
    int word, empty;

    if (memchr(f[ID].text, '-', f[ID].length))
        return on_range(r, &f[ID]);
    if (!read_id(f[ID], '.', &word, &empty))
        return EXPECTED(r, &f[ID], "an ID: 5, 5-6 or 5.1");
    if (empty && (word != r->words || empty != r->empty + 1))
        return EXPECTED(r, &f[ID], "%d.%d or %d", r->words, r->empty + 1, r->words + 1);
    if (!empty && word != r->words + 1)
        return EXPECTED(r, &f[ID], "the ID %d", r->words + 1);
    r->words = word;
    r->empty = empty;
    return add_node(r, f, word, empty);
}

/* ---- a complete sentence --------------------------------------------------------------------- */

static int bad_head(struct conllu_stream *r, const struct reference *at, const char *what)
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
        const struct node *node = &r->nodes[i];
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
static int find_node(const struct conllu_stream *r, const struct reference *id)
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
        const struct raw_edge *raw = &r->raw[i];
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

/* 1: there is one; 0: no words have been read. */
static int end_sentence(struct conllu_stream *r, struct conllu_sentence *out)
{
    int rc;

    if (!r->first_line)
        return 0;
    if (!r->words || r->covered > r->words)
        return app_fail(r->error, CAVS_EFORMAT,
                        "%s:%zu: expected word %d, found the sentence's end", r->lines.name,
                        r->lines.number, r->words + 1);
    if (!reserve_sentence(r))
        return no_memory(r);
    number_nodes(r);
    if ((rc = make_words(r)) < 0 || (rc = make_edges(r)) < 0 || (rc = check_tree(r)) < 0)
        return rc;
    if (r->options.text && !conllu_text_end(r->options.text))
        return no_memory(r);
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

/* 1: a sentence ended here. */
static int parse_line(struct conllu_stream *r, struct conllu_sentence *out)
{
    struct field f[COLUMNS];
    int rc;

    if (r->options.text && !lines_keep(&r->lines, &r->options.text->lines))
        return no_memory(r);
    if (!r->lines.length)
        return end_sentence(r, out);
    if (r->lines.text[0] == '#')
        return 0;
    if (!r->first_line)
        r->first_line = r->lines.number;
    rc = split(r, f);
    return rc < 0 ? rc : on_word(r, f);
}

/* ---- streams --------------------------------------------------------------------------------- */

int conllu_open(struct conllu_stream **out, FILE *in, const char *name,
                const struct conllu_options *options, struct app_error *e)
{
    int rc;
    struct conllu_stream *r = lines_stream(sizeof *r, in, name, &rc, e);

    if (r)
        r->options = *options;
    *out = r;
    return rc;
}

void conllu_close(struct conllu_stream *r)
{
    if (!r)
        return;
    lines_close(&r->lines);
    free(r->nodes);
    free(r->raw);
    free(r->lower);
    free(r->form);
    free(r->upos);
    free(r->head);
    free(r->relation);
    free(r->number);
    free(r->edges);
    free(r);
}

int conllu_next(struct conllu_stream *r, struct conllu_sentence *out, struct app_error *e)
{
    int rc = r->failed, line = 1;

    r->error = e;
    while (rc == 0 && (line = lines_next(&r->lines, e)) > 0)
        rc = parse_line(r, out);
    if (rc == 0)
        rc = line < 0 ? line : end_sentence(r, out);
    if (rc < 0)
        r->failed = rc;
    return rc;
}

int conllu_read(const char *path, const struct conllu_options *options,
                const struct conllu_visitor *visitor, struct app_error *e)
{
    struct conllu_stream *r;
    struct conllu_sentence s;
    int rc = conllu_open(&r, NULL, path, options, e);

    if (rc < 0)
        return rc;
    while ((rc = conllu_next(r, &s, e)) > 0)
        if ((rc = visitor->each(visitor->context, &s, e)) < 0)
            break;
    conllu_close(r);
    return rc;
}

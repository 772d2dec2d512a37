/* SPDX-License-Identifier: Apache-2.0 */
/* conllu_line.c - a line of a CoNLL-U file becomes a node of the open sentence, and its edges. */
#include <limits.h>
#include <string.h>

#include "apps/common/conllu_stream.h"
#include "apps/common/reserve.h"

enum { ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC, COLUMNS };

#define EXPECTED(r, field, ...) lines_expected(&(r)->lines, (field), (r)->error, __VA_ARGS__)

int conllu_no_memory(struct conllu_stream *r)
{
    return app_fail(r->error, CAVS_ENOMEM, "%s:%zu: no memory for a sentence of %d nodes",
                    r->lines.name, r->lines.number, r->nnodes);
}

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
    struct conllu_raw_edge edge = {.node = r->nnodes - 1,
                                   .head = {.line = r->lines.number, .column = entry->column}};

    head.length = colon ? colon - entry->text : 0;
    if (!colon || colon + 1 == entry->text + entry->length ||
        !read_id(head, '.', &edge.head.word, &edge.head.empty))
        return EXPECTED(r, entry, "HEAD:RELATION in the column DEPS");
    edge.relation =
        find_id(r->options.deps, r->options.grow_tags, colon + 1, entry->length - head.length - 1);
    if (edge.relation < 0 || !array_reserve(&r->raw, &r->raw_cap, r->nraw + 1, sizeof *r->raw))
        return conllu_no_memory(r);
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
        return conllu_no_memory(r);
    return 0;
}

static int read_head(struct conllu_stream *r, const struct field *f, struct conllu_reference *head)
{
    *head = (struct conllu_reference){field_number(f), 0, r->lines.number, f->column};
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
    struct conllu_node node = {.word = word, .empty = empty};
    const char *form = o->lower ? lowered(r, &f[FORM]) : f[FORM].text;
    int rc;

    node.form = find_id(o->forms, o->grow_forms, form, f[FORM].length);
    if (node.form < 0)
        return conllu_no_memory(r);
    if ((rc = check_wanted(r, f, empty)) < 0 ||
        (rc = find_tag(r, o->upos, &f[UPOS], &node.upos)) < 0 ||
        (!empty && (rc = find_tag(r, o->relations, &f[DEPREL], &node.relation)) < 0) ||
        (!empty && (rc = read_head(r, &f[HEAD], &node.head)) < 0))
        return rc;
    if (r->nnodes == INT_MAX ||
        !array_reserve(&r->nodes, &r->nodes_cap, r->nnodes + (size_t)1, sizeof *r->nodes))
        return conllu_no_memory(r);
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

int conllu_take_line(struct conllu_stream *r)
{
    struct field f[COLUMNS];
    int rc = split(r, f);

    return rc < 0 ? rc : on_word(r, f);
}

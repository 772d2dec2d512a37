/* SPDX-License-Identifier: Apache-2.0 */
/* A parser with a stack of its own, so that a tree may be as deep as memory allows. */
#include "apps/common/ptb.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/lines.h"
#include "apps/common/reserve.h"

enum { NOT_SEEN = -2 };

/* A vertex whose bracket is not closed yet. */
struct open_vertex {
    size_t line, column;
    int label, word; /* NOT_SEEN: not yet */
    bool is_held;    /* the first text is put by in ptb_stream.held: is it a label or a word? */
    int children;    /* the last so many of ptb_stream.done */
};

struct ptb_stream {
    struct lines lines; /* first: lines_stream() makes it */
    struct ptb_options options;
    struct app_error *error; /* of the present call */
    struct forest *forest;
    size_t at, column; /* what was read of the line; where the present token is, from 1 */
    struct open_vertex *stack;
    size_t depth, stack_cap;
    int *done; /* vertices that wait for their parent's closing bracket */
    size_t ndone, done_cap;
    struct texts held;
    int failed; /* what ended the reading, or 0 */
};

/* "file:line:column: expected ...", at the present token */
__attribute__((format(printf, 2, 3))) static int expected(struct ptb_stream *p, const char *format,
                                                          ...)
{
    char what[300];
    va_list ap;

    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return app_fail(p->error, CAVS_EFORMAT, "%s:%zu:%zu: expected %s", p->lines.name,
                    p->lines.number, p->column, what);
}

static int no_memory(struct ptb_stream *p)
{
    return app_fail(p->error, CAVS_ENOMEM, "%s:%zu:%zu: no memory at depth %zu", p->lines.name,
                    p->lines.number, p->column, p->depth);
}

static int expected_label(struct ptb_stream *p, int length, const char *found)
{
    return expected(p, "a label from 0 to %d after '(', found '%.*s'", p->options.labels - 1,
                    length < 60 ? length : 60, found);
}

/* ---- labels and words ------------------------------------------------------------------------ */

/* 0 .. labels-1, or -1: something else. */
static int read_label(const struct ptb_stream *p, const char *text, size_t length)
{
    struct field f = {text, length, p->column};
    int label = field_number(&f);

    return label < p->options.labels ? label : -1;
}

static int on_label(struct ptb_stream *p, const char *text, size_t length)
{
    struct open_vertex *top = &p->stack[p->depth - 1];

    top->label = read_label(p, text, length);
    return top->label < 0 ? expected_label(p, length, text) : 0;
}

static int on_word(struct ptb_stream *p, const char *text, size_t length)
{
    const struct ptb_options *o = &p->options;
    int id = o->grow ? vocab_add(o->vocab, text, length) : vocab_find(o->vocab, text, length);

    if (id < 0 || (o->keep_words && !texts_add(&p->forest->texts, text, length)))
        return no_memory(p);
    p->stack[p->depth - 1].word = id;
    return 0;
}

/* The first text of a vertex that may have no label: what follows will say what it was. */
static int hold(struct ptb_stream *p, const char *text, size_t length)
{
    texts_keep(&p->held, 0);
    if (!texts_add(&p->held, text, length))
        return no_memory(p);
    p->stack[p->depth - 1].is_held = true;
    return 0;
}

/* A word or a bracket follows: what was held is a label. */
static int held_is_label(struct ptb_stream *p)
{
    struct open_vertex *top = &p->stack[p->depth - 1];
    const char *text = texts_get(&p->held, 0);
    size_t length = strlen(text);

    if (strspn(text, "0123456789") != length && strcmp(text, "?") != 0)
        return expected(p,
                        "one word in a bracket, or a label (a number or '?') before it, found "
                        "'%.*s'",
                        length < 60 ? (int)length : 60, text);
    top->label = read_label(p, text, length);
    top->is_held = false;
    return 0;
}

static int held_is_word(struct ptb_stream *p)
{
    const char *text = texts_get(&p->held, 0);

    p->stack[p->depth - 1].label = -1;
    p->stack[p->depth - 1].is_held = false;
    return on_word(p, text, strlen(text));
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* A bracket opens within the vertex. */
static int check_open(struct ptb_stream *p, struct open_vertex *top)
{
    if (p->column == 1)
        return expected(p, "')' for the '(' at %zu:%zu before a new tree begins", top->line,
                        top->column);
    if (top->is_held)
        return held_is_label(p);
    if (top->label == NOT_SEEN && p->options.unlabelled)
        top->label = -1;
    if (top->label == NOT_SEEN)
        return expected_label(p, 1, "(");
    return top->word == NOT_SEEN ? 0 : expected(p, "')' after a word, found '('");
}

static int on_open(struct ptb_stream *p)
{
    int rc = p->depth ? check_open(p, &p->stack[p->depth - 1]) : 0;

    if (rc < 0)
        return rc;
    if (!array_reserve(&p->stack, &p->stack_cap, p->depth + 1, sizeof *p->stack))
        return no_memory(p);
    p->stack[p->depth++] = (struct open_vertex){
        .line = p->lines.number, .column = p->column, .label = NOT_SEEN, .word = NOT_SEEN};
    return 0;
}

static int on_text(struct ptb_stream *p, const char *text, size_t length)
{
    struct open_vertex *top = p->depth ? &p->stack[p->depth - 1] : NULL;
    int shown = length < 60 ? (int)length : 60, rc;

    if (!top)
        return expected(p, "'(' or the end of the file outside of a tree, found '%.*s'", shown,
                        text);
    if (top->is_held)
        return (rc = held_is_label(p)) < 0 ? rc : on_word(p, text, length);
    if (top->label == NOT_SEEN)
        return p->options.unlabelled ? hold(p, text, length) : on_label(p, text, length);
    if (top->children)
        return expected(p, "'(' or ')' after a subtree, found '%.*s'", shown, text);
    if (top->word != NOT_SEEN)
        return expected(p, "')' after a word, found '%.*s'", shown, text);
    return on_word(p, text, length);
}

/* The vertex leaves the stack: into the forest, and into the list of what waits for a parent. */
static int close_vertex(struct ptb_stream *p)
{
    struct open_vertex *v = &p->stack[p->depth - 1];
    int number;

    if (!array_reserve(&p->done, &p->done_cap, p->ndone + 1, sizeof *p->done))
        return no_memory(p);
    if (v->children && p->options.keep_words && !texts_add(&p->forest->texts, "", 0))
        return no_memory(p);
    number = forest_add_vertex(p->forest, v->label, v->children ? -1 : v->word, v->children,
                               p->done + p->ndone - v->children, p->error);
    if (number < 0)
        return number;
    p->ndone -= v->children;
    p->depth--;
    if (p->depth == 0)
        return forest_end_tree(p->forest, v->line, p->error);
    p->done[p->ndone++] = number;
    p->stack[p->depth - 1].children++;
    return 0;
}

static int on_close(struct ptb_stream *p)
{
    struct open_vertex *top = p->depth ? &p->stack[p->depth - 1] : NULL;
    int rc = 0;

    if (!top)
        return expected(p, "'(' or the end of the file outside of a tree, found ')'");
    if (top->is_held)
        rc = held_is_word(p);
    else if (top->label == NOT_SEEN && !p->options.unlabelled)
        rc = expected_label(p, 1, ")");
    else if (top->word == NOT_SEEN && !top->children)
        rc = expected(p, "a word or '(' after the label, found ')'");
    return rc < 0 ? rc : close_vertex(p);
}

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Goes to the next token: 1, 0 at the end of the file, or a negative code. */
static int find_token(struct ptb_stream *p)
{
    int rc = 1;

    while (rc > 0) {
        while (p->at < p->lines.length && is_separator(p->lines.text[p->at]))
            p->at++;
        p->column = p->at + 1;
        if (p->at < p->lines.length)
            return 1;
        if ((rc = lines_next(&p->lines, p->error)) > 0)
            p->at = 0;
    }
    return rc;
}

static int on_token(struct ptb_stream *p)
{
    const char *text = p->lines.text + p->at;
    size_t length = strcspn(text, " \t\n\r()");

    p->at += length ? length : 1;
    if (length)
        return on_text(p, text, length);
    return *text == '(' ? on_open(p) : on_close(p);
}

/* ---- streams --------------------------------------------------------------------------------- */

int ptb_open(struct ptb_stream **out, FILE *in, const char *name, const struct ptb_options *options,
             struct app_error *e)
{
    int rc;
    struct ptb_stream *p = lines_stream(sizeof *p, in, name, &rc, e);

    if (p)
        p->options = *options;
    *out = p;
    return rc;
}

void ptb_close(struct ptb_stream *p)
{
    if (!p)
        return;
    lines_close(&p->lines);
    texts_clear(&p->held);
    free(p->stack);
    free(p->done);
    free(p);
}

int ptb_next(struct ptb_stream *p, int n, struct forest *to, struct app_error *e)
{
    int before = to->trees, rc = p->failed;

    p->forest = to;
    p->error = e;
    while (rc >= 0 && to->trees - before < n && (rc = find_token(p)) > 0)
        rc = on_token(p);
    if (rc == 0 && p->depth)
        rc = expected(p, "')' for the '(' at %zu:%zu, found the end of the file",
                      p->stack[p->depth - 1].line, p->stack[p->depth - 1].column);
    if (rc < 0) {
        forest_drop_vertices(to);
        p->failed = rc;
        return rc;
    }
    return to->trees - before;
}

/* ---- whole files ----------------------------------------------------------------------------- */

/* The trees go to the visitor one by one, or else to *out. */
static int read_trees(FILE *in, const char *name, const struct ptb_options *options,
                      const struct tree_visitor *visitor, struct forest *out, struct app_error *e)
{
    struct ptb_stream *p;
    struct forest f = {0};
    int rc = ptb_open(&p, in, name, options, e);

    if (rc < 0)
        return rc;
    while ((rc = ptb_next(p, visitor ? 1 : INT_MAX, &f, e)) > 0)
        if (visitor && (rc = forest_visit(&f, visitor, e)) < 0)
            break;
    ptb_close(p);
    if (rc < 0 || visitor)
        forest_clear(&f);
    else
        *out = f;
    return rc;
}

int ptb_read(FILE *in, const char *name, const struct ptb_options *options, struct forest *out,
             struct app_error *e)
{
    return read_trees(in, name, options, NULL, out, e);
}

int ptb_load(const char *path, const struct ptb_options *options, struct forest *out,
             struct app_error *e)
{
    return read_trees(NULL, path, options, NULL, out, e);
}

int ptb_each(const char *path, const struct ptb_options *options,
             const struct tree_visitor *visitor, struct app_error *e)
{
    return read_trees(NULL, path, options, visitor, NULL, e);
}

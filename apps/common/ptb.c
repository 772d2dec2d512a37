/* SPDX-License-Identifier: Apache-2.0 */
/* A parser with a stack of its own, so that a tree may be as deep as memory allows. */
#include "apps/common/ptb.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/array.h"

/* A vertex whose bracket is not closed yet. */
struct open_vertex {
    size_t line, column;
    int label, word; /* -1: not seen yet */
    int children;    /* the last so many of parser.done */
};

struct parser {
    const char *name;
    const struct ptb_options *options;
    struct app_error *error;
    struct forest forest;
    size_t line, column;
    struct open_vertex *stack;
    size_t depth, stack_cap;
    int *done; /* vertices that wait for their parent's closing bracket */
    size_t ndone, done_cap;
};

/* "file:line:column: expected ...", at the present token */
__attribute__((format(printf, 2, 3))) static int expected(struct parser *p, const char *format, ...)
{
    char what[300];
    va_list ap;

    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return app_fail(p->error, CAVS_EFORMAT, "%s:%zu:%zu: expected %s", p->name, p->line, p->column,
                    what);
}

static int no_memory(struct parser *p)
{
    return app_fail(p->error, CAVS_ENOMEM, "%s:%zu:%zu: no memory at depth %zu", p->name, p->line,
                    p->column, p->depth);
}

static int expected_label(struct parser *p, int length, const char *found)
{
    return expected(p, "a label from 0 to %d after '(', found '%.*s'", p->options->labels - 1,
                    length < 60 ? length : 60, found);
}

static int on_open(struct parser *p)
{
    struct open_vertex *top = p->depth ? &p->stack[p->depth - 1] : NULL;

    if (top && p->column == 1)
        return expected(p, "')' for the '(' at %zu:%zu before a new tree begins", top->line,
                        top->column);
    if (top && top->label < 0)
        return expected_label(p, 1, "(");
    if (top && top->word >= 0)
        return expected(p, "')' after a word, found '('");
    if (!array_reserve(&p->stack, &p->stack_cap, p->depth + 1, sizeof *p->stack))
        return no_memory(p);
    p->stack[p->depth++] =
        (struct open_vertex){.line = p->line, .column = p->column, .label = -1, .word = -1};
    return 0;
}

static int on_label(struct parser *p, const char *text, size_t length)
{
    struct open_vertex *top = &p->stack[p->depth - 1];
    int label = 0;

    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return expected_label(p, length, text);
        label = 10 * label + (text[i] - '0');
        if (label >= p->options->labels)
            return expected_label(p, length, text);
    }
    top->label = label;
    return 0;
}

static int on_word(struct parser *p, const char *text, size_t length)
{
    struct vocab *vocab = p->options->vocab;
    int id = p->options->grow ? vocab_add(vocab, text, length) : vocab_find(vocab, text, length);

    if (id < 0)
        return no_memory(p);
    p->stack[p->depth - 1].word = id;
    return 0;
}

static int on_text(struct parser *p, const char *text, size_t length)
{
    struct open_vertex *top = p->depth ? &p->stack[p->depth - 1] : NULL;
    int shown = length < 60 ? (int)length : 60;

    if (!top)
        return expected(p, "'(' or the end of the file outside of a tree, found '%.*s'", shown,
                        text);
    if (top->label < 0)
        return on_label(p, text, length);
    if (top->children)
        return expected(p, "'(' or ')' after a subtree, found '%.*s'", shown, text);
    if (top->word >= 0)
        return expected(p, "')' after a word, found '%.*s'", shown, text);
    return on_word(p, text, length);
}

/* The vertex leaves the stack: into the forest, and into the list of what waits for a parent. */
static int close_vertex(struct parser *p)
{
    struct open_vertex *v = &p->stack[p->depth - 1];
    int number;

    if (!array_reserve(&p->done, &p->done_cap, p->ndone + 1, sizeof *p->done))
        return no_memory(p);
    number = forest_add_vertex(&p->forest, v->label, v->word, v->children,
                               p->done + p->ndone - v->children, p->error);
    if (number < 0)
        return number;
    p->ndone -= v->children;
    p->depth--;
    if (p->depth == 0)
        return forest_end_tree(&p->forest, v->line, p->error);
    p->done[p->ndone++] = number;
    p->stack[p->depth - 1].children++;
    return 0;
}

static int on_close(struct parser *p)
{
    struct open_vertex *top = p->depth ? &p->stack[p->depth - 1] : NULL;

    if (!top)
        return expected(p, "'(' or the end of the file outside of a tree, found ')'");
    if (top->label < 0)
        return expected_label(p, 1, ")");
    if (top->word < 0 && !top->children)
        return expected(p, "a word or '(' after the label, found ')'");
    return close_vertex(p);
}

static bool is_separator(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t text_length(const char *s, size_t n)
{
    size_t length = 0;

    while (length < n && !is_separator(s[length]) && s[length] != '(' && s[length] != ')')
        length++;
    return length;
}

static int parse_line(struct parser *p, const char *s, size_t n)
{
    int rc = 0;
    size_t length;

    p->line++;
    for (size_t i = 0; i < n && rc == 0; i += length) {
        p->column = i + 1;
        length = 1;
        if (is_separator(s[i]))
            continue;
        if (s[i] == '(') {
            rc = on_open(p);
        } else if (s[i] == ')') {
            rc = on_close(p);
        } else {
            length = text_length(s + i, n - i);
            rc = on_text(p, s + i, length);
        }
    }
    p->column = n + 1;
    return rc;
}

static int parse(struct parser *p, FILE *in)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t n;
    int rc = 0;

    errno = 0;
    while (rc == 0 && (n = getline(&text, &capacity, in)) >= 0)
        rc = parse_line(p, text, n);
    if (rc == 0 && !feof(in))
        rc = app_fail(p->error, CAVS_EIO, "%s: %s", p->name, strerror(errno));
    if (rc == 0 && p->depth)
        rc = expected(p, "')' for the '(' at %zu:%zu, found the end of the file",
                      p->stack[p->depth - 1].line, p->stack[p->depth - 1].column);
    free(text);
    return rc;
}

static int read_trees(FILE *in, const char *name, const struct ptb_options *options,
                      const struct tree_visitor *visitor, struct forest *out, struct app_error *e)
{
    struct parser p = {
        .name = name, .options = options, .error = e, .forest = {.visitor = visitor}};
    int rc = parse(&p, in);

    free(p.stack);
    free(p.done);
    if (rc < 0 || visitor)
        forest_clear(&p.forest);
    else
        *out = p.forest;
    return rc;
}

int ptb_read(FILE *in, const char *name, const struct ptb_options *options, struct forest *out,
             struct app_error *e)
{
    return read_trees(in, name, options, NULL, out, e);
}

static int load_trees(const char *path, const struct ptb_options *options,
                      const struct tree_visitor *visitor, struct forest *out, struct app_error *e)
{
    FILE *in = fopen(path, "r");
    int rc;

    if (!in)
        return app_fail(e, CAVS_EIO, "%s: %s", path, strerror(errno));
    rc = read_trees(in, path, options, visitor, out, e);
    fclose(in);
    return rc;
}

int ptb_load(const char *path, const struct ptb_options *options, struct forest *out,
             struct app_error *e)
{
    return load_trees(path, options, NULL, out, e);
}

int ptb_each(const char *path, const struct ptb_options *options,
             const struct tree_visitor *visitor, struct app_error *e)
{
    return load_trees(path, options, visitor, NULL, e);
}

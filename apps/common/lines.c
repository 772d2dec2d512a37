/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/lines.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"
#include "apps/common/stop.h"

int lines_open(struct lines *l, struct app_error *e)
{
    l->borrowed = l->in || strcmp(l->name, "-") == 0;
    if (!l->in && l->borrowed) {
        l->in = stdin;
        l->name = "standard input";
    }
    if (!l->in)
        l->in = fopen(l->name, "r");
    return l->in ? 0 : app_fail(e, CAVS_EIO, "%s: %s", l->name, strerror(errno));
}

void *lines_stream(size_t size, FILE *in, const char *name, int *rc, struct app_error *e)
{
    struct lines *l = calloc(1, size);

    if (!l) {
        *rc = app_fail(e, CAVS_ENOMEM, "%s: no memory for a reader", name);
        return NULL;
    }
    l->in = in;
    l->name = name;
    if ((*rc = lines_open(l, e)) == 0)
        return l;
    free(l);
    return NULL;
}

void lines_close(struct lines *l)
{
    if (l->in && !l->borrowed)
        fclose(l->in);
    free(l->text);
    *l = (struct lines){.name = l->name};
}

/* Editors may put a mark of the encoding before the first character. */
static ssize_t drop_mark(struct lines *l, ssize_t n)
{
    static const char mark[] = "\xef\xbb\xbf";
    ssize_t length = sizeof mark - 1;

    if (l->number > 1 || n < length || memcmp(l->text, mark, sizeof mark - 1) != 0)
        return n;
    memmove(l->text, l->text + length, (size_t)(n - length) + 1);
    return n - length;
}

static int no_line(const struct line_source *s, size_t length, struct app_error *e)
{
    if (length == LINE_LONGEST)
        return app_fail(e, CAVS_EFORMAT, "%s:%zu: %d MB without an end of the line: is it text?",
                        s->name, s->number, LINE_LONGEST >> 20);
    return app_fail(e, CAVS_ENOMEM, "%s:%zu: no memory for a line of %zu bytes", s->name, s->number,
                    length + 1);
}

/* getline() would read on in a device, or in data without lines, until memory is used up. */
ssize_t line_read(const struct line_source *s, char **text, size_t *capacity, struct app_error *e)
{
    size_t n = 0;
    int c = 0;

    errno = 0;
    while (c != '\n' && (c = getc_unlocked(s->in)) != EOF) {
        if (c == '\0')
            return app_fail(e, CAVS_EFORMAT, "%s:%zu:%zu: expected text, found a NUL byte", s->name,
                            s->number, n + 1);
        if (n == LINE_LONGEST || !array_reserve(text, capacity, n + 2, 1))
            return no_line(s, n, e);
        (*text)[n++] = (char)c;
    }
    if (ferror(s->in))
        return app_fail(e, CAVS_EIO, "%s: %s", s->name, strerror(errno));
    if (c == EOF && stop_has_ended_reading())
        return app_fail(e, CAVS_EIO, "%s: %s", s->name, strerror(EINTR));
    if (n)
        (*text)[n] = '\0';
    return (ssize_t)n;
}

int lines_next(struct lines *l, struct app_error *e)
{
    struct line_source from = {l->in, l->name, l->number + 1};
    ssize_t n = line_read(&from, &l->text, &l->capacity, e);

    if (n <= 0)
        return (int)n;
    l->number++;
    n = drop_mark(l, n);
    l->whole = n;
    while (n > 0 && (l->text[n - 1] == '\n' || l->text[n - 1] == '\r'))
        n--;
    l->cut = l->text[n];
    l->text[n] = '\0';
    l->length = n;
    return 1;
}

bool lines_blank(const struct lines *l)
{
    return strspn(l->text, " \t\r") == l->length;
}

bool lines_keep(struct lines *l, struct texts *to)
{
    bool kept;

    l->text[l->length] = l->cut;
    kept = texts_add(to, l->text, l->whole);
    l->text[l->length] = '\0';
    return kept;
}

bool lines_field(const struct lines *l, char separator, size_t *at, struct field *out)
{
    const char *end;

    if (*at > l->length)
        return false;
    end = strchr(l->text + *at, separator);
    out->text = l->text + *at;
    out->length = end ? (size_t)(end - out->text) : l->length - *at;
    out->column = *at + 1;
    *at += out->length + 1;
    return true;
}

int lines_expected(const struct lines *l, const struct field *f, struct app_error *e,
                   const char *format, ...)
{
    char what[300];
    va_list ap;

    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    if (!f->length && f->column > l->length)
        return app_fail(e, CAVS_EFORMAT, "%s:%zu:%zu: expected %s, found the end of the line",
                        l->name, l->number, f->column, what);
    return app_fail(e, CAVS_EFORMAT, "%s:%zu:%zu: expected %s, found '%.*s'", l->name, l->number,
                    f->column, what, f->length < 60 ? (int)f->length : 60, f->text);
}

int field_number(const struct field *f)
{
    long long value = 0;

    for (size_t i = 0; i < f->length; i++) {
        if (f->text[i] < '0' || f->text[i] > '9')
            return -1;
        value = 10 * value + (f->text[i] - '0');
        if (value > INT_MAX)
            return -1;
    }
    return f->length ? (int)value : -1;
}

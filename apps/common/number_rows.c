/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/number_rows.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/lines.h"
#include "apps/common/reserve.h"

void number_rows_clear(struct number_rows *r)
{
    free(r->value);
    free(r->column);
    free(r->text);
}

static int add_number(struct number_rows *r, size_t at, int length, struct app_error *e)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(r->text + at, &end, 10);
    if (errno || end != r->text + at + length || value < INT_MIN || value > INT_MAX)
        return app_fail(e, CAVS_EFORMAT, "%s:%zu:%zu: expected a whole number, found '%.*s'",
                        r->name, r->line, at + 1, length < 60 ? length : 60, r->text + at);
    if (r->n == INT_MAX ||
        !array_reserve(&r->value, &r->value_cap, r->n + (size_t)1, sizeof *r->value) ||
        !array_reserve(&r->column, &r->column_cap, r->n + (size_t)1, sizeof *r->column))
        return app_fail(e, CAVS_ENOMEM, "%s:%zu: no memory for a row of %d numbers", r->name,
                        r->line, r->n);
    r->value[r->n] = value;
    r->column[r->n++] = at + 1;
    return 0;
}

static int split(struct number_rows *r, struct app_error *e)
{
    static const char separators[] = " \t\r\n";
    size_t at = 0;
    int rc = 0;

    r->n = 0;
    while (rc == 0) {
        size_t length;

        at += strspn(r->text + at, separators);
        length = strcspn(r->text + at, separators);
        if (!length)
            break;
        rc = add_number(r, at, length < INT_MAX ? length : INT_MAX, e);
        at += length;
    }
    return rc;
}

int number_rows_next(struct number_rows *r, struct app_error *e)
{
    struct line_source from = {r->in, r->name, ++r->line};
    ssize_t n = line_read(&from, &r->text, &r->text_cap, e);
    int rc;

    if (n <= 0)
        return (int)n;
    rc = split(r, e);
    return rc < 0 ? rc : 1;
}

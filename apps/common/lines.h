/* SPDX-License-Identifier: Apache-2.0 */
/* lines.h - a text file line by line, and a line field by field, with places for messages. */
#ifndef CAVS_APPS_LINES_H
#define CAVS_APPS_LINES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "apps/common/app_error.h"
#include "apps/common/texts.h"

struct lines {
    FILE *in;
    const char *name; /* of the file, for messages */
    size_t number;    /* of the present line, from 1 */
    char *text;       /* without the line's end */
    size_t length, capacity;
    size_t whole;  /* length with the line's end */
    char cut;      /* what stood in place of the NUL behind the text */
    bool borrowed; /* the file is not ours to close */
};

/* A line of more bytes is refused: what has no lines is no text, or has no end. */
enum { LINE_LONGEST = 1 << 28 };

/* Where a line is read from, and what messages call it. */
struct line_source {
    FILE *in;
    const char *name;
    size_t number;
};

/* A piece of a line. */
struct field {
    const char *text;
    size_t length, column; /* column from 1, in bytes */
};

/* Start from {.name = path}, where "-" is standard input, or from {.in = file, .name = name}: that
 * file stays the caller's.  0 or a negative code; the name has to live as long. */
int lines_open(struct lines *l, struct app_error *e);
/* A reader that is a struct of that size and begins with a struct lines: zeroed, but for the lines,
 * which are open, from `in` or where that is NULL from the file of that name.  The caller's to
 * close and to free; NULL with *rc a negative code. */
void *lines_stream(size_t size, FILE *in, const char *name, int *rc, struct app_error *e);
/* Closes the file, if it was opened here, and frees the text. */
void lines_close(struct lines *l);
/* The next line into *text, an array of array_reserve(), with its end and a NUL behind: its length,
 * 0 at the end of the file, or a negative code.  A NUL byte is an error. */
ssize_t line_read(const struct line_source *s, char **text, size_t *capacity, struct app_error *e);
/* The next line: 1, 0 at the end of the file, or a negative code; a NUL byte is an error, and a
 * byte order mark at the beginning of the file is no part of the line. */
int lines_next(struct lines *l, struct app_error *e);
/* Whether there is nothing but spaces and tabs in the present line. */
bool lines_blank(const struct lines *l);
/* Adds the present line as it stands in the file, its end included; false when memory is short. */
bool lines_keep(struct lines *l, struct texts *to);

/* The field that begins at *at, which then moves behind it: up to the next separator.  False at the
 * end of the line (a separator at the very end has an empty field behind it). */
bool lines_field(const struct lines *l, char separator, size_t *at, struct field *out);

/* "file:line:column: expected WHAT, found 'TEXT'"; returns CAVS_EFORMAT. */
int lines_expected(const struct lines *l, const struct field *f, struct app_error *e,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));
/* A whole number from 0 up that is the whole field; -1 if it is something else. */
int field_number(const struct field *f);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starpu_init.c - starting StarPU without a message that means nothing.
 *
 * It looks for performance models that came with its installation, and where there is no folder for
 * them (Debian's package has none; that of another user cannot be read) it says so on stderr,
 * whatever STARPU_SILENT is. Whoever trains a model can make nothing of that.
 */
#include <stdio.h>
#include <string.h>

#include "core/run/runtime.h"

static bool is_dropped(const char *line, size_t size)
{
    static const char text[] = "as set by installation directory does not exist";

    return memmem(line, size, text, sizeof text - 1) != NULL;
}

/* Whole lines, or what is left of one when the stream is flushed. */
static ssize_t pass_on(void *where, const char *text, size_t size)
{
    const char *end = text + size, *next;

    for (const char *line = text; line < end; line = next) {
        next = memchr(line, '\n', end - line);
        next = next ? next + 1 : end;
        if (!is_dropped(line, next - line))
            fwrite(line, 1, next - line, where);
    }
    return (ssize_t)size;
}

/* In the GNU C library stderr is a variable. What other threads write meanwhile passes through,
 * too; one of them may still be at it afterwards, so the stream is kept. */
int cavs__starpu_init(struct cavs__ranks *r, struct starpu_conf *conf)
{
    static FILE *filter;
    FILE *user = stderr;
    int rc;

    if (!filter && (filter = fopencookie(user, "w", (cookie_io_functions_t){.write = pass_on})))
        setvbuf(filter, NULL, _IOLBF, BUFSIZ);
    if (filter)
        stderr = filter;
    rc = cavs__ranks_init(r, conf);
    stderr = user;
    if (filter)
        fflush(filter);
    return rc;
}

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

#include "core/session.h"

/* Each message of StarPU's is one write, as the stream has no buffer. */
static ssize_t pass_on(void *where, const char *text, size_t size)
{
    static const char dropped[] = "as set by installation directory does not exist";

    if (memmem(text, size, dropped, sizeof dropped - 1))
        return (ssize_t)size;
    return fwrite(text, 1, size, where) == size ? (ssize_t)size : 0;
}

/* In the GNU C library stderr is a variable. What other threads write meanwhile passes through,
 * too; one of them may still be at it afterwards, so the stream is kept. */
int cavs__starpu_init(struct starpu_conf *conf)
{
    static FILE *filter;
    FILE *user = stderr;
    int rc;

    if (!filter && (filter = fopencookie(user, "w", (cookie_io_functions_t){.write = pass_on})))
        setvbuf(filter, NULL, _IONBF, 0);
    if (filter)
        stderr = filter;
    rc = starpu_init(conf);
    stderr = user;
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/status.h"

#include <stdio.h>

#include "apps/common/utf8.h"

enum { MOST_SHOWN = 4 * 1024 };

/* Messages quote what is in files, which may be anything: what would not show, or do something to a
 * terminal, becomes a number. */
static void make_visible(const char *text, char *out)
{
    for (int n, used = 0; *text && used < MOST_SHOWN - 5; text += n ? n : 1) {
        n = utf8_length(text);
        if (n == 0 || (n == 1 && *text < ' ' && *text != '\n' && *text != '\t'))
            used += sprintf(out + used, "\\x%02x", (unsigned char)*text);
        else
            used += sprintf(out + used, "%.*s", n, text);
    }
}

const char *app_error_text(int rc, const struct app_error *e)
{
    return e->text[0] ? e->text : cavs_error_text(rc);
}

int app_error_status(const struct app_error *e)
{
    return e->mistake ? APP_USAGE : APP_FAILED;
}

int app_status(const char *program, int rc, const struct app_error *e)
{
    char text[MOST_SHOWN] = "";

    if (rc >= 0)
        return APP_OK;
    make_visible(app_error_text(rc, e), text);
    fprintf(stderr, "%s: %s\n", program, text);
    return app_error_status(e);
}

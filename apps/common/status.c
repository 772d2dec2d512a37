/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/status.h"

#include <stdio.h>

const char *app_error_text(int rc, const struct app_error *e)
{
    const char *text = e->text[0] ? e->text : cavs_error_message();

    return text[0] ? text : cavs_strerror(rc);
}

int app_status(const char *program, int rc, const struct app_error *e)
{
    if (rc >= 0)
        return APP_OK;
    fprintf(stderr, "%s: %s\n", program, app_error_text(rc, e));
    return APP_FAILED;
}

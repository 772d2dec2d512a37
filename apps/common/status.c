/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/status.h"

#include <stdio.h>

int app_status(const char *program, int rc, const struct app_error *e)
{
    const char *text = e->text[0] ? e->text : cavs_error_message();

    if (rc >= 0)
        return APP_OK;
    fprintf(stderr, "%s: %s\n", program, text[0] ? text : cavs_strerror(rc));
    return APP_FAILED;
}

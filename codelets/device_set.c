/* SPDX-License-Identifier: Apache-2.0 */
/* device_set.c - see device_set.h. */
#include "codelets/device_set.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/notice.h"

int cavs__report_devices(bool require)
{
    char *text = cavs__devices->failures();
    int rc = CAVS_OK;

    if (text && require)
        rc = cavs__fail(CAVS_ERUNTIME, "%.*s", (int)strlen(text) - 1, text);
    else
        cavs__notice_lines(text);
    free(text);
    return rc;
}

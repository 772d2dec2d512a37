/* SPDX-License-Identifier: Apache-2.0 */
/* device_set.c - see device_set.h. */
#include "codelets/device_set.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/notice.h"

int cavs__report_devices(bool require)
{
    char text[CAVS__FAILURES_TEXT];

    if (!cavs__devices->failures(text))
        return CAVS_OK;
    if (require)
        return cavs__fail(CAVS_ERUNTIME, "%.*s", (int)strlen(text) - 1, text);
    cavs__notice_lines(text);
    return CAVS_OK;
}

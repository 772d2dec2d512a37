/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/app_error.h"

#include <stdarg.h>
#include <stdio.h>

int app_fail(struct app_error *e, int code, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(e->text, sizeof e->text, format, ap);
    va_end(ap);
    return code;
}

int app_mistake(struct app_error *e, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(e->text, sizeof e->text, format, ap);
    va_end(ap);
    e->mistake = true;
    return CAVS_EINVAL;
}

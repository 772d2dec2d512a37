/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - the per-thread message behind a negative return code; and who hears of what is none. */
#include "core/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/notice.h"

static _Thread_local char message[1024];
static _Thread_local int failed_with;

static const struct {
    int code;
    const char *text;
} texts[] = {
    {CAVS_OK, "no error"},
    {CAVS_EINVAL, "argument out of range"},
    {CAVS_ESHAPE, "shapes do not fit"},
    {CAVS_EPROGRAM, "vertex function not well formed"},
    {CAVS_EGRAPH, "input graph not valid"},
    {CAVS_EDATA, "input missing or out of range"},
    {CAVS_ENOMEM, "out of memory"},
    {CAVS_EIO, "input/output error"},
    {CAVS_EFORMAT, "file not in the expected format"},
    {CAVS_ESTATE, "called in the wrong phase"},
    {CAVS_ERUNTIME, "StarPU or a device failed"},
    {CAVS_ENUMERIC, "not a finite number"},
};

const char *cavs_strerror(int code)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].code == code)
            return texts[i].text;
    }
    return "unknown error";
}

const char *cavs_error_message(void)
{
    return message;
}

const char *cavs_error_text(int code)
{
    return *message && failed_with == code ? message : cavs_strerror(code);
}

int cavs__fail(int code, const char *format, ...)
{
    /* Through a buffer of its own: an argument may be the present message. */
    char text[sizeof message];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    memcpy(message, text, sizeof message);
    failed_with = code;
    return code;
}

int cavs__fail_in(int code, const char *format, ...)
{
    char context[256], old[sizeof message];
    va_list ap;

    va_start(ap, format);
    vsnprintf(context, sizeof context, format, ap);
    va_end(ap);
    memcpy(old, message, sizeof old);
    return cavs__fail(code, "%s: %.700s", context, old);
}

const char *cavs__size_text(double bytes)
{
    static _Thread_local char text[32];

    if (bytes < 1e4)
        snprintf(text, sizeof text, "%.0f bytes", bytes);
    else if (bytes < 1e7)
        snprintf(text, sizeof text, "%.1f kB", bytes / 1e3);
    else
        snprintf(text, sizeof text, "%.1f MB", bytes / 1e6);
    return text;
}

int cavs__fail_nomem(const char *what, size_t bytes)
{
    if (bytes == 0)
        return cavs__fail(CAVS_ENOMEM, "out of memory: %s", what);
    return cavs__fail(CAVS_ENOMEM, "out of memory: %s wanted %s", what,
                      cavs__size_text((double)bytes));
}

int cavs__system_error(void)
{
    return errno == ENOMEM ? CAVS_ENOMEM : CAVS_EIO;
}

void cavs_notice_set_handler(void (*handler)(const char *text, void *context), void *context)
{
    cavs__notice_listen(handler, context);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* app_error.h - what went wrong while a program read its data: one sentence beside a cavs_error
 * code. */
#ifndef CAVS_APPS_APP_ERROR_H
#define CAVS_APPS_APP_ERROR_H

#include "core/cavs.h"

struct app_error {
    char text[512];
};

/* Writes the sentence and returns code, so that `return app_fail(e, CAVS_EIO, ...)` reads well. */
int app_fail(struct app_error *e, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

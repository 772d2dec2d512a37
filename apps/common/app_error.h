/* SPDX-License-Identifier: Apache-2.0 */
/* app_error.h - what went wrong in a program: one sentence beside a cavs_error code. */
#ifndef CAVS_APPS_APP_ERROR_H
#define CAVS_APPS_APP_ERROR_H

#include <stdbool.h>

#include "core/cavs.h"

struct app_error {
    char text[512];
    bool mistake; /* on the command line: another one would do */
};

/* Writes the sentence and returns code, so that `return app_fail(e, CAVS_EIO, ...)` reads well. */
int app_fail(struct app_error *e, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of options that do not go with the file that another one names, or with the programs
 * that this one works with: CAVS_EINVAL. */
int app_mistake(struct app_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

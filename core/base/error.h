/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - the per-thread message behind a negative return code. */
#ifndef CAVS_CORE_BASE_ERROR_H
#define CAVS_CORE_BASE_ERROR_H

#include "core/cavs.h"

/* Sets the message of this thread and returns code, so that `return cavs__fail(CAVS_EINVAL, ...)`
 * reads well. */
int cavs__fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts "context: " before the present message. */
int cavs__fail_in(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "96 bytes", "17.3 kB", "2.5 MB", in a static per-thread buffer */
const char *cavs__size_text(double bytes);
/* CAVS_ENOMEM, naming what wanted how many bytes; 0: nobody knows, as where jansson asks. */
int cavs__fail_nomem(const char *what, size_t bytes);
/* What errno says: CAVS_ENOMEM if there was no memory to open or read a file, else CAVS_EIO. */
int cavs__system_error(void);

#endif

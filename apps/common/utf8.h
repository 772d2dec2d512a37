/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - texts of any bytes where only UTF-8 may stand. */
#ifndef CAVS_APPS_UTF8_H
#define CAVS_APPS_UTF8_H

#include <jansson.h>

/* Bytes of the UTF-8 sequence that begins at s, 1 to 4; 0: none begins there.  s ends with a NUL,
 * which is one of length 1. */
int utf8_length(const char *s);
/* The text as a JSON string; a byte that is no UTF-8 becomes U+FFFD.  NULL: memory is short. */
json_t *utf8_to_json(const char *text);

#endif

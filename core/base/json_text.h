/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - JSON as text. */
#ifndef CAVS_CORE_BASE_JSON_TEXT_H
#define CAVS_CORE_BASE_JSON_TEXT_H

#include <jansson.h>
#include <stdbool.h>

/* With JSON_COMPACT and such flags; to be freed by the caller; NULL when out of memory. Unlike
 * json_dumps(), which does not look whether there was memory for the name of a member, this never
 * gives a text with a part missing. */
char *cavs__json_text(const json_t *value, size_t flags);
/* Like json_loadb(), which takes a lack of memory for a mistake in the text, near where it ran out:
 * a mistake is there the second time, too. NULL with an empty error->text: out of memory. */
json_t *cavs__json_read(const char *text, size_t n, size_t flags, json_error_t *error);
/* What can be a string in JSON; where this is true and json_string() gives NULL, memory is
 * short. */
bool cavs__is_utf8(const char *text);

#endif

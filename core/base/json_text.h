/* SPDX-License-Identifier: Apache-2.0 */
/* json_text.h - JSON as text. */
#ifndef CAVS_CORE_BASE_JSON_TEXT_H
#define CAVS_CORE_BASE_JSON_TEXT_H

#include <jansson.h>

/* With JSON_COMPACT and such flags; to be freed by the caller; NULL when out of memory. Unlike
 * json_dumps(), which does not look whether there was memory for the name of a member, this never
 * gives a text with a part missing. */
char *cavs__json_text(const json_t *value, size_t flags);

#endif

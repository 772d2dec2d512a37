/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/json_text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

char *cavs__json_text(const json_t *value, size_t flags)
{
    char *text = NULL;
    size_t n;
    FILE *to = value ? open_memstream(&text, &n) : NULL;
    bool sound = to && json_dumpf(value, to, flags) == 0 && !ferror(to);

    if (to && fclose(to) != 0)
        sound = false;
    if (sound)
        return text;
    free(text);
    return NULL;
}

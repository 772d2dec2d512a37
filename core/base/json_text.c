/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/json_text.h"

#include <stdint.h>
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

json_t *cavs__json_read(const char *text, size_t n, size_t flags, json_error_t *error)
{
    json_t *value = json_loadb(text, n, flags, error);

    return value ? value : json_loadb(text, n, flags, error);
}

/* Bytes behind the first one of a character; -1: no character begins like this. */
static int continuation(unsigned char first)
{
    return first < 0x80   ? 0
           : first < 0xc2 ? -1
           : first < 0xe0 ? 1
           : first < 0xf0 ? 2
           : first < 0xf5 ? 3
                          : -1;
}

bool cavs__is_utf8(const char *text)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *at = (const unsigned char *)text;

    while (*at) {
        int more = continuation(*at);
        uint32_t c = *at++;

        if (more < 0)
            return false;
        c &= more ? 0x3fu >> more : 0x7fu;
        for (int i = 0; i < more; i++) {
            if ((*at & 0xc0) != 0x80)
                return false;
            c = c << 6 | (*at++ & 0x3f);
        }
        if (c < least[more] || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
            return false;
    }
    return true;
}

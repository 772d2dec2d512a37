/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/utf8.h"

#include <stdio.h>
#include <stdlib.h>

static int length_by_first_byte(unsigned char c)
{
    if (c < 0x80)
        return 1;
    if (c < 0xc2 || c > 0xf4)
        return 0;
    return c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

int utf8_length(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    int n = length_by_first_byte(s[0]);

    for (int i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* longer than it need be, half of a pair of UTF-16, or beyond the last character */
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f)))
        return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f)))
        return 0;
    return n;
}

json_t *utf8_to_json(const char *text)
{
    json_t *json = json_string(text);
    char *copy = NULL;
    size_t n = 0;
    FILE *f;

    if (json || !(f = open_memstream(&copy, &n)))
        return json;
    for (int k; *text; text += k ? k : 1) {
        k = utf8_length(text);
        if (k)
            fwrite(text, 1, (size_t)k, f);
        else
            fputs("\xef\xbf\xbd", f);
    }
    if (fclose(f) == 0)
        json = json_string(copy);
    free(copy);
    return json;
}

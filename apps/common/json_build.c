/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/json_build.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/cavs.h"

static void drop(json_t **whole)
{
    json_decref(*whole);
    *whole = NULL;
}

void json_build_append(json_t **whole, json_t *value)
{
    if (json_array_append_new(*whole, value) != 0)
        drop(whole);
}

void json_build_set(json_t **whole, const char *name, json_t *value)
{
    if (json_object_set_new(*whole, name, value) != 0)
        drop(whole);
}

json_t *json_build_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

/* json_dumps() may leave out what memory is short for, and succeed; a stream knows. */
char *json_build_text(const json_t *whole, int digits)
{
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(digits), n;
    char *text = NULL;
    FILE *to = whole ? open_memstream(&text, &n) : NULL;
    bool sound = to && json_dumpf(whole, to, flags) == 0 && !ferror(to);

    if (to && fclose(to) != 0)
        sound = false;
    if (sound)
        return text;
    free(text);
    return NULL;
}

/* By way of a text: half a line would be taken for a whole one. */
int json_build_write(const json_t *whole, int digits, FILE *to)
{
    char *text = json_build_text(whole, digits);

    if (!text)
        return CAVS_ENOMEM;
    fprintf(to, "%s\n", text);
    free(text);
    return 0;
}

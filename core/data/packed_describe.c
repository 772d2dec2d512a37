/* SPDX-License-Identifier: Apache-2.0 */
/* packed_describe.c - what is in a packed file: stages, functions, notes, and all of it as text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/data/packed.h"

json_t *cavs__packed_stage(const struct cavs_packed *p, const char *name)
{
    json_t *stage;
    size_t i;

    json_array_foreach(json_object_get(p->directory, "stages"), i, stage)
    {
        if (strcmp(json_string_value(json_object_get(stage, "name")), name) == 0)
            return stage;
    }
    return NULL;
}

int cavs_packed_size(const struct cavs_packed *p)
{
    return p ? (int)json_integer_value(json_object_get(p->directory, "samples")) : 0;
}

int cavs_packed_functions(const struct cavs_packed *p, const char *stage)
{
    json_t *entry = p && stage ? cavs__packed_stage(p, stage) : NULL;

    return entry ? (int)json_array_size(json_object_get(entry, "functions")) : -1;
}

const char *cavs_packed_function(const struct cavs_packed *p, const char *stage, int function)
{
    json_t *entry = p && stage && function >= 0 ? cavs__packed_stage(p, stage) : NULL;

    return json_string_value(json_array_get(json_object_get(entry, "functions"), (size_t)function));
}

const void *cavs_packed_note(const struct cavs_packed *p, const char *name, size_t *n)
{
    json_t *notes = p ? json_object_get(p->directory, "notes") : NULL;
    const void *bytes;

    if (!notes || !name || !n || !cavs__packed_array(p, json_object_get(notes, name), &bytes, n))
        return NULL;
    return bytes;
}

static size_t bytes_of(const json_t *entry)
{
    return (size_t)json_integer_value(json_array_get(entry, 1));
}

/* How many values there are of all samples, of which an array says where each sample's begin. */
static size_t values_of(const struct cavs_packed *p, const json_t *starts)
{
    const void *at;
    size_t n;

    if (!cavs__packed_array(p, starts, &at, &n) || n < sizeof(int64_t))
        return 0;
    return (size_t)((const int64_t *)at)[n / sizeof(int64_t) - 1];
}

static size_t bytes_of_input(const struct cavs_packed *p, const json_t *arrays, const json_t *input)
{
    const char *per = json_string_value(json_object_get(input, "per"));
    bool ids = strcmp(json_string_value(json_object_get(input, "type")), "ids") == 0;
    size_t width = ids ? 1 : (size_t)json_integer_value(json_object_get(input, "width"));
    const json_t *starts = json_object_get(arrays, "start");

    if (strcmp(per, cavs__packed_per[CAVS__PER_EDGE]) == 0)
        starts = json_object_get(arrays, "first");
    if (strcmp(per, cavs__packed_per[CAVS__PER_ENTRY]) == 0)
        starts = json_object_get(input, "entry");
    return values_of(p, starts) * width * sizeof(int32_t);
}

static void describe_stage(FILE *out, const struct cavs_packed *p, json_t *stage)
{
    json_t *arrays = json_object_get(stage, "arrays"), *over = json_object_get(stage, "over"), *e;
    size_t vertices = values_of(p, json_object_get(arrays, "start")),
           children = values_of(p, json_object_get(arrays, "first")), i;

    fprintf(out, "stage %s: %zu vert%s, %zu child%s\n",
            json_string_value(json_object_get(stage, "name")), vertices,
            vertices == 1 ? "ex" : "ices", children, children == 1 ? "" : "ren");
    if (json_is_object(over))
        fprintf(out, "  over      %s of %s\n", json_string_value(json_object_get(over, "which")),
                json_string_value(json_object_get(over, "stage")));
    json_array_foreach(json_object_get(stage, "functions"), i, e)
        fprintf(out, "  function  %zu %s\n", i, json_string_value(e));
    json_array_foreach(json_object_get(stage, "inputs"), i, e) fprintf(
        out, "  input     %s: %s, width %lld, %zu bytes\n",
        json_string_value(json_object_get(e, "name")),
        json_string_value(json_object_get(e, "type")),
        (long long)json_integer_value(json_object_get(e, "width")), bytes_of_input(p, arrays, e));
}

int cavs_packed_describe(const struct cavs_packed *p, char **text)
{
    size_t length = 0, i;
    char *written = NULL;
    const char *name;
    json_t *entry;
    FILE *out;
    int rc;

    if (!p || !text)
        return cavs__fail(CAVS_EINVAL, "cavs_packed_describe: no file or text");
    rc = cavs__packed_whole(p);
    if (rc)
        return rc;
    out = open_memstream(&written, &length);
    if (!out)
        return cavs__fail_nomem("description", 0);
    fprintf(out, "%s: %d sample%s, %zu bytes, version %d\n", p->path, cavs_packed_size(p),
            cavs_packed_size(p) == 1 ? "" : "s", p->n, CAVS__PACKED_VERSION);
    json_array_foreach(json_object_get(p->directory, "stages"), i, entry)
        describe_stage(out, p, entry);
    json_object_foreach(json_object_get(p->directory, "notes"), name, entry)
        fprintf(out, "note %s: %zu bytes\n", name, bytes_of(entry));
    if (fclose(out) != 0) {
        free(written);
        return cavs__fail_nomem("description", 0);
    }
    *text = written;
    return CAVS_OK;
}

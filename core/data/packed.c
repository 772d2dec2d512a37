/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - maps a packed file and checks its directory: afterwards every array lies inside the
 * file. */
#include "core/data/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/json_text.h"

/* ---- arrays ---- */

/* What an entry says, if it has the form of one. */
static bool read_entry(const json_t *entry, size_t *offset, size_t *n, uint64_t *checksum)
{
    const char *text = json_string_value(json_array_get(entry, 2));
    json_t *from = json_array_get(entry, 0), *length = json_array_get(entry, 1);
    char *end;

    if (json_array_size(entry) != 3 || !text || !json_is_integer(from) ||
        !json_is_integer(length) || json_integer_value(from) < 0 || json_integer_value(length) < 0)
        return false;
    *offset = (size_t)json_integer_value(from);
    *n = (size_t)json_integer_value(length);
    *checksum = strtoull(text, &end, 16);
    return *end == '\0' && strlen(text) == 16;
}

bool cavs__packed_array(const struct cavs_packed *p, const json_t *entry, const void **bytes,
                        size_t *n)
{
    uint64_t checksum;
    size_t offset;

    if (!read_entry(entry, &offset, n, &checksum))
        return false;
    *bytes = p->bytes + p->arrays + offset;
    return true;
}

/* Calls f for every entry of an array in the directory, until one returns an error. */
typedef int visit_entry(const struct cavs_packed *p, const char *where, const char *name,
                        const json_t *entry);

static int visit_stage(const struct cavs_packed *p, json_t *stage, visit_entry *f)
{
    const char *where = json_string_value(json_object_get(stage, "name")), *name;
    json_t *arrays = json_object_get(stage, "arrays"), *inputs = json_object_get(stage, "inputs");
    json_t *entry;
    size_t i;
    int rc;

    json_object_foreach(arrays, name, entry)
    {
        rc = f(p, where, name, entry);
        if (rc)
            return rc;
    }
    json_array_foreach(inputs, i, entry)
    {
        name = json_string_value(json_object_get(entry, "name"));
        rc = f(p, where, name, json_object_get(entry, "values"));
        if (!rc)
            rc = f(p, where, name, json_object_get(entry, "equal"));
        if (rc)
            return rc;
    }
    return CAVS_OK;
}

static int visit_arrays(const struct cavs_packed *p, visit_entry *f)
{
    json_t *entry;
    const char *name;
    size_t i;

    json_array_foreach(json_object_get(p->directory, "stages"), i, entry)
    {
        int rc = visit_stage(p, entry, f);

        if (rc)
            return rc;
    }
    json_object_foreach(json_object_get(p->directory, "notes"), name, entry)
    {
        int rc = f(p, "notes", name, entry);

        if (rc)
            return rc;
    }
    return CAVS_OK;
}

static int check_place(const struct cavs_packed *p, const char *where, const char *name,
                       const json_t *entry)
{
    size_t offset, n, room = p->n - p->arrays;
    uint64_t checksum;

    if (!read_entry(entry, &offset, &n, &checksum))
        return cavs__fail(CAVS_EFORMAT, "%s: stage %s, array %s: no [offset, bytes, checksum]",
                          p->path, where, name);
    if (offset % CAVS__PACKED_ALIGN != 0 || offset > room || n > room - offset)
        return cavs__fail(CAVS_EFORMAT,
                          "%s: stage %s, array %s: %zu bytes at %zu are not aligned or not within "
                          "the %zu bytes of all arrays",
                          p->path, where, name, n, offset, room);
    return CAVS_OK;
}

static int check_sum(const struct cavs_packed *p, const char *where, const char *name,
                     const json_t *entry)
{
    size_t offset, n;
    uint64_t checksum;

    if (!read_entry(entry, &offset, &n, &checksum) ||
        cavs__hash(CAVS__HASH_START, p->bytes + p->arrays + offset, n) != checksum)
        return cavs__fail(CAVS_EFORMAT, "%s: stage %s, array %s: damaged (wrong checksum)", p->path,
                          where, name);
    return CAVS_OK;
}

int cavs__packed_whole(const struct cavs_packed *p)
{
    struct stat st;

    if (fstat(p->fd, &st) == 0 && (size_t)st.st_size >= p->n)
        return CAVS_OK;
    return cavs__fail(CAVS_EIO, "%s: shortened while it is in use", p->path);
}

int cavs_packed_verify(const struct cavs_packed *p)
{
    int rc = p ? cavs__packed_whole(p) : cavs__fail(CAVS_EINVAL, "cavs_packed_verify(NULL)");

    return rc ? rc : visit_arrays(p, check_sum);
}

/* ---- opening ---- */

static int bad(const struct cavs_packed *p, const char *what)
{
    return cavs__fail(CAVS_EFORMAT, "%s: %s", p->path, what);
}

static int check_header(const struct cavs_packed *p, const struct cavs__packed_header *h)
{
    if (p->n < sizeof *h || memcmp(h->magic, CAVS__PACKED_MAGIC, sizeof h->magic) != 0)
        return bad(p, "no file of packed data (cavs-pack makes them)");
    if (h->order != CAVS__PACKED_ORDER)
        return bad(p, h->order == __builtin_bswap32(CAVS__PACKED_ORDER)
                          ? "packed on a machine of the other byte order: pack it again here"
                          : "damaged (the mark of the byte order)");
    if (h->version != CAVS__PACKED_VERSION)
        return cavs__fail(CAVS_EFORMAT, "%s: version %u of the format, this library reads %d",
                          p->path, h->version, CAVS__PACKED_VERSION);
    if (h->file != p->n)
        return cavs__fail(CAVS_EFORMAT, "%s: %s: %zu bytes, its header says %llu", p->path,
                          p->n < h->file ? "truncated" : "something follows it", p->n,
                          (unsigned long long)h->file);
    if (h->directory % CAVS__PACKED_ALIGN != 0 || h->directory > p->n - sizeof *h)
        return bad(p, "damaged (the directory does not fit into it)");
    if (cavs__hash(CAVS__HASH_START, p->bytes + sizeof *h, h->directory) != h->checksum)
        return bad(p, "damaged (wrong checksum of the directory)");
    return CAVS_OK;
}

static bool is_array_of(const json_t *array, bool (*sound)(const json_t *))
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        if (!sound(json_array_get(array, i)))
            return false;
    }
    return json_is_array(array);
}

static bool is_string(const json_t *value)
{
    return json_is_string(value);
}

static bool is_input(const json_t *input)
{
    return json_is_string(json_object_get(input, "name")) &&
           json_is_string(json_object_get(input, "type")) &&
           json_is_string(json_object_get(input, "per")) &&
           json_is_integer(json_object_get(input, "width"));
}

static bool is_stage(const json_t *stage)
{
    return json_is_string(json_object_get(stage, "name")) &&
           json_is_object(json_object_get(stage, "arrays")) &&
           is_array_of(json_object_get(stage, "functions"), is_string) &&
           is_array_of(json_object_get(stage, "inputs"), is_input);
}

static int check_directory(const struct cavs_packed *p)
{
    json_t *samples = json_object_get(p->directory, "samples");

    if (!json_is_integer(samples) || json_integer_value(samples) < 0 ||
        json_integer_value(samples) >= INT32_MAX ||
        !json_is_object(json_object_get(p->directory, "notes")) ||
        !is_array_of(json_object_get(p->directory, "stages"), is_stage))
        return bad(p, "its directory lacks samples, stages or notes");
    return visit_arrays(p, check_place);
}

/* Private and writable: what is written through cavs_data_sample_ids() stays in this process.
 * Without a reserve: a file larger than memory may be mapped. */
static int map_file(struct cavs_packed *p)
{
    struct stat st;
    void *bytes;

    p->fd = open(p->path, O_RDONLY | O_CLOEXEC);
    if (p->fd < 0 || fstat(p->fd, &st) != 0)
        return cavs__fail(CAVS_EIO, "%s: %s", p->path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return bad(p, "no file of packed data (cavs-pack makes them)");
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                 p->fd, 0);
    if (bytes == MAP_FAILED)
        return cavs__fail(CAVS_EIO, "%s: cannot be mapped: %s", p->path, strerror(errno));
    p->bytes = bytes;
    p->n = (size_t)st.st_size;
    cavs__resident_begin(p);
    return CAVS_OK;
}

static int read_directory(struct cavs_packed *p)
{
    const struct cavs__packed_header *h = (const struct cavs__packed_header *)p->bytes;
    json_error_t error;
    int rc = check_header(p, h);

    if (rc)
        return rc;
    p->arrays = sizeof *h + h->directory;
    p->directory = cavs__json_read(p->bytes + sizeof *h, h->directory, 0, &error);
    if (!p->directory && !*error.text)
        return cavs__fail_nomem("directory of packed data", h->directory);
    if (!p->directory)
        return cavs__fail(CAVS_EFORMAT, "%s: its directory: %s", p->path, error.text);
    return check_directory(p);
}

int cavs_packed_open(const char *path, struct cavs_packed **out)
{
    struct cavs_packed *p = path && out ? calloc(1, sizeof *p) : NULL;
    int rc;

    if (!path || !out)
        return cavs__fail(CAVS_EINVAL, "cavs_packed_open: no path, or nowhere to put the file");
    if (!p || !(p->path = strdup(path))) {
        free(p);
        return cavs__fail_nomem("packed data", sizeof *p + strlen(path) + 1);
    }
    p->fd = p->statm = -1;
    rc = map_file(p);
    if (!rc)
        rc = read_directory(p);
    if (rc) {
        cavs_packed_close(p);
        return rc;
    }
    *out = p;
    return CAVS_OK;
}

void cavs_packed_close(struct cavs_packed *p)
{
    if (!p)
        return;
    if (p->bytes)
        munmap((void *)p->bytes, p->n);
    if (p->fd >= 0)
        close(p->fd);
    cavs__resident_end(p);
    json_decref(p->directory);
    free(p->path);
    free(p);
}

/* ---- questions ---- */

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

static void describe_stage(FILE *out, json_t *stage)
{
    json_t *arrays = json_object_get(stage, "arrays"), *over = json_object_get(stage, "over"), *e;
    size_t i;

    fprintf(out, "stage %s: %zu vertices, %zu children\n",
            json_string_value(json_object_get(stage, "name")),
            bytes_of(json_object_get(arrays, "function")) / sizeof(int32_t),
            bytes_of(json_object_get(arrays, "child")) / sizeof(int32_t));
    if (json_is_object(over))
        fprintf(out, "  over      %s of %s\n", json_string_value(json_object_get(over, "which")),
                json_string_value(json_object_get(over, "stage")));
    json_array_foreach(json_object_get(stage, "functions"), i, e)
        fprintf(out, "  function  %zu %s\n", i, json_string_value(e));
    json_array_foreach(json_object_get(stage, "inputs"), i, e)
        fprintf(out, "  input     %s: %s, width %lld, %zu bytes\n",
                json_string_value(json_object_get(e, "name")),
                json_string_value(json_object_get(e, "type")),
                (long long)json_integer_value(json_object_get(e, "width")),
                bytes_of(json_object_get(e, "values")));
}

int cavs_packed_describe(const struct cavs_packed *p, char **text)
{
    size_t length = 0, i;
    char *written = NULL;
    const char *name;
    json_t *entry;
    FILE *out;

    if (!p || !text)
        return cavs__fail(CAVS_EINVAL, "cavs_packed_describe: no file or text");
    out = open_memstream(&written, &length);
    if (!out)
        return cavs__fail_nomem("description", 0);
    fprintf(out, "%s: %d samples, %zu bytes, version %d\n", p->path, cavs_packed_size(p), p->n,
            CAVS__PACKED_VERSION);
    json_array_foreach(json_object_get(p->directory, "stages"), i, entry)
        describe_stage(out, entry);
    json_object_foreach(json_object_get(p->directory, "notes"), name, entry)
        fprintf(out, "note %s: %zu bytes\n", name, bytes_of(entry));
    if (fclose(out) != 0) {
        free(written);
        return cavs__fail_nomem("description", 0);
    }
    *text = written;
    return CAVS_OK;
}

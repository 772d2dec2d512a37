/* SPDX-License-Identifier: Apache-2.0 */
/* packed_arrays.c - arrays of a packed file: where the directory says that they are, and checks of
 * that. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/error.h"
#include "core/base/read_at.h"
#include "core/data/packed.h"

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
    *bytes = *n > 0 && offset + *n <= p->nindex ? p->index + offset : p->bytes + p->arrays + offset;
    return true;
}

/* Calls f for every entry of an array in the directory, until one returns an error. */
typedef int visit_entry(const struct cavs_packed *p, const char *where, const char *name,
                        const json_t *entry);

/* Only those have an array of their own. */
static bool has_lists(const json_t *input)
{
    return strcmp(json_string_value(json_object_get(input, "per")),
                  cavs__packed_per[CAVS__PER_ENTRY]) == 0;
}

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
        rc = has_lists(entry) ? f(p, where, name, json_object_get(entry, "entry")) : CAVS_OK;
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
    int rc = f(p, "all", "records", json_object_get(p->directory, "records"));

    json_array_foreach(json_object_get(p->directory, "stages"), i, entry)
    {
        if (!rc)
            rc = visit_stage(p, entry, f);
    }
    json_object_foreach(json_object_get(p->directory, "notes"), name, entry)
    {
        if (!rc)
            rc = f(p, "notes", name, entry);
    }
    return rc;
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

/* The checksum of n bytes of the file from `from` on, or of those that can be read.  A block at a
 * time: mapped pages would count against this process. */
static uint64_t checksum_of(const struct cavs_packed *p, size_t from, size_t n)
{
    uint64_t h = CAVS__HASH_START;
    char block[1 << 16];

    while (n > 0) {
        size_t got = cavs__read_at(p->fd, from, n < sizeof block ? n : sizeof block, block);

        if (got == 0)
            break;
        h = cavs__hash(h, block, got);
        from += got;
        n -= got;
    }
    return h;
}

/* Are the bytes from `from` on to the next multiple of 64 zeros, and there? */
static bool is_padding(const struct cavs_packed *p, size_t from)
{
    char block[CAVS__PACKED_ALIGN];
    size_t n = -from % CAVS__PACKED_ALIGN;

    if (cavs__read_at(p->fd, from, n, block) < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (block[i] != 0)
            return false;
    }
    return true;
}

static int check_sum(const struct cavs_packed *p, const char *where, const char *name,
                     const json_t *entry)
{
    size_t offset, n;
    uint64_t checksum;

    if (!read_entry(entry, &offset, &n, &checksum) ||
        checksum_of(p, p->arrays + offset, n) != checksum)
        return cavs__fail(CAVS_EFORMAT, "%s: stage %s, array %s: damaged (wrong checksum)", p->path,
                          where, name);
    if (!is_padding(p, p->arrays + offset + n))
        return cavs__fail(CAVS_EFORMAT, "%s: stage %s, array %s: damaged (not zeros behind it)",
                          p->path, where, name);
    return CAVS_OK;
}

int cavs__packed_check_places(const struct cavs_packed *p)
{
    return visit_arrays(p, check_place);
}

int cavs__packed_whole(const struct cavs_packed *p)
{
    struct stat st;

    if (fstat(p->fd, &st) == 0 && (size_t)st.st_size >= p->n)
        return CAVS_OK;
    return cavs__fail(CAVS_EIO, "%s: shortened while it is in use", p->path);
}

static int check_zeros_of_header(const struct cavs_packed *p)
{
    static const uint64_t none[3];
    const struct cavs__packed_header *h = (const struct cavs__packed_header *)p->bytes;

    return memcmp(h->zero, none, sizeof none) == 0
               ? CAVS_OK
               : cavs__fail(CAVS_EFORMAT, "%s: damaged (not zeros at the end of its header)",
                            p->path);
}

int cavs_packed_verify(const struct cavs_packed *p)
{
    int rc = p ? cavs__packed_whole(p) : cavs__fail(CAVS_EINVAL, "cavs_packed_verify(NULL)");

    if (!rc)
        rc = check_zeros_of_header(p);
    return rc ? rc : visit_arrays(p, check_sum);
}

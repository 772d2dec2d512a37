/* SPDX-License-Identifier: Apache-2.0 */
/* packed.c - maps a packed file and checks its directory: afterwards every array lies inside the
 * file. */
#include "core/data/packed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/json_text.h"

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
        return cavs__fail(CAVS_EFORMAT,
                          "%s: version %u of the format, this library reads %d: pack it again "
                          "with this library",
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
    return cavs__packed_check_places(p);
}

/* Private and writable: what is written through cavs_data_sample_ids() stays in this process.
 * Without a reserve: a file larger than memory may be mapped. */
static int map_file(struct cavs_packed *p)
{
    struct stat st;
    void *bytes;

    p->fd = open(p->path, O_RDONLY | O_CLOEXEC);
    if (p->fd < 0 || fstat(p->fd, &st) != 0)
        return cavs__fail(cavs__system_error(), "%s: %s", p->path, strerror(errno));
    if (!S_ISREG(st.st_mode) || st.st_size == 0)
        return bad(p, "no file of packed data (cavs-pack makes them)");
    bytes = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
                 p->fd, 0);
    if (bytes == MAP_FAILED)
        return cavs__fail(cavs__system_error(), "%s: cannot be mapped: %s", p->path,
                          strerror(errno));
    p->bytes = bytes;
    p->n = (size_t)st.st_size;
    p->large = p->n > CAVS__MOST_MAPPED;
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
    p->fd = -1;
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
    cavs__records_close(&p->records);
    free(p->index);
    json_decref(p->directory);
    free(p->path);
    free(p);
}

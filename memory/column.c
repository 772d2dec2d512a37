/* SPDX-License-Identifier: Apache-2.0 */
#include "memory/column.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/base/replace.h"

static int grow_in_memory(struct cavs__column *c, size_t needed)
{
    return cavs__array_reserve(&c->p, &c->cap, needed, c->size)
               ? CAVS_OK
               : cavs__fail_nomem("data", cavs__array_capacity(c->cap, needed) * c->size);
}

/* The blocks are reserved before they are mapped: a full disk is then an error here and not a
 * signal where they are written. */
static int grow_in_file(struct cavs__column *c, size_t needed)
{
    size_t cap = needed + needed / 4 + 4096;
    int error = posix_fallocate(c->fd, 0, (off_t)(cap * c->size));
    void *p;

    if (error)
        return cavs__fail(CAVS_EIO,
                          "cannot write %s: no room for a temporary file of %zu bytes: %s", c->path,
                          cap * c->size, strerror(error));
    if (c->p)
        p = mremap(c->p, c->cap * c->size, cap * c->size, MREMAP_MAYMOVE);
    else
        p = mmap(NULL, cap * c->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
    if (p == MAP_FAILED)
        return cavs__fail(CAVS_EIO, "cannot write %s: cannot map a temporary file of %zu bytes: %s",
                          c->path, cap * c->size, strerror(errno));
    c->p = p;
    c->cap = cap;
    return CAVS_OK;
}

int cavs__column_room(struct cavs__column *c, size_t n)
{
    if (c->n + n <= c->cap)
        return CAVS_OK;
    switch (c->storage) {
    case CAVS__IN_MEMORY: return grow_in_memory(c, c->n + n);
    case CAVS__IN_FILE: return grow_in_file(c, c->n + n);
    default: return cavs__fail(CAVS_ESTATE, "data opened from a file cannot be added to");
    }
}

int cavs__column_append(struct cavs__column *c, const void *values, size_t n)
{
    int rc = cavs__column_room(c, n);

    if (rc)
        return rc;
    if (n > 0 && values)
        memcpy((char *)c->p + c->n * c->size, values, n * c->size);
    else if (n > 0)
        memset((char *)c->p + c->n * c->size, 0, n * c->size);
    c->n += n;
    return CAVS_OK;
}

int cavs__column_to_file(struct cavs__column *c, const char *path)
{
    struct cavs__column old = *c;
    int fd = cavs__scratch_file(path), rc;

    if (fd < 0)
        return fd;
    *c = (struct cavs__column){.size = old.size, .storage = CAVS__IN_FILE, .fd = fd, .path = path};
    rc = old.n ? cavs__column_append(c, old.p, old.n) : CAVS_OK;
    cavs__column_free(&old);
    return rc;
}

void cavs__column_free(struct cavs__column *c)
{
    if (c->storage == CAVS__IN_MEMORY)
        free(c->p);
    if (c->storage == CAVS__IN_FILE) {
        if (c->p)
            munmap(c->p, c->cap * c->size);
        close(c->fd);
    }
    *c = (struct cavs__column){.size = c->size};
}

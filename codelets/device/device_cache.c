/* SPDX-License-Identifier: Apache-2.0 */
/* device_cache.c - what devices' compilers have made, kept beside the groups of CPUs
 * (ew_cache.c). */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "codelets/device/device.h"
#include "codelets/groups/ew_internal.h"

/* A file for this text, compiled for what `identity` says: device, driver, options.  -1:
 * nowhere. */
static int file_for(const char *identity, const char *source, char *path, size_t size,
                    uint64_t key[2])
{
    char folder[PATH_MAX - 64];
    uint64_t start = cavs__hash(CAVS__HASH_START, identity, strlen(identity) + 1);

    if (cavs__ew_cache_folder(folder, sizeof folder))
        return -1;
    key[0] = cavs__hash(start, source, strlen(source));
    key[1] = cavs__hash(~start, source, strlen(source));
    snprintf(path, size, "%s/%016llx%016llx.bin", folder, (unsigned long long)key[0],
             (unsigned long long)key[1]);
    return 0;
}

void *cavs__device_cache_get(const char *identity, const char *source, size_t *size)
{
    char path[PATH_MAX];
    uint64_t key[2];

    return file_for(identity, source, path, sizeof path, key)
               ? NULL
               : cavs__ew_cache_read(path, key, size);
}

bool cavs__device_cache_has(const char *identity, const char *source)
{
    char path[PATH_MAX];
    uint64_t key[2];

    return !file_for(identity, source, path, sizeof path, key) && !access(path, F_OK);
}

void cavs__device_cache_put(const char *identity, const char *source, const void *data, size_t size)
{
    char path[PATH_MAX];
    uint64_t key[2];

    if (!file_for(identity, source, path, sizeof path, key))
        (void)cavs__ew_cache_write(path, key, data, size); /* then it is compiled again */
}

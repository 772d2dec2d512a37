/* SPDX-License-Identifier: Apache-2.0 */
/* hash.h - FNV-1a of 64 bits: the checksum of all files that the library makes, and the names of
 * compiled groups. */
#ifndef CAVS_CORE_BASE_HASH_H
#define CAVS_CORE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CAVS__HASH_START 0xcbf29ce484222325u

/* Of the bytes before, whose hash is h (or none, CAVS__HASH_START), and these. */
static inline uint64_t cavs__hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001b3u;
    return h;
}

#endif

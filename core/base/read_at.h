/* SPDX-License-Identifier: Apache-2.0 */
/* read_at.h - bytes of an open file from any place in it; a signal that comes meanwhile is no
 * error. */
#ifndef CAVS_CORE_BASE_READ_AT_H
#define CAVS_CORE_BASE_READ_AT_H

#include <stddef.h>

/* Reads n bytes from `from` on, or those that can be read.  Returns how many these are. */
size_t cavs__read_at(int fd, size_t from, size_t n, void *to);

#endif

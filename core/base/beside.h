/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beside.h - names of files, and temporary files beside them.
 *
 * A temporary file is called NAME.cavs-XXXXXXXX.tmp, cannot be foretold, and is locked (flock) by
 * who writes it.  The lock ends with the process: whatever an earlier process left behind when it
 * was killed can be told from what another one is writing now, and is removed.
 */
#ifndef CAVS_CORE_BASE_BESIDE_H
#define CAVS_CORE_BASE_BESIDE_H

#include <sys/stat.h>

/* The name behind symbolic links, to be freed, whether there is such a file or not; NULL: errno.
 * Links of /proc (/dev/stdout ends there) lead to open files and not to names: they stay. */
char *cavs__resolve(const char *path);

/* What is, or can be, under a resolved name. */
enum cavs__target {
    CAVS__BAD, /* neither; errno says why: EBUSY, it is a mount point of its own */
    CAVS__NEW,
    CAVS__REGULAR,
    CAVS__OTHER /* a device, a pipe: can be written into, but not replaced */
};
/* *st is set unless it is bad or new. */
enum cavs__target cavs__look_at(const char *name, struct stat *st);

/* An open file beside `target` for reading and writing, and its name, to be freed; -1: errno.  It
 * gets what the process's mask leaves of the mode. */
int cavs__create_beside(const char *target, mode_t mode, char **name);
void cavs__remove_leftovers(const char *target);
/* The folder of a name; -1: errno. */
int cavs__open_folder(const char *path);

#endif

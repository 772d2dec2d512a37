/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replace.h - a file that takes its place in one step: written beside its name, flushed, renamed.
 *
 * Whatever happens, the old file or the new one is there.  Symbolic links stay, what they lead to
 * is replaced. What is no regular file (a device, a pipe) cannot be replaced, and is written into.
 * A regular file that is a mount point cannot be replaced either; writing into it could leave half
 * of each, so it is refused, at the beginning.
 */
#ifndef CAVS_CORE_BASE_REPLACE_H
#define CAVS_CORE_BASE_REPLACE_H

#include <stdio.h>

struct cavs__replacement {
    FILE *file;       /* write to this */
    const char *path; /* for messages: the name as the user knows it; not owned */
    char *target;     /* the name behind links */
    char *temporary;  /* NULL: `file` is the target itself, from the beginning or by now */
};

/* Begins.  On success _commit(), _cancel() or after _place() also _close() has to follow, after
 * which nothing is to be freed. */
int cavs__replace_open(struct cavs__replacement *r, const char *path);
/* What was written so far is on the disk under its name, and more may be written into it; or there
 * is an error, and if nothing was placed before, the old file is as it was. */
int cavs__replace_place(struct cavs__replacement *r);
/* Ends what is under its name; what was written since then may be missing if there is an error. */
int cavs__replace_close(struct cavs__replacement *r);
/* Ends: what was written is on the disk under its name, or there is an error and the old file is as
 * it was. */
int cavs__replace_commit(struct cavs__replacement *r);
void cavs__replace_cancel(struct cavs__replacement *r);
/* CAVS_EIO with errno's text and the path. */
int cavs__replace_failed(const struct cavs__replacement *r);

/* A descriptor of a new file that has no name, on the disk that `path` will be on; what it wrote is
 * gone when it is closed.  Negative: an error. */
int cavs__scratch_file(const char *path);

#endif

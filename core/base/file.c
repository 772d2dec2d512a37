/* SPDX-License-Identifier: Apache-2.0 */
/* file.c - files of the caller's that take their place in one step, as the library's own do. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/replace.h"

struct cavs_file {
    struct cavs__replacement replacement;
    char path[];
};

int cavs_file_create(const char *path, struct cavs_file **out)
{
    struct cavs_file *file;
    int rc;

    if (!path || !*path || !out)
        return cavs__fail(CAVS_EINVAL, "cavs_file_create: no %s", out ? "path" : "place for it");
    file = calloc(1, sizeof *file + strlen(path) + 1);
    if (!file)
        return cavs__fail_nomem("a file", sizeof *file);
    strcpy(file->path, path);
    rc = cavs__replace_open(&file->replacement, file->path);
    if (rc)
        free(file);
    else
        *out = file;
    return rc;
}

FILE *cavs_file_stream(struct cavs_file *file)
{
    return file ? file->replacement.file : NULL;
}

int cavs_file_commit(struct cavs_file *file)
{
    return file ? cavs__replace_place(&file->replacement)
                : cavs__fail(CAVS_EINVAL, "cavs_file_commit: no file");
}

int cavs_file_close(struct cavs_file *file)
{
    int rc = CAVS_OK;

    if (!file)
        return CAVS_OK;
    if (file->replacement.temporary)
        cavs__replace_cancel(&file->replacement);
    else
        rc = cavs__replace_close(&file->replacement);
    free(file);
    return rc;
}

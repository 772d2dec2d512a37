/* SPDX-License-Identifier: Apache-2.0 */
/* replace.c - see replace.h. */
#include "core/base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/beside.h"
#include "core/base/error.h"

static int failed(const char *path)
{
    return cavs__fail(cavs__system_error(), "cannot write %s: %s", path,
                      errno == ENOENT ? "its folder does not exist"
                      : errno == EBUSY
                          ? "it is a mount point, and cannot be replaced; mount its folder"
                          : strerror(errno));
}

int cavs__replace_failed(const struct cavs__replacement *r)
{
    return failed(r->path);
}

/* ---- replacing ---- */

static void clear(struct cavs__replacement *r)
{
    free(r->temporary);
    free(r->target);
    *r = (struct cavs__replacement){.file = NULL};
}

/* A new file with the permissions of the old one, if there is one; never open to more people
 * meanwhile. */
static int open_beside(struct cavs__replacement *r, const struct stat *old)
{
    int fd;

    cavs__remove_leftovers(r->target);
    fd = cavs__create_beside(r->target, old ? 0600 : 0666, &r->temporary);
    if (fd >= 0 && old)
        (void)fchmod(fd, old->st_mode & 0777); /* some file systems have none */
    return fd;
}

int cavs__replace_open(struct cavs__replacement *r, const char *path)
{
    enum cavs__target kind;
    struct stat st;
    int fd = -1, rc;

    *r = (struct cavs__replacement){.path = path, .target = cavs__resolve(path)};
    kind = r->target ? cavs__look_at(r->target, &st) : CAVS__BAD;
    if (kind == CAVS__OTHER)
        fd = open(r->target, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    else if (kind != CAVS__BAD)
        fd = open_beside(r, kind == CAVS__REGULAR ? &st : NULL);
    r->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (r->file)
        return CAVS_OK;
    rc = failed(path);
    if (fd >= 0)
        close(fd);
    if (r->temporary)
        unlink(r->temporary);
    clear(r);
    return rc;
}

/* On the disk, as far as there is one: pipes and devices cannot be flushed. */
static bool flush(FILE *f)
{
    return fflush(f) == 0 && (fsync(fileno(f)) == 0 || errno == EINVAL || errno == EROFS);
}

/* The new name has to survive a crash of the machine, too.  Where folders cannot be flushed there
 * is nothing to do. */
static void flush_folder(const char *path)
{
    int fd = cavs__open_folder(path);

    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

int cavs__replace_place(struct cavs__replacement *r)
{
    if (ferror(r->file) || !flush(r->file) ||
        (r->temporary && rename(r->temporary, r->target) != 0))
        return failed(r->path);
    if (r->temporary)
        flush_folder(r->target);
    free(r->temporary);
    r->temporary = NULL;
    return CAVS_OK;
}

int cavs__replace_close(struct cavs__replacement *r)
{
    bool good = !ferror(r->file);
    int rc;

    good = fclose(r->file) == 0 && good;
    rc = good ? CAVS_OK : failed(r->path);
    clear(r);
    return rc;
}

/* Closed afterwards: the lock has to last as long as the temporary name. */
int cavs__replace_commit(struct cavs__replacement *r)
{
    int rc = cavs__replace_place(r);

    if (rc)
        cavs__replace_cancel(r);
    return rc ? rc : cavs__replace_close(r);
}

void cavs__replace_cancel(struct cavs__replacement *r)
{
    if (r->temporary)
        unlink(r->temporary);
    fclose(r->file);
    clear(r);
}

/* ---- without writing ---- */

/* A file of another user in a folder where only owners may remove (as /tmp) would stand in the way
 * of the new one. */
static bool may_be_replaced(const char *target, const struct stat *old)
{
    struct stat folder;
    int fd = cavs__open_folder(target);
    bool may = fd >= 0 && fstat(fd, &folder) == 0 &&
               (!(folder.st_mode & S_ISVTX) || geteuid() == 0 || old->st_uid == geteuid() ||
                folder.st_uid == geteuid());

    if (fd >= 0) {
        close(fd);
        errno = EPERM;
    }
    return may;
}

/* Devices and pipes are not opened: a pipe's reader would take that for all it gets. */
static bool can_be_written(const char *target)
{
    struct stat st;
    enum cavs__target kind = cavs__look_at(target, &st);
    char *name;
    int fd;

    if (kind == CAVS__BAD || kind == CAVS__OTHER)
        return kind == CAVS__OTHER && faccessat(AT_FDCWD, target, W_OK, AT_EACCESS) == 0;
    if (kind == CAVS__REGULAR && !may_be_replaced(target, &st))
        return false;
    fd = cavs__create_beside(target, 0600, &name);
    if (fd < 0)
        return false;
    unlink(name);
    free(name);
    close(fd);
    return true;
}

int cavs_file_writable(const char *path)
{
    char *target;
    int rc;

    if (!path || !*path)
        return cavs__fail(CAVS_EINVAL, "cavs_file_writable: no path");
    target = cavs__resolve(path);
    rc = target && can_be_written(target) ? CAVS_OK : failed(path);
    free(target);
    return rc;
}

int cavs__scratch_file(const char *path)
{
    const char *folder = getenv("TMPDIR");
    char *target = cavs__resolve(path), *beside = NULL, *name = NULL;
    struct stat st;
    int fd = -1;

    if (target && cavs__look_at(target, &st) == CAVS__OTHER) {
        if (asprintf(&beside, "%s/cavs", folder && *folder ? folder : "/tmp") < 0)
            beside = NULL;
        free(target);
        target = beside;
    }
    if (target)
        fd = cavs__create_beside(target, 0600, &name);
    if (fd < 0)
        fd = failed(path);
    else
        unlink(name);
    free(name);
    free(target);
    return fd;
}

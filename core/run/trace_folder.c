/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run/trace_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/beside.h"
#include "core/base/error.h"

static int check_empty(const char *dir)
{
    DIR *d = opendir(dir);
    bool empty = true;

    if (!d)
        return cavs__fail(CAVS_EIO, "cannot open the folder %s for the trace: %s", dir,
                          strerror(errno));
    for (struct dirent *e; empty && (e = readdir(d));)
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    closedir(d);
    if (!empty)
        return cavs__fail(
            CAVS_EIO, "the folder %s for the trace is not empty: name a new or an empty one", dir);
    return CAVS_OK;
}

static int find_folder(const char *dir)
{
    struct stat st;

    if (stat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
        return cavs__fail(CAVS_EIO, "%s: a folder is wanted for the trace, this is none", dir);
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return cavs__fail(CAVS_EIO, "cannot make the folder %s for the trace: %s", dir,
                          strerror(errno));
    if (access(dir, W_OK | X_OK) != 0)
        return cavs__fail(CAVS_EIO, "cannot write into the folder %s for the trace: %s", dir,
                          strerror(errno));
    return CAVS_OK;
}

static int open_folder(const char *dir, int *fd)
{
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return *fd >= 0 ? CAVS_OK
                    : cavs__fail(CAVS_EIO, "cannot open the folder %s for the trace: %s", dir,
                                 strerror(errno));
}

/* Locks the folder, which belongs to one run at a time: to this one as long as fd is open.  Where
 * there are no locks, nothing is known of other runs. */
static int lock_folder(const char *dir, int fd)
{
    return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
               ? CAVS_OK
               : cavs__fail(CAVS_EIO, "the folder %s for the trace is that of another run", dir);
}

static bool has_room(int fd)
{
    static const char begin[16 * 1024];
    ssize_t n = write(fd, begin, sizeof begin);

    if (n == (ssize_t)sizeof begin)
        return fsync(fd) == 0 || errno == EINVAL;
    errno = n < 0 ? errno : ENOSPC;
    return false;
}

/* FxT ends the program where it cannot begin its file, so one is begun here first, and goes
 * again. */
static int check_room(const char *dir)
{
    char *file, *name = NULL;
    int fd, rc = CAVS_OK;

    if (asprintf(&file, "%s/trace.fxt", dir) < 0)
        return cavs__fail_nomem("trace", strlen(dir));
    fd = cavs__create_beside(file, 0600, &name);
    if (fd < 0 || !has_room(fd))
        rc = cavs__fail(CAVS_EIO, "cannot write into the folder %s for the trace: %s", dir,
                        strerror(errno));
    if (fd >= 0)
        close(fd);
    if (name)
        unlink(name);
    free(name);
    free(file);
    return rc;
}

/* The first rank looks whether it is empty.  Others may find it made, or be on machines where there
 * is none yet. */
static int make_and_open(const char *dir, struct cavs__ranks *ranks, int *fd)
{
    int rc = CAVS_OK;

    if (cavs__rank(ranks) == 0) {
        rc = find_folder(dir);
        rc = rc ? rc : open_folder(dir, fd);
        rc = rc ? rc : lock_folder(dir, *fd);
        rc = rc ? rc : check_empty(dir);
        rc = rc ? rc : check_room(dir);
    }
    rc = cavs__ranks_agree(ranks, rc);
    if (!rc && cavs__rank(ranks) > 0) {
        rc = find_folder(dir);
        rc = rc ? rc : open_folder(dir, fd);
        rc = rc ? rc : check_room(dir);
    }
    return cavs__ranks_agree(ranks, rc);
}

int cavs__trace_folder_open(const char *dir, struct cavs__ranks *ranks, int *fd)
{
    int rc;

    *fd = -1;
    rc = make_and_open(dir, ranks, fd);
    if (rc && *fd >= 0)
        close(*fd);
    return rc;
}

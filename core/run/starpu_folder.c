/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starpu_folder.c - the folder in which StarPU keeps its performance models.
 *
 * StarPU takes it from the environment and ends the process where it cannot make it or a file in
 * it, and where a file that it reads was never finished. So all that is tried first, and where it
 * fails StarPU is given another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/run/runtime.h"

/* Before it, StarPU looks at no other variable. */
#define MODELS "STARPU_PERF_MODEL_DIR"

/* The order in which StarPU looks for a place.  Without any of them it takes a folder for temporary
 * files, which all users share: there it is not left to itself. */
static const char *const places[] = {"XDG_CACHE_HOME", "STARPU_HOME", "HOME"};

/* ---- what earlier runs have left ---- */

/* What StarPU has measured is in files of a few lines in a folder of this name. */
#define MEASURED "/bus/"

/* A run that ended while it wrote, or found the disk full, has left nothing or half a line. */
static bool is_finished(const char *path, struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char last = 0;
    bool finished = fd >= 0 && fstat(fd, st) == 0 && st->st_size > 0 &&
                    pread(fd, &last, 1, st->st_size - 1) == 1 && last == '\n';

    if (fd >= 0)
        close(fd);
    return finished;
}

/* StarPU makes again what is not there.  What somebody is writing now gets its time. */
static void drop_unfinished(const char *path)
{
    const struct timespec moment = {0, 10000000};
    struct stat st = {0};

    for (int i = 0; !is_finished(path, &st); i++) {
        if (i == 300 || st.st_mtime + 3 < time(NULL)) {
            unlink(path);
            return;
        }
        nanosleep(&moment, NULL);
    }
}

static bool is_measured(const char *path, const struct FTW *where)
{
    size_t n = strlen(MEASURED), at = (size_t)where->base;

    return at >= n && memcmp(path + at - n, MEASURED, n) == 0;
}

/* For nftw(), which passes on nothing of its caller's: whether StarPU's last file is there. */
static _Thread_local bool complete;

static void look_at_measured(const char *path)
{
    const char *suffix = strrchr(path, '.');

    drop_unfinished(path);
    if (suffix && strcmp(suffix, ".config") == 0 && access(path, F_OK) == 0)
        complete = true;
}

static int cannot_write(const char *path, const struct stat *st, int type, struct FTW *where)
{
    int mode = type == FTW_F ? R_OK | W_OK : R_OK | W_OK | X_OK;

    (void)st;
    if (type != FTW_NS && faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0)
        return 1;
    if (type == FTW_F && is_measured(path, where))
        look_at_measured(path);
    return 0;
}

/* ---- a folder that will do ---- */

/* For what StarPU measures, which is a few thousand bytes.  Sets errno. */
static bool has_room(const char *folder)
{
    static const char filling[16384];
    char path[PATH_MAX];
    ssize_t n;
    int fd;

    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s/cavs-room.XXXXXX", folder) >= (int)sizeof path ||
        (fd = mkostemp(path, O_CLOEXEC)) < 0)
        return false;
    unlink(path);
    errno = ENOSPC; /* of a part that was written */
    n = write(fd, filling, sizeof filling);
    close(fd);
    return n == (ssize_t)sizeof filling;
}

static bool make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* It is there or can be made, all that StarPU has left in it can be written, and what it has not
 * measured yet has room.  Sets errno. */
static bool is_usable(char *path)
{
    struct stat st;

    if (!make_folders(path) || stat(path, &st) != 0)
        return false;
    errno = ENOTDIR;
    complete = false;
    return S_ISDIR(st.st_mode) && nftw(path, cannot_write, 8, 0) == 0 &&
           (complete || has_room(path));
}

static int refuse(const char *variable, const char *path)
{
    return cavs__fail(
        CAVS_ERUNTIME,
        "StarPU cannot keep its performance models in %s: %s; set %s to a folder that "
        "can be written",
        path, strerror(errno), variable);
}

static int tell_starpu(struct cavs__folder *f, const char *path)
{
    f->path = strdup(path);
    if (f->path && setenv(MODELS, path, 1) == 0)
        return CAVS_OK;
    free(f->path);
    f->path = NULL;
    return cavs__fail_nomem("name of StarPU's folder", strlen(path) + 1);
}

static int no_folder(const char *tmp)
{
    return cavs__fail(CAVS_ERUNTIME,
                      "StarPU has no folder to keep its performance models in, and none can be "
                      "made in %s: %s; set STARPU_HOME to a folder that can be written",
                      tmp, strerror(errno));
}

/* A folder of this run's own. */
static int make_private(struct cavs__folder *f)
{
    const char *tmp = getenv("TMPDIR");
    char path[PATH_MAX];
    int rc;

    if (!tmp || !*tmp)
        tmp = "/tmp";
    errno = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s/cavs-starpu.XXXXXX", tmp) >= (int)sizeof path ||
        !mkdtemp(path))
        return no_folder(tmp);
    rc = has_room(path) ? tell_starpu(f, path) : no_folder(tmp);
    f->own = rc == CAVS_OK;
    if (rc)
        rmdir(path);
    return rc;
}

/* The first place that will do.  What was asked for by StarPU's own variables has to. */
static int choose_place(struct cavs__folder *f)
{
    bool first = true; /* where StarPU looks by itself */

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *place = getenv(places[i]);
        char path[PATH_MAX];

        errno = ENAMETOOLONG;
        if (place && *place &&
            snprintf(path, sizeof path, "%s/.starpu/sampling", place) < (int)sizeof path &&
            is_usable(path))
            return first ? CAVS_OK : tell_starpu(f, path);
        if (place && *place && strcmp(places[i], "STARPU_HOME") == 0)
            return refuse(places[i], place);
        first = first && !place;
    }
    return make_private(f);
}

int cavs__folder_choose(struct cavs__folder *f)
{
    const char *models = getenv(MODELS);
    char path[PATH_MAX];

    if (!models)
        return choose_place(f);
    errno = ENAMETOOLONG;
    return snprintf(path, sizeof path, "%s", models) < (int)sizeof path && is_usable(path)
               ? CAVS_OK
               : refuse(MODELS, models);
}

static int discard(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    remove(path);
    return 0;
}

void cavs__folder_forget(struct cavs__folder *f)
{
    if (f->own)
        nftw(f->path, discard, 8, FTW_DEPTH | FTW_PHYS);
    if (f->path)
        unsetenv(MODELS);
    free(f->path);
    *f = (struct cavs__folder){0};
}

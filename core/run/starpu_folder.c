/* SPDX-License-Identifier: Apache-2.0 */
/*
 * starpu_folder.c - the folder in which StarPU keeps its performance models.
 *
 * StarPU takes it from the environment and ends the process where it cannot make it or a file in
 * it. So all that is tried first, and where it fails StarPU is given another one.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/run/runtime.h"

/* Before it, StarPU looks at no other variable. */
#define MODELS "STARPU_PERF_MODEL_DIR"

/* The order in which StarPU looks for a place.  Without any of them it takes a folder for temporary
 * files, which all users share: there it is not left to itself. */
static const char *const places[] = {"XDG_CACHE_HOME", "STARPU_HOME", "HOME"};

static int cannot_write(const char *path, const struct stat *st, int type, struct FTW *where)
{
    int mode = type == FTW_F ? R_OK | W_OK : R_OK | W_OK | X_OK;

    (void)st;
    (void)where;
    return type != FTW_NS && faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0;
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

/* It is there or can be made, and all that StarPU has left in it can be written.  Sets errno. */
static bool is_usable(char *path)
{
    struct stat st;

    if (!make_folders(path) || stat(path, &st) != 0)
        return false;
    errno = ENOTDIR;
    return S_ISDIR(st.st_mode) && nftw(path, cannot_write, 8, 0) == 0;
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
        return cavs__fail(CAVS_ERUNTIME,
                          "StarPU has no folder to keep its performance models in, and none can be "
                          "made in %s: %s; set STARPU_HOME to a folder that can be written",
                          tmp, strerror(errno));
    rc = tell_starpu(f, path);
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_folder.c - finds, or makes, the private folder for what is compiled at run time.
 *
 * What lies there becomes code of this process. So nobody else may be able to put another folder in
 * its place: every folder on the way from the root, and every symbolic link, has to be ours or
 * root's, and not writable by others; the user's private group is nobody else. A folder like /tmp,
 * where only owners may remove, will do on the way. The way is walked by descriptors: what has been
 * looked at is what is entered.
 *
 * Links of ours are followed wherever they stand. In a folder like /tmp somebody else may have put
 * a hard link to one of them, and so chooses among the places that our links lead to; but where it
 * leads is looked at like the rest of the way, and only a folder that nobody else can write to is
 * used.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codelets/groups/ew_internal.h"

enum { MOST_LINKS = 40 };

static int folder_name(char *to, size_t size)
{
    const char *cavs = getenv("CAVS_CACHE"), *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int n;

    if (cavs && *cavs)
        n = snprintf(to, size, "%s/kernels", cavs);
    else if (xdg && *xdg)
        n = snprintf(to, size, "%s/cavs/kernels", xdg);
    else if (home && *home)
        n = snprintf(to, size, "%s/.cache/cavs/kernels", home);
    else
        return -1;
    return n < 0 || (size_t)n >= size ? -1 : 0;
}

/* Many systems give each user a group of the same name with nobody else in it, and umask 002. */
static bool is_private_group(gid_t gid)
{
    char users[4096], groups[4096];
    struct passwd user, *u = NULL;
    struct group group, *g = NULL;

    if (geteuid() == 0) /* root's group has whoever the system put there */
        return false;
    if (getpwuid_r(geteuid(), &user, users, sizeof users, &u) != 0 || !u || u->pw_gid != gid ||
        getgrgid_r(gid, &group, groups, sizeof groups, &g) != 0 || !g ||
        strcmp(g->gr_name, u->pw_name) != 0)
        return false;
    for (char **member = g->gr_mem; *member; member++)
        if (strcmp(*member, u->pw_name) != 0)
            return false;
    return true;
}

static bool others_may_write(const struct stat *st)
{
    return st->st_mode & S_IWOTH || (st->st_mode & S_IWGRP && !is_private_group(st->st_gid));
}

bool cavs__ew_is_private(const struct stat *st)
{
    return st->st_uid == geteuid() && !others_may_write(st);
}

/* ---- the way there ---- */

/* Can nobody but root and this user change what is in the folder under a name that is there? */
static bool is_trusted(const struct stat *st)
{
    bool owned = st->st_uid == geteuid() || st->st_uid == 0;

    if (S_ISLNK(st->st_mode))
        return owned;
    return owned && (st->st_mode & S_ISVTX || !others_may_write(st));
}

struct walk {
    const char *wanted;  /* for messages */
    char done[PATH_MAX]; /* of the way, without links; "" is the root */
    char rest[PATH_MAX]; /* to be gone */
    int folder;          /* `done`, open */
    struct stat st;      /* of it */
    int links;
};

static int refuse(const struct walk *w, const char *why)
{
    cavs__ew_fallback("cannot use the folder %s: %s", w->wanted, why);
    return -1;
}

/* On the way, `done` and, unless it is NULL, a name in it. */
static int distrust(const struct walk *w, const char *name)
{
    cavs__ew_fallback(
        "the folder %s is not private: others own %s%s%s above it, or may write there", w->wanted,
        w->done, name ? "/" : "", name ? name : "");
    return -1;
}

static int enter(struct walk *w, int fd, const char *name)
{
    size_t n = strlen(w->done);

    if (fd < 0 || fstat(fd, &w->st) != 0) {
        int error = errno;

        if (fd >= 0)
            close(fd);
        return refuse(w, strerror(error));
    }
    if (w->folder >= 0)
        close(w->folder);
    w->folder = fd;
    if (n + strlen(name) + 2 > sizeof w->done)
        return refuse(w, strerror(ENAMETOOLONG));
    if (*name)
        sprintf(w->done + n, "/%s", name);
    return is_trusted(&w->st) || !*w->rest ? 0 : distrust(w, NULL);
}

/* Goes back to the root, and from there as a link or a path says. */
static int restart(struct walk *w, const char *path)
{
    char way[2 * PATH_MAX + 2];

    snprintf(way, sizeof way, "%s/%s", path, w->rest);
    if (strlen(way) >= sizeof w->rest)
        return refuse(w, strerror(ENAMETOOLONG));
    memcpy(w->rest, way, strlen(way) + 1);
    w->done[0] = 0;
    return enter(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), "");
}

static int follow(struct walk *w, const char *name, const struct stat *link)
{
    char to[PATH_MAX], path[2 * PATH_MAX + 2];
    ssize_t n = readlinkat(w->folder, name, to, sizeof to - 1);

    if (n < 0 || ++w->links > MOST_LINKS)
        return refuse(w, strerror(n < 0 ? errno : ELOOP));
    if (!is_trusted(link))
        return distrust(w, name);
    to[n] = 0;
    snprintf(path, sizeof path, "%s%s%s", to[0] == '/' ? "" : w->done, to[0] == '/' ? "" : "/", to);
    return restart(w, path);
}

/* Takes the next name of the way from its rest; false: there is none. */
static bool next_name(struct walk *w, char name[NAME_MAX + 1])
{
    size_t skip = strspn(w->rest, "/"), n = strcspn(w->rest + skip, "/");

    if (n == 0 || n > NAME_MAX)
        return false;
    memcpy(name, w->rest + skip, n);
    name[n] = 0;
    skip += n;
    skip += strspn(w->rest + skip, "/");
    memmove(w->rest, w->rest + skip, strlen(w->rest + skip) + 1);
    return true;
}

static int step(struct walk *w, const char *name)
{
    struct stat st;

    if (fstatat(w->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno != ENOENT || (mkdirat(w->folder, name, 0700) != 0 && errno != EEXIST))
            return refuse(w, strerror(errno));
    } else if (S_ISLNK(st.st_mode)) {
        return follow(w, name, &st);
    }
    return enter(w, openat(w->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), name);
}

static int walk(struct walk *w)
{
    char name[NAME_MAX + 1], here[PATH_MAX] = "";
    int rc = 0;

    if (w->wanted[0] != '/' && !getcwd(here, sizeof here))
        return refuse(w, strerror(errno));
    snprintf(w->rest, sizeof w->rest, "%s", w->wanted);
    rc = restart(w, here);
    while (!rc && next_name(w, name))
        rc = step(w, name);
    if (!rc && *w->rest)
        rc = refuse(w, strerror(ENAMETOOLONG));
    return rc;
}

int cavs__ew_cache_folder(char *path, size_t size)
{
    char wanted[PATH_MAX];
    struct walk w = {.wanted = wanted, .folder = -1};
    int rc;

    if (folder_name(wanted, sizeof wanted)) {
        cavs__ew_fallback("there is no place for compiled groups: set CAVS_CACHE");
        return -1;
    }
    rc = walk(&w);
    if (!rc && !cavs__ew_is_private(&w.st)) {
        cavs__ew_fallback("the folder %s is not private: others own it or may write to it", wanted);
        rc = -1;
    }
    if (!rc && faccessat(w.folder, ".", W_OK, AT_EACCESS) != 0)
        rc = refuse(&w, strerror(errno));
    if (!rc && (size_t)snprintf(path, size, "%s", w.done) >= size)
        rc = refuse(&w, strerror(ENAMETOOLONG));
    if (w.folder >= 0)
        close(w.folder);
    return rc;
}

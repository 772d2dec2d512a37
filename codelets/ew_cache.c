/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ew_cache.c - shared objects made from generated source, kept in a private folder.
 *
 * What is loaded becomes code of this process. So the folder and the file have to be ours and
 * writable by nobody else, and the file has to be whole: it ends with a footer that holds its key,
 * size and hash. Anything else is not loaded but made again. A file appears under its name complete
 * (rename), so processes need no lock; two that build the same one do the work twice.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codelets/ew_internal.h"

struct cavs__ew_library {
    void *handle;
    atomic_int references;
};

/* The last bytes of a cached object: a loader of shared objects ignores them. */
struct footer {
    char magic[8];
    uint64_t key[2];
    uint64_t size; /* of what is before the footer */
    uint64_t hash;
};
#define MAGIC "cavs-ew1"

/* ---- why groups are interpreted ---- */

static pthread_mutex_t reason_lock = PTHREAD_MUTEX_INITIALIZER;
static char reason[400];

void cavs__ew_fallback(const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&reason_lock);
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    pthread_mutex_unlock(&reason_lock);
}

const char *cavs__ew_fallback_reason(void)
{
    static _Thread_local char copy[sizeof reason];

    pthread_mutex_lock(&reason_lock);
    memcpy(copy, reason, sizeof copy);
    pthread_mutex_unlock(&reason_lock);
    return copy[0] ? copy : NULL;
}

/* ---- the folder ---- */

static int folder_name(char *to, size_t size)
{
    const char *cavs = getenv("CAVS_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
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

static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    mkdir(path, 0700);
}

/* Ours, and nobody else may write to it. */
static bool is_private(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int find_folder(char *path, size_t size)
{
    struct stat st;

    if (folder_name(path, size)) {
        cavs__ew_fallback("there is no place for compiled groups: set CAVS_CACHE");
        return -1;
    }
    make_folders(path);
    if (stat(path, &st) || !S_ISDIR(st.st_mode) || access(path, W_OK)) {
        cavs__ew_fallback("cannot use the folder %s: %s", path, strerror(errno));
        return -1;
    }
    if (!is_private(&st)) {
        cavs__ew_fallback("the folder %s is not private: others own it or may write to it", path);
        return -1;
    }
    return 0;
}

/* ---- files ---- */

/* The whole of an open file, in memory to free. */
static char *read_file(int fd, size_t *size)
{
    struct stat st;
    char *data;
    size_t n = 0;

    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !is_private(&st))
        return NULL;
    data = malloc((size_t)st.st_size + 1);
    for (ssize_t got = 1; data && got > 0 && n < (size_t)st.st_size; n += got > 0 ? (size_t)got : 0)
        got = pread(fd, data + n, (size_t)st.st_size - n, (off_t)n);
    *size = n;
    return data;
}

static struct footer footer_for(const uint64_t key[2], const char *data, size_t size)
{
    struct footer f = {.key = {key[0], key[1]}, .size = size};

    memcpy(f.magic, MAGIC, sizeof f.magic);
    f.hash = cavs__ew_hash(CAVS__EW_HASH_START, data, size);
    return f;
}

/* The file is a complete object for this key, and only we can have written it. */
static bool is_intact(const char *path, const uint64_t key[2])
{
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    size_t size = 0;
    char *data = fd < 0 ? NULL : read_file(fd, &size);
    bool intact = false;

    if (data && size > sizeof(struct footer)) {
        struct footer want = footer_for(key, data, size - sizeof want);

        intact = !memcmp(&want, data + size - sizeof want, sizeof want);
    }
    free(data);
    if (fd >= 0)
        close(fd);
    return intact;
}

/* Appends the footer to what the compiler has written, and gives it its name. */
static int publish(const char *made, const char *path, const uint64_t key[2])
{
    int fd = open(made, O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC), rc = -1;
    size_t size = 0;
    char *data = NULL;

    if (fd >= 0 && !fchmod(fd, 0700))
        data = read_file(fd, &size);
    if (data && size > 0) {
        struct footer f = footer_for(key, data, size);

        rc = write(fd, &f, sizeof f) == (ssize_t)sizeof f ? rename(made, path) : -1;
    }
    free(data);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ---- building ---- */

/* The compiler's first complaint. */
static void explain(const char *log_path, const char *compiler)
{
    FILE *log = fopen(log_path, "re");
    char line[200] = "";

    while (log && fgets(line, sizeof line, log) && !strstr(line, "error"))
        ;
    line[strcspn(line, "\n")] = 0;
    cavs__ew_fallback("%s failed: %s", compiler, line);
    if (log)
        fclose(log);
}

static int write_source(int fd, const char *source)
{
    FILE *f = fdopen(fd, "w");
    int rc;

    if (!f) {
        close(fd);
        return -1;
    }
    rc = fputs(source, f) < 0 ? -1 : 0;
    return fclose(f) ? -1 : rc;
}

/* path: .../key.so. The source stays beside it, to be read. */
static int build(const struct cavs__ew_compiler *c, const char *source, const char *path, const uint64_t key[2])
{
    char source_path[PATH_MAX], object_path[PATH_MAX + 4], log_path[PATH_MAX + 4], kept[PATH_MAX];
    int stem = (int)strlen(path) - 3, fd, rc = -1;

    if (snprintf(source_path, sizeof source_path, "%.*s-XXXXXX.c", stem, path) >= (int)sizeof source_path)
        return -1;
    fd = mkostemps(source_path, 2, O_CLOEXEC);
    if (fd < 0 || write_source(fd, source)) {
        cavs__ew_fallback("cannot write %s: %s", source_path, strerror(errno));
        return -1;
    }
    snprintf(object_path, sizeof object_path, "%s.so", source_path);
    snprintf(log_path, sizeof log_path, "%s.log", source_path);
    snprintf(kept, sizeof kept, "%.*s.c", stem, path);
    if (cavs__ew_compiler_run(c, source_path, object_path, log_path))
        explain(log_path, c->word[0]);
    else if (publish(object_path, path, key))
        cavs__ew_fallback("cannot keep %s: %s", path, strerror(errno));
    else
        rc = 0;
    unlink(log_path);
    unlink(object_path);
    if (rc || rename(source_path, kept))
        unlink(source_path);
    return rc;
}

/* ---- libraries ---- */

static struct cavs__ew_library *load(const char *path)
{
    struct cavs__ew_library *l = malloc(sizeof *l);

    if (!l)
        return NULL;
    l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle) {
        cavs__ew_fallback("%s", dlerror());
        free(l);
        return NULL;
    }
    atomic_init(&l->references, 1);
    return l;
}

struct cavs__ew_library *cavs__ew_library_open(const char *source)
{
    char folder[PATH_MAX - 64], path[PATH_MAX];
    struct cavs__ew_compiler c;
    struct cavs__ew_library *l = NULL;
    uint64_t key[2];

    if (find_folder(folder, sizeof folder) || cavs__ew_compiler_find(&c))
        return NULL;
    key[0] = cavs__ew_hash(c.identity, source, strlen(source));
    key[1] = cavs__ew_hash(~c.identity, source, strlen(source));
    snprintf(path, sizeof path, "%s/%016llx%016llx.so", folder, (unsigned long long)key[0], (unsigned long long)key[1]);
    if (is_intact(path, key) || !build(&c, source, path, key))
        l = load(path);
    cavs__ew_compiler_free(&c);
    return l;
}

struct cavs__ew_library *cavs__ew_library_ref(struct cavs__ew_library *l)
{
    atomic_fetch_add(&l->references, 1);
    return l;
}

void cavs__ew_library_close(struct cavs__ew_library *l)
{
    if (!l || atomic_fetch_sub(&l->references, 1) > 1)
        return;
    dlclose(l->handle);
    free(l);
}

cavs__ew_compiled *cavs__ew_library_find(struct cavs__ew_library *l, const char *name)
{
    return (cavs__ew_compiled *)dlsym(l->handle, name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ew_library.c - source text becomes functions, by way of the compiler and the cache. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codelets/groups/ew_internal.h"

/* There is one for each source that is loaded.  The loader knows it by the number of its file,
 * which hence is open as long; and if two numbers led to one file, the loader would take them for
 * one object, which would keep the first one's name when that number is another file's. */
struct cavs__ew_library {
    void *handle;
    int fd;
    uint64_t key[2];
    int references;
    struct cavs__ew_library *next;
};

static pthread_mutex_t loaded_lock = PTHREAD_MUTEX_INITIALIZER; /* of the list, and what is in it */
static struct cavs__ew_library *loaded;

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

/* ---- building ---- */

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
static int build(const struct cavs__ew_compiler *c, const char *source, const char *path,
                 const uint64_t key[2])
{
    char source_path[PATH_MAX], object_path[PATH_MAX + 4], log_path[PATH_MAX + 4], kept[PATH_MAX];
    int stem = (int)strlen(path) - 3, fd, rc = -1;

    if (snprintf(source_path, sizeof source_path, "%.*s-XXXXXX.c", stem, path) >=
        (int)sizeof source_path)
        return -1;
    fd = mkostemps(source_path, 2, O_CLOEXEC);
    if (fd < 0 || write_source(fd, source)) {
        cavs__ew_fallback("cannot write %s: %s", source_path, strerror(errno));
        if (fd >= 0)
            unlink(source_path);
        return -1;
    }
    snprintf(object_path, sizeof object_path, "%s.so", source_path);
    snprintf(log_path, sizeof log_path, "%s.log", source_path);
    snprintf(kept, sizeof kept, "%.*s.c", stem, path);
    if (cavs__ew_compiler_run(c, source_path, object_path, log_path)) {
        rc = cavs__ew_cache_publish(object_path, path, key);
        if (rc)
            cavs__ew_fallback("cannot keep %s: %s", path, strerror(errno));
    }
    unlink(log_path);
    unlink(object_path);
    if (rc || rename(source_path, kept))
        unlink(source_path);
    return rc;
}

/* ---- libraries ---- */

/* The one of that key, once more; NULL: it is not loaded. */
static struct cavs__ew_library *find_loaded(const uint64_t key[2])
{
    struct cavs__ew_library *l = loaded;

    while (l && memcmp(l->key, key, sizeof l->key) != 0)
        l = l->next;
    if (l)
        l->references++;
    return l;
}

/* Loads the object by its descriptor, which it takes: so what was checked is what is loaded,
 * whatever has the name by now. */
static struct cavs__ew_library *load(int fd, const uint64_t key[2])
{
    struct cavs__ew_library *l = malloc(sizeof *l);
    char name[64];

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (l)
        *l = (struct cavs__ew_library){.fd = fd,
                                       .key = {key[0], key[1]},
                                       .references = 1,
                                       .next = loaded,
                                       .handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)};
    if (!l || !l->handle) {
        cavs__ew_fallback("%s", l ? dlerror() : "out of memory");
        close(fd);
        free(l);
        return NULL;
    }
    loaded = l;
    return l;
}

/* The library of the file, which another thread may have loaded by now; takes the descriptor. */
static struct cavs__ew_library *find_or_load(int fd, const uint64_t key[2])
{
    struct cavs__ew_library *l;

    pthread_mutex_lock(&loaded_lock);
    l = find_loaded(key);
    if (l)
        close(fd);
    else
        l = load(fd, key);
    pthread_mutex_unlock(&loaded_lock);
    return l;
}

/* The library of that source from the cache at `path`, or made now. */
static struct cavs__ew_library *open_file(const struct cavs__ew_compiler *c, const char *source,
                                          const char *path, const uint64_t key[2])
{
    struct cavs__ew_library *l;
    int fd = cavs__ew_cache_open(path, key);

    if (fd < 0 && !build(c, source, path, key))
        fd = cavs__ew_cache_open(path, key);
    if (fd < 0)
        return NULL;
    l = find_or_load(fd, key);
    if (!l)
        unlink(path); /* whole, but not what the loader takes: a broken compiler's */
    return l;
}

struct cavs__ew_library *cavs__ew_library_open(const char *source)
{
    char folder[PATH_MAX - 64], path[PATH_MAX];
    struct cavs__ew_compiler c;
    struct cavs__ew_library *l;
    uint64_t key[2];

    if (cavs__ew_cache_folder(folder, sizeof folder) || cavs__ew_compiler_find(&c))
        return NULL;
    key[0] = cavs__hash(c.identity, source, strlen(source));
    key[1] = cavs__hash(~c.identity, source, strlen(source));
    snprintf(path, sizeof path, "%s/%016llx%016llx.so", folder, (unsigned long long)key[0],
             (unsigned long long)key[1]);
    l = open_file(&c, source, path, key);
    cavs__ew_compiler_free(&c);
    return l;
}

struct cavs__ew_library *cavs__ew_library_ref(struct cavs__ew_library *l)
{
    pthread_mutex_lock(&loaded_lock);
    l->references++;
    pthread_mutex_unlock(&loaded_lock);
    return l;
}

static void unload(struct cavs__ew_library *l)
{
    struct cavs__ew_library **at = &loaded;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    dlclose(l->handle);
    close(l->fd);
    free(l);
}

void cavs__ew_library_close(struct cavs__ew_library *l)
{
    pthread_mutex_lock(&loaded_lock);
    if (l && --l->references == 0)
        unload(l);
    pthread_mutex_unlock(&loaded_lock);
}

cavs__ew_compiled *cavs__ew_library_find(struct cavs__ew_library *l, const char *name)
{
    return (cavs__ew_compiled *)dlsym(l->handle, name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ew_library.c - source text becomes functions, by way of the compiler and the cache. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codelets/groups/ew_internal.h"

struct cavs__ew_library {
    void *handle;
    int fd; /* of the file; open as long as it is loaded, for the loader knows it by this number */
    atomic_int references;
};

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

/* Loads the object by its descriptor, which it takes: so what was checked is what is loaded,
 * whatever has the name by now. */
static struct cavs__ew_library *load(int fd)
{
    struct cavs__ew_library *l = malloc(sizeof *l);
    char name[64];

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (l)
        *l = (struct cavs__ew_library){.fd = fd, .handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)};
    if (!l || !l->handle) {
        cavs__ew_fallback("%s", l ? dlerror() : "out of memory");
        close(fd);
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
    int fd;

    if (cavs__ew_cache_folder(folder, sizeof folder) || cavs__ew_compiler_find(&c))
        return NULL;
    key[0] = cavs__hash(c.identity, source, strlen(source));
    key[1] = cavs__hash(~c.identity, source, strlen(source));
    snprintf(path, sizeof path, "%s/%016llx%016llx.so", folder, (unsigned long long)key[0],
             (unsigned long long)key[1]);
    fd = cavs__ew_cache_open(path, key);
    if (fd < 0 && !build(&c, source, path, key))
        fd = cavs__ew_cache_open(path, key);
    if (fd >= 0) {
        l = load(fd);
        if (!l)
            unlink(path); /* whole, but not what the loader takes: a broken compiler's */
    }
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
    close(l->fd);
    free(l);
}

cavs__ew_compiled *cavs__ew_library_find(struct cavs__ew_library *l, const char *name)
{
    return (cavs__ew_compiled *)dlsym(l->handle, name);
}

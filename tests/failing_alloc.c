/* SPDX-License-Identifier: Apache-2.0 */
/* failing_alloc.c - see failing_alloc.h. */
#include "tests/failing_alloc.h"

#include <errno.h>
#include <jansson.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

static _Thread_local struct {
    bool on, all_after, spared;
    long n, count, failures;
    size_t wanted;
} plan;

static struct {
    bool on;
    long n, count, failures;
} everywhere;

static bool fails_everywhere(void)
{
    bool fail;

    if (!__atomic_load_n(&everywhere.on, __ATOMIC_ACQUIRE))
        return false;
    fail = __atomic_add_fetch(&everywhere.count, 1, __ATOMIC_RELAXED) == everywhere.n;
    if (fail) {
        __atomic_add_fetch(&everywhere.failures, 1, __ATOMIC_RELAXED);
        errno = ENOMEM;
    }
    return fail;
}

static bool fails(size_t bytes)
{
    bool fail;

    if (plan.spared)
        return false;
    if (!plan.on)
        return fails_everywhere();
    plan.count++;
    fail = plan.n > 0 && (plan.all_after ? plan.count >= plan.n : plan.count == plan.n);
    plan.failures += fail;
    if (fail) {
        errno = ENOMEM;
        plan.wanted = bytes;
    }
    return fail;
}

/* ---- blocks that are there ----
 * Those of the thread that began; any thread may free them. */

struct block {
    void *p;
    size_t bytes;
    long number; /* of the allocation */
    struct block *next;
};

enum { CHAINS = 1 << 14 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *chains[CHAINS];

static struct block **chain_of(const void *p)
{
    return &chains[((uintptr_t)p >> 4) % CHAINS];
}

static void *watch(void *p, size_t bytes)
{
    struct block *b = p && plan.on ? malloc(sizeof *b) : NULL;

    if (!b)
        return p;
    pthread_mutex_lock(&lock);
    *b = (struct block){p, bytes, plan.count, *chain_of(p)};
    *chain_of(p) = b;
    pthread_mutex_unlock(&lock);
    return p;
}

static void forget(const void *p)
{
    pthread_mutex_lock(&lock);
    for (struct block **at = chain_of(p); p && *at; at = &(*at)->next) {
        struct block *b = *at;

        if (b->p != p)
            continue;
        *at = b->next;
        free(b);
        break;
    }
    pthread_mutex_unlock(&lock);
}

static void forget_all(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS; i++) {
        while (chains[i]) {
            struct block *b = chains[i];

            chains[i] = b->next;
            free(b);
        }
    }
    pthread_mutex_unlock(&lock);
}

/* ---- what archives call in the place of the C library's, by failing_alloc.names ---- */

void *failing_malloc(size_t n);
void *failing_calloc(size_t n, size_t size);
void *failing_realloc(void *p, size_t n);
char *failing_strdup(const char *s);
char *failing_strndup(const char *s, size_t n);
int failing_asprintf(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));
ssize_t failing_getline(char **line, size_t *room, FILE *f);
ssize_t failing_getdelim(char **line, size_t *room, int end, FILE *f);
FILE *failing_fopen(const char *path, const char *mode);
FILE *failing_fdopen(int fd, const char *mode);
FILE *failing_open_memstream(char **text, size_t *size);
int failing_starpu_malloc_flags(void **p, size_t n, int flags);
int failing_starpu_free_flags(void *p, size_t n, int flags);
json_t *failing_json_loadb(const char *text, size_t n, size_t flags, json_error_t *error);
int failing_starpu_task_submit(struct starpu_task *t);
void failing_starpu_task_destroy(struct starpu_task *t);

void *failing_malloc(size_t n)
{
    return fails(n) ? NULL : watch(malloc(n), n);
}

void *failing_calloc(size_t n, size_t size)
{
    return fails(n * size) ? NULL : watch(calloc(n, size), n * size);
}

void *failing_realloc(void *p, size_t n)
{
    if (fails(n))
        return NULL;
    forget(p);
    return watch(realloc(p, n), n);
}

void failing_free(void *p)
{
    forget(p);
    free(p);
}

char *failing_strdup(const char *s)
{
    return fails(strlen(s) + 1) ? NULL : watch(strdup(s), strlen(s) + 1);
}

char *failing_strndup(const char *s, size_t n)
{
    return fails(strnlen(s, n) + 1) ? NULL : watch(strndup(s, n), strnlen(s, n) + 1);
}

int failing_asprintf(char **text, const char *format, ...)
{
    va_list ap;
    int n;

    if (fails(0))
        return -1;
    va_start(ap, format);
    n = vasprintf(text, format, ap);
    va_end(ap);
    if (n >= 0)
        watch(*text, (size_t)n + 1);
    return n;
}

/* The line may have been another block before. */
static ssize_t watch_line(ssize_t n, const char *before, char *line, size_t room)
{
    if (line != before) {
        forget(before);
        watch(line, room);
    }
    return n;
}

ssize_t failing_getline(char **line, size_t *room, FILE *f)
{
    const char *before = *line;
    ssize_t n = fails(0) ? -1 : getline(line, room, f);

    return watch_line(n, before, *line, *room);
}

/* What getline() may be in the end. */
ssize_t failing_getdelim(char **line, size_t *room, int end, FILE *f)
{
    const char *before = *line;
    ssize_t n = fails(0) ? -1 : getdelim(line, room, end, f);

    return watch_line(n, before, *line, *room);
}

FILE *failing_fopen(const char *path, const char *mode)
{
    return fails(0) ? NULL : fopen(path, mode);
}

FILE *failing_fdopen(int fd, const char *mode)
{
    return fails(0) ? NULL : fdopen(fd, mode);
}

FILE *failing_open_memstream(char **text, size_t *size)
{
    return fails(0) ? NULL : open_memstream(text, size);
}

/* The memory of tensors. */
int failing_starpu_malloc_flags(void **p, size_t n, int flags)
{
    int rc = fails(n) ? -ENOMEM : starpu_malloc_flags(p, n, flags);

    if (!rc)
        watch(*p, n);
    return rc;
}

int failing_starpu_free_flags(void *p, size_t n, int flags)
{
    forget(p);
    return starpu_free_flags(p, n, flags);
}

/*
 * jansson's reader fails as a whole or not at all: where memory is short for a word that it reads,
 * it may end the process by an assertion, find a mistake in the text, or leave a letter out.
 */
json_t *failing_json_loadb(const char *text, size_t n, size_t flags, json_error_t *error)
{
    json_t *value = NULL;

    error->text[0] = 0;
    if (fails(0))
        return NULL;
    plan.spared = true;
    value = json_loadb(text, n, flags, error);
    plan.spared = false;
    return value;
}

/* StarPU frees what a task has for many handles. */
static void hand_over(const struct starpu_task *t)
{
    forget(t->dyn_handles);
    forget(t->dyn_modes);
}

int failing_starpu_task_submit(struct starpu_task *t)
{
    hand_over(t);
    return starpu_task_submit(t);
}

void failing_starpu_task_destroy(struct starpu_task *t)
{
    hand_over(t);
    starpu_task_destroy(t);
}

/* ---- for tests ---- */

/* jansson, a shared library, can be told. */
void failing_alloc_begin(long n, bool all_after)
{
    json_set_alloc_funcs(failing_malloc, failing_free);
    forget_all();
    plan.n = n;
    plan.all_after = all_after;
    plan.count = plan.failures = 0;
    plan.wanted = 0;
    plan.on = true;
}

long failing_alloc_end(void)
{
    plan.on = false;
    return plan.count;
}

long failing_alloc_failures(void)
{
    return plan.failures;
}

size_t failing_alloc_wanted(void)
{
    return plan.wanted;
}

long failing_alloc_left(char *text, size_t size)
{
    const struct block *first = NULL;
    long n = 0;

    pthread_mutex_lock(&lock);
    for (int i = 0; i < CHAINS; i++) {
        for (const struct block *b = chains[i]; b; b = b->next) {
            n++;
            if (!first || b->number < first->number)
                first = b;
        }
    }
    if (first)
        snprintf(text, size, "%zu bytes of allocation %ld", first->bytes, first->number);
    pthread_mutex_unlock(&lock);
    return n;
}

void failing_alloc_begin_everywhere(long n)
{
    everywhere.n = n;
    everywhere.count = everywhere.failures = 0;
    __atomic_store_n(&everywhere.on, true, __ATOMIC_RELEASE);
}

long failing_alloc_end_everywhere(long *failures)
{
    __atomic_store_n(&everywhere.on, false, __ATOMIC_RELEASE);
    *failures = __atomic_load_n(&everywhere.failures, __ATOMIC_RELAXED);
    return __atomic_load_n(&everywhere.count, __ATOMIC_RELAXED);
}

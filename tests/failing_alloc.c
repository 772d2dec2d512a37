/* SPDX-License-Identifier: Apache-2.0 */
/* failing_alloc.c - see failing_alloc.h. */
#include "tests/failing_alloc.h"

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

static _Thread_local struct {
    bool on, all_after;
    long n, count, failures;
} plan;

static bool fails(void)
{
    bool fail;

    if (!plan.on)
        return false;
    plan.count++;
    fail = plan.n > 0 && (plan.all_after ? plan.count >= plan.n : plan.count == plan.n);
    plan.failures += fail;
    if (fail)
        errno = ENOMEM;
    return fail;
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

void *failing_malloc(size_t n)
{
    return fails() ? NULL : malloc(n);
}

void *failing_calloc(size_t n, size_t size)
{
    return fails() ? NULL : calloc(n, size);
}

void *failing_realloc(void *p, size_t n)
{
    return fails() ? NULL : realloc(p, n);
}

char *failing_strdup(const char *s)
{
    return fails() ? NULL : strdup(s);
}

char *failing_strndup(const char *s, size_t n)
{
    return fails() ? NULL : strndup(s, n);
}

int failing_asprintf(char **text, const char *format, ...)
{
    va_list ap;
    int n;

    if (fails())
        return -1;
    va_start(ap, format);
    n = vasprintf(text, format, ap);
    va_end(ap);
    return n;
}

ssize_t failing_getline(char **line, size_t *room, FILE *f)
{
    return fails() ? -1 : getline(line, room, f);
}

/* What getline() may be in the end. */
ssize_t failing_getdelim(char **line, size_t *room, int end, FILE *f)
{
    return fails() ? -1 : getdelim(line, room, end, f);
}

FILE *failing_fopen(const char *path, const char *mode)
{
    return fails() ? NULL : fopen(path, mode);
}

FILE *failing_fdopen(int fd, const char *mode)
{
    return fails() ? NULL : fdopen(fd, mode);
}

FILE *failing_open_memstream(char **text, size_t *size)
{
    return fails() ? NULL : open_memstream(text, size);
}

/* The memory of tensors. */
int failing_starpu_malloc_flags(void **p, size_t n, int flags)
{
    return fails() ? -ENOMEM : starpu_malloc_flags(p, n, flags);
}

/* ---- for tests ---- */

/* jansson, a shared library, can be told. */
void failing_alloc_begin(long n, bool all_after)
{
    json_set_alloc_funcs(failing_malloc, free);
    plan.n = n;
    plan.all_after = all_after;
    plan.count = plan.failures = 0;
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failing_program.c - part of programs whose memory runs out (tests/failing_alloc.h): the n-th
 * allocation of the main thread fails, n being what FAILING_ALLOCATION says (0: none), and the file
 * that ALLOCATIONS names, if it does, gets how many there were. Those of jansson, many and small,
 * count if FAILING_JSON is set.
 */
#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/failing_alloc.h"

static json_malloc_t allocate = malloc;

static void *allocate_piece(size_t n)
{
    return allocate(n);
}

/*
 * jansson's reader ends the process by an assertion where memory is short for a word that it reads:
 * its pieces are spared, in the library too, where these are found before its own.
 */
json_t *json_loadb(const char *text, size_t n, size_t flags, json_error_t *error)
{
    json_t *(*load)(const char *, size_t, size_t, json_error_t *);
    json_malloc_t before = allocate;
    void *found = dlsym(RTLD_NEXT, "json_loadb");
    json_t *value;

    memcpy(&load, &found, sizeof load);
    allocate = malloc;
    value = load(text, n, flags, error);
    allocate = before;
    return value;
}

json_t *json_loads(const char *text, size_t flags, json_error_t *error)
{
    return json_loadb(text, strlen(text), flags, error);
}

static void end(void)
{
    const char *path = getenv("ALLOCATIONS");
    long n = failing_alloc_end();
    FILE *f = path ? fopen(path, "w") : NULL;

    if (!f)
        return;
    fprintf(f, "%ld\n", n);
    fclose(f);
}

__attribute__((constructor)) static void begin(void)
{
    const char *n = getenv("FAILING_ALLOCATION");

    if (!n)
        return;
    atexit(end);
    failing_alloc_begin(atol(n), false);
    json_get_alloc_funcs(&allocate, NULL);
    if (!getenv("FAILING_JSON"))
        allocate = malloc;
    json_set_alloc_funcs(allocate_piece, free);
}

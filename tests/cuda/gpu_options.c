/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_options.c - what tests choose, what is wrong, and what was done. */
#include "tests/cuda/gpu.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gpu_counts gpu_counts;
static struct gpu_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

void gpu_complain(const char *format, ...)
{
    va_list ap;

    fflush(stdout);
    fputs("stand-in GPU: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}

void gpu_count(long *counter, long n)
{
    __atomic_add_fetch(counter, n, __ATOMIC_RELAXED);
}

/* ---- reading ---- */

static void read_fault(struct gpu_fault *fault, const char *text)
{
    fault->at = atol(text);
    fault->lasting = strchr(text, '+') != NULL;
}

/* "64" or "64:32": of each device; the last one's are those of all others. */
static void read_list(const char *text, size_t unit, size_t *sizes, int *numbers)
{
    for (int i = 0; i < GPU_MOST; i++) {
        double value = atof(text);
        const char *next = strchr(text, ':');

        if (sizes)
            sizes[i] = (size_t)(value * (double)unit);
        else
            numbers[i] = (int)value;
        text = next ? next + 1 : text;
    }
}

static void read_option(const char *name, char *value)
{
    if (strcmp(name, "devices") == 0)
        options.devices = atoi(value);
    else if (strcmp(name, "memory") == 0)
        read_list(value, 1 << 20, options.memory, NULL);
    else if (strcmp(name, "slow") == 0)
        read_list(value, 1, NULL, options.slow);
    else if (strcmp(name, "seed") == 0)
        options.seed = (unsigned)atol(value);
    else if (strcmp(name, "late") == 0)
        options.late = atoi(value);
    else if (strcmp(name, "malloc_fails") == 0)
        read_fault(&options.malloc_fails, value);
    else if (strcmp(name, "launch_fails") == 0)
        read_fault(&options.launch_fails, value);
    else if (strcmp(name, "product_fails") == 0)
        read_fault(&options.product_fails, value);
    else if (strcmp(name, "lost") == 0)
        read_fault(&options.lost, value);
    else if (strcmp(name, "check_nvrtc") == 0)
        options.check_nvrtc = strdup(value);
    else if (strcmp(name, "report") == 0)
        options.report = strdup(value);
    else
        gpu_complain("$CAVS_STAND_IN: there is no %s", name);
}

static void write_report(void);

static void read_options(void)
{
    const char *text = getenv("CAVS_STAND_IN");
    char *copy = strdup(text ? text : ""), *rest = copy;

    options = (struct gpu_options){.devices = 1, .seed = 1, .late = 100};
    for (int i = 0; i < GPU_MOST; i++)
        options.memory[i] = (size_t)256 << 20;
    for (char *word; (word = strsep(&rest, " ")) != NULL;) {
        char *value = strchr(word, '=');

        if (!value)
            continue;
        *value++ = 0;
        read_option(word, value);
    }
    free(copy);
    if (options.devices < 0 || options.devices > GPU_MOST)
        gpu_complain("$CAVS_STAND_IN: 0 to %d devices", GPU_MOST);
    if (options.report)
        atexit(write_report);
}

const struct gpu_options *gpu_options(void)
{
    pthread_once(&once, read_options);
    return &options;
}

bool gpu_comes(const struct gpu_fault *fault)
{
    long now;

    if (!fault->at)
        return false;
    now = __atomic_add_fetch(&((struct gpu_fault *)fault)->seen, 1, __ATOMIC_RELAXED);
    return fault->lasting ? now >= fault->at : now == fault->at;
}

/* ---- the report ---- */

static void write_report(void)
{
    const struct gpu_counts *c = &gpu_counts;
    FILE *f = fopen(options.report, "w");

    if (!f)
        gpu_complain("the report %s cannot be written", options.report);
    fprintf(f, "launches %ld\nproducts %ld\nproducts_tf32 %ld\nproducts_bf16 %ld\n", c->launches,
            c->products, c->products_tf32, c->products_bf16);
    fprintf(f, "copies_waited %ld\nwaits %ld\n", c->copies_waited, c->waits);
    fprintf(f, "copies_up %ld\ncopies_down %ld\ncopies_peer %ld\n", c->copies_up, c->copies_down,
            c->copies_peer);
    fprintf(f, "bytes_up %ld\nbytes_down %ld\n", c->bytes_up, c->bytes_down);
    fprintf(f, "unpinned_up %ld\nunpinned_down %ld\nhost_allocations %ld\n", c->unpinned_up,
            c->unpinned_down, c->host_allocations);
    fprintf(f, "allocations %ld\nfrees %ld\ntexts %ld\nmodules %ld\n", c->allocations, c->frees,
            c->texts, c->modules);
    for (int i = 0; i < options.devices; i++)
        fprintf(f, "bytes%d %ld\nmost_bytes%d %ld\nblocks%d %ld\n", i, c->bytes[i], i,
                c->most_bytes[i], i, c->blocks[i]);
    fclose(f);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_memory.c - see gpu.h.
 *
 * A device has a range of addresses that nobody may touch, and as large a range inside it, where
 * kernels and copies find what is at an address.  A page between allocations, and what is not
 * allocated, is closed to them, too.  Addresses are not used again before all others were: who uses
 * what was freed is found.  New memory is full of NaN.
 */
#include "tests/cuda/gpu.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, GRAIN = 512, ROOM = 8 /* addresses for each byte of memory */ };

struct allocation {
    struct allocation *next; /* in the order of addresses */
    char *p;
    size_t bytes, from, pages; /* pages from there on, without the closed one */
};
struct memory {
    char *outside, *inside;
    size_t pages, next, used;
    struct allocation *first;
};

static struct memory memories[GPU_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static char *reserve(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        gpu_complain("there are no %zu bytes of addresses", bytes);
    return p;
}

static bool is_inside(const struct memory *m, const char *p)
{
    return m->inside && p >= m->inside && p < m->inside + m->pages * PAGE;
}

/* Who touches what is closed.  Other faults go their way. */
static void explain_fault(int number, siginfo_t *info, void *context)
{
    int device = gpu_device_of(info->si_addr);

    (void)context;
    signal(number, SIG_DFL);
    if (device >= 0)
        gpu_complain("the host touches memory of device %d, at %p", device, info->si_addr);
    for (int i = 0; i < GPU_MOST; i++)
        if (is_inside(&memories[i], info->si_addr))
            gpu_complain("a kernel left its memory on device %d, or uses what was freed", i);
}

static void watch_faults(void)
{
    static bool watched;
    struct sigaction action = {.sa_sigaction = explain_fault, .sa_flags = SA_SIGINFO};

    if (!watched)
        sigaction(SIGSEGV, &action, NULL);
    watched = true;
}

static struct memory *memory_of(int device)
{
    struct memory *m = &memories[device];

    if (!m->outside) {
        watch_faults();
        m->pages = gpu_options()->memory[device] / PAGE * ROOM + 64;
        m->inside = reserve(m->pages * PAGE);
        m->outside = reserve(m->pages * PAGE);
    }
    return m;
}

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* The link where pages can be put from page `from` on; *at: the first of them.  NULL: nowhere. */
static struct allocation **gap(struct memory *m, size_t from, size_t pages, size_t *at)
{
    struct allocation **link = &m->first;

    *at = from;
    for (; *link && (*at + pages + 1 > (*link)->from); link = &(*link)->next)
        if ((*link)->from + (*link)->pages + 1 > *at)
            *at = (*link)->from + (*link)->pages + 1;
    return *at + pages + 1 <= m->pages ? link : NULL;
}

static void *take(struct memory *m, size_t bytes)
{
    size_t pages = round_up(bytes, PAGE) / PAGE, at;
    struct allocation **link = gap(m, m->next, pages, &at), *a;

    if (!link)
        link = gap(m, 0, pages, &at);
    if (!link)
        gpu_complain("addresses have run out: raise ROOM");
    a = malloc(sizeof *a);
    if (!a || mprotect(m->inside + at * PAGE, pages * PAGE, PROT_READ | PROT_WRITE))
        gpu_complain("the machine has no %zu bytes", bytes);
    *a = (struct allocation){.next = *link, .bytes = bytes, .from = at, .pages = pages};
    /* at the end of its pages, so that what is behind it is closed */
    a->p = m->outside + at * PAGE + (pages * PAGE - round_up(bytes, 256));
    *link = a;
    m->next = at + pages + 1;
    m->used += round_up(bytes, GRAIN);
    memset(m->inside + at * PAGE, 0xff, pages * PAGE);
    return a->p;
}

void *gpu_allocate(int device, size_t bytes)
{
    struct memory *m;
    void *p = NULL;

    pthread_mutex_lock(&lock);
    m = memory_of(device);
    if (bytes > 0 && m->used + round_up(bytes, GRAIN) <= gpu_options()->memory[device]) {
        p = take(m, bytes);
        gpu_count(&gpu_counts.allocations, 1);
        gpu_counts.bytes[device] = (long)m->used;
        if (gpu_counts.most_bytes[device] < (long)m->used)
            gpu_counts.most_bytes[device] = (long)m->used;
    }
    pthread_mutex_unlock(&lock);
    return p;
}

static void drop(struct memory *m, struct allocation **link)
{
    struct allocation *a = *link;
    char *inside = m->inside + a->from * PAGE;

    *link = a->next;
    m->used -= round_up(a->bytes, GRAIN);
    gpu_counts.bytes[m - memories] = (long)m->used;
    gpu_count(&gpu_counts.frees, 1);
    madvise(inside, a->pages * PAGE, MADV_DONTNEED);
    mprotect(inside, a->pages * PAGE, PROT_NONE);
    free(a);
}

int gpu_device_of(const void *p)
{
    for (int i = 0; i < GPU_MOST; i++) {
        const struct memory *m = &memories[i];

        if (m->outside && (const char *)p >= m->outside &&
            (const char *)p < m->outside + m->pages * PAGE)
            return i;
    }
    return -1;
}

/* The link of the allocation that p is in; of NULL otherwise. */
static struct allocation **holder(struct memory *m, const void *p)
{
    struct allocation **link = &m->first;

    while (*link &&
           ((const char *)p < (*link)->p || (const char *)p >= (*link)->p + (*link)->bytes))
        link = &(*link)->next;
    return link;
}

bool gpu_release(void *p)
{
    int device = gpu_device_of(p);
    bool done = false;

    if (device < 0)
        return false;
    pthread_mutex_lock(&lock);
    struct allocation **link = holder(&memories[device], p);
    if (*link && (*link)->p == p) {
        drop(&memories[device], link);
        done = true;
    }
    pthread_mutex_unlock(&lock);
    return done;
}

void gpu_release_all(int device)
{
    pthread_mutex_lock(&lock);
    while (memories[device].first)
        drop(&memories[device], &memories[device].first);
    pthread_mutex_unlock(&lock);
}

size_t gpu_free_bytes(int device)
{
    size_t bytes;

    pthread_mutex_lock(&lock);
    bytes = gpu_options()->memory[device] - memory_of(device)->used;
    pthread_mutex_unlock(&lock);
    return bytes;
}

bool gpu_is_allocated(int device, const void *p, size_t bytes)
{
    bool inside;

    if (gpu_device_of(p) != device)
        return false;
    pthread_mutex_lock(&lock);
    const struct allocation *a = *holder(&memories[device], p);
    inside = a && (const char *)p + bytes <= a->p + a->bytes;
    pthread_mutex_unlock(&lock);
    return inside;
}

void *gpu_inside(const void *p)
{
    const struct memory *m = &memories[gpu_device_of(p)];

    return m->inside + ((const char *)p - m->outside);
}

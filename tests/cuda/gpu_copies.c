/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_copies.c - see gpu.h.
 *
 * From and to pinned memory of the host, bytes are moved when the stream gets there: who changes or
 * reads them before has what it deserves (what is copied down is NaN until then).  Other memory is
 * read at once, and written before the call returns, as on a GPU.
 */
#include "tests/cuda/gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- pinned memory ---- */

struct range {
    struct range *next;
    const char *p;
    size_t bytes;
};
static struct range *pinned;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void gpu_pin(const void *p, size_t bytes)
{
    struct range *r = malloc(sizeof *r);

    if (!r)
        gpu_complain("the machine has no memory");
    pthread_mutex_lock(&lock);
    *r = (struct range){pinned, p, bytes};
    pinned = r;
    pthread_mutex_unlock(&lock);
}

bool gpu_unpin(const void *p)
{
    struct range **link = &pinned, *r;

    pthread_mutex_lock(&lock);
    while (*link && (*link)->p != p)
        link = &(*link)->next;
    r = *link;
    if (r)
        *link = r->next;
    pthread_mutex_unlock(&lock);
    free(r);
    return r != NULL;
}

static bool is_pinned(const void *p, size_t bytes)
{
    const struct range *r;

    pthread_mutex_lock(&lock);
    for (r = pinned; r; r = r->next)
        if ((const char *)p >= r->p && (const char *)p + bytes <= r->p + r->bytes)
            break;
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

/* ---- copies ---- */

struct copying {
    struct gpu_op op;
    struct gpu_copy copy;
    void *staged; /* to be freed */
};

static void move(const struct gpu_copy *c)
{
    for (size_t i = 0; i < c->height; i++)
        memcpy((char *)c->to + i * c->to_pitch, (const char *)c->from + i * c->from_pitch,
               c->width);
}

static size_t reach(const struct gpu_copy *c, size_t pitch)
{
    return c->height > 0 ? (c->height - 1) * pitch + c->width : 0;
}

/* The device's side of a copy, which is still there. */
static void *entered(const void *p, size_t bytes)
{
    int device = gpu_device_of(p);

    if (device < 0)
        return (void *)p;
    if (!gpu_is_allocated(device, p, bytes))
        gpu_complain("%zu bytes at %p of device %d were freed before a copy of them was done",
                     bytes, p, device);
    return gpu_inside(p);
}

/* Copies that will still read pinned memory. */
static long reading;

static void run_copy(struct gpu_op *op)
{
    struct copying *c = (struct copying *)op;
    struct gpu_copy copy = c->copy;
    bool reads = gpu_device_of(copy.from) < 0 && !c->staged;

    copy.to = entered(copy.to, reach(&copy, copy.to_pitch));
    copy.from = entered(copy.from, reach(&copy, copy.from_pitch));
    move(&copy);
    free(c->staged);
    if (reads)
        __atomic_sub_fetch(&reading, 1, __ATOMIC_RELEASE);
}

/* What the host may change after the call. */
static void stage(struct copying *c)
{
    struct gpu_copy to = c->copy;

    c->staged = to.to = malloc(to.width * to.height + 1);
    if (!to.to)
        gpu_complain("the machine has no %zu bytes", to.width * to.height);
    to.to_pitch = to.width;
    move(&to);
    c->copy.from = c->staged;
    c->copy.from_pitch = to.width;
}

/* Unless what is there may still have to be copied up. */
static void spoil(const struct gpu_copy *c)
{
    if (__atomic_load_n(&reading, __ATOMIC_ACQUIRE) > 0)
        return;
    for (size_t i = 0; i < c->height; i++)
        memset((char *)c->to + i * c->to_pitch, 0xff, c->width);
}

static bool is_there(const void *p, size_t bytes)
{
    int device = gpu_device_of(p);

    return device < 0 || gpu_is_allocated(device, p, bytes);
}

bool gpu_copy(int device, struct gpu_stream *s, const struct gpu_copy *copy)
{
    int to = gpu_device_of(copy->to), from = gpu_device_of(copy->from);
    struct copying *c;
    bool wait = false;

    if ((to < 0 && from < 0) || !is_there(copy->to, reach(copy, copy->to_pitch)) ||
        !is_there(copy->from, reach(copy, copy->from_pitch)))
        return false;
    c = gpu_op(sizeof *c, run_copy);
    c->copy = *copy;
    gpu_count(from < 0 ? &gpu_counts.copies_up
              : to < 0 ? &gpu_counts.copies_down
                       : &gpu_counts.copies_peer,
              1);
    if (to < 0 || from < 0)
        gpu_count(to < 0 ? &gpu_counts.bytes_down : &gpu_counts.bytes_up,
                  (long)(copy->width * copy->height));
    if (from < 0 && !is_pinned(copy->from, reach(copy, copy->from_pitch))) {
        stage(c);
        gpu_count(&gpu_counts.unpinned_up, 1);
    } else if (from < 0) {
        __atomic_add_fetch(&reading, 1, __ATOMIC_RELEASE);
    } else if (to < 0 && !is_pinned(copy->to, reach(copy, copy->to_pitch))) {
        wait = true;
        gpu_count(&gpu_counts.unpinned_down, 1);
    } else if (to < 0) {
        spoil(copy);
    }
    gpu_issue(device, s, c);
    if (wait)
        gpu_stream_wait(device, s);
    return true;
}

/* ---- filling ---- */

struct filling {
    struct gpu_op op;
    void *to;
    int byte;
    size_t bytes;
};

static void run_fill(struct gpu_op *op)
{
    struct filling *f = (struct filling *)op;

    memset(entered(f->to, f->bytes), f->byte, f->bytes);
}

void gpu_fill(int device, struct gpu_stream *s, void *to, int byte, size_t bytes)
{
    struct filling *f = gpu_op(sizeof *f, run_fill);

    f->to = to;
    f->byte = byte;
    f->bytes = bytes;
    gpu_issue(device, s, f);
}

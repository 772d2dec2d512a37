/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_streams.c - see gpu.h.
 *
 * Each device has a thread that works its streams off: in the order of each stream, and of those
 * whose next operation is due, whichever the seed says.  An operation is due some time after it was
 * issued, or as soon as somebody waits for the device.  So what relies on an order that no stream
 * or event gives fails sooner or later.
 */
#include "tests/cuda/gpu.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct gpu_stream {
    struct gpu_stream *next;
    int device;
    bool blocking; /* with regard to the default stream */
    struct gpu_op *first, *last;
    uint64_t issued, done;
};
struct gpu_event {
    uint64_t recorded, completed;
    int users; /* who made it, and operations that will complete it */
};
struct device {
    pthread_t thread;
    bool runs, lost, busy;
    pthread_cond_t work;
    struct gpu_stream by_default, *streams; /* all but the default one */
    int waiting;                            /* threads of the host */
    uint64_t random;
};

static struct device devices[GPU_MOST];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static uint64_t numbers;

int64_t gpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

/* ---- the device's thread ---- */

static bool has_older(const struct gpu_stream *s, uint64_t number)
{
    return s->first && s->first->number < number;
}

/* The default stream waits for what was issued before on blocking streams, and they for it. */
static bool is_held_up(const struct device *d, const struct gpu_stream *s)
{
    if (s != &d->by_default)
        return s->blocking && has_older(&d->by_default, s->first->number);
    for (const struct gpu_stream *o = d->streams; o; o = o->next)
        if (o->blocking && has_older(o, s->first->number))
            return true;
    return false;
}

/* One of the streams that may go on; NULL: none before *when. */
static struct gpu_stream *choose(struct device *d, int64_t *when)
{
    struct gpu_stream *chosen = NULL;
    int64_t now = gpu_now();
    unsigned n = 0;

    *when = INT64_MAX;
    for (struct gpu_stream *s = &d->by_default; s; s = s == &d->by_default ? d->streams : s->next) {
        if (!s->first || is_held_up(d, s))
            continue;
        if (!d->waiting && s->first->due > now) {
            *when = s->first->due < *when ? s->first->due : *when;
            continue;
        }
        if (random_number(&d->random) % ++n == 0)
            chosen = s;
    }
    return chosen;
}

static void sleep_until(struct device *d, int64_t when)
{
    struct timespec t = {.tv_sec = when / 1000000, .tv_nsec = when % 1000000 * 1000};

    if (when == INT64_MAX)
        pthread_cond_wait(&d->work, &lock);
    else
        pthread_cond_timedwait(&d->work, &lock, &t);
}

static void run_first(struct device *d, struct gpu_stream *s)
{
    struct gpu_op *op = s->first;
    int slow = gpu_options()->slow[op->device];

    d->busy = true;
    pthread_mutex_unlock(&lock);
    if (slow > 0)
        usleep((useconds_t)slow);
    op->run(op);
    pthread_mutex_lock(&lock);
    d->busy = false;
    s->first = op->next;
    s->done++;
    free(op);
    pthread_cond_broadcast(&done);
}

static void *work(void *arg)
{
    struct device *d = arg;
    int64_t when;

    pthread_mutex_lock(&lock);
    for (;;) {
        struct gpu_stream *s = choose(d, &when);

        if (s)
            run_first(d, s);
        else
            sleep_until(d, when);
    }
    return NULL;
}

/* ---- issuing ---- */

static struct device *device_at(int number)
{
    struct device *d = &devices[number];

    if (!d->runs) {
        d->runs = true;
        d->random = gpu_options()->seed * 0x9e3779b97f4a7c15u + (unsigned)number + 1;
        d->by_default.device = number;
        d->by_default.blocking = true;
        pthread_cond_init(&d->work, NULL);
        if (pthread_create(&d->thread, NULL, work, d))
            gpu_complain("there are no more threads");
        pthread_detach(d->thread);
    }
    return d;
}

void *gpu_op(size_t size, void (*run)(struct gpu_op *op))
{
    struct gpu_op *op = calloc(1, size);

    if (!op)
        gpu_complain("the machine has no %zu bytes", size);
    op->run = run;
    return op;
}

/* Most are late by little, some by much. */
static int64_t lateness(struct device *d)
{
    uint64_t most = (uint64_t)gpu_options()->late;

    if (random_number(&d->random) % 16 == 0)
        most *= 8;
    return most ? (int64_t)(random_number(&d->random) % most) : 0;
}

/* With the lock. */
static void issue(int device, struct gpu_stream *s, struct gpu_op *op)
{
    struct device *d = device_at(device);

    s = s ? s : &d->by_default;
    if (s->device != device)
        gpu_complain("work for device %d on a stream of device %d", device, s->device);
    op->device = device;
    op->number = ++numbers;
    op->due = gpu_now() + lateness(d);
    op->next = NULL;
    if (s->first)
        s->last->next = op;
    else
        s->first = op;
    s->last = op;
    s->issued++;
    pthread_cond_signal(&d->work);
}

void gpu_issue(int device, struct gpu_stream *stream, void *op)
{
    pthread_mutex_lock(&lock);
    issue(device, stream, op);
    pthread_mutex_unlock(&lock);
}

/* ---- streams ---- */

struct gpu_stream *gpu_stream_create(int device, bool blocking)
{
    struct gpu_stream *s = calloc(1, sizeof *s);

    if (!s)
        gpu_complain("the machine has no memory for a stream");
    s->device = device;
    s->blocking = blocking;
    pthread_mutex_lock(&lock);
    s->next = device_at(device)->streams;
    devices[device].streams = s;
    pthread_mutex_unlock(&lock);
    return s;
}

static struct gpu_stream *stream_at(int device, struct gpu_stream *s)
{
    return s ? s : &device_at(device)->by_default;
}

/* With the lock, until it has done what it had to do when the call came. */
static void wait_for(struct gpu_stream *s)
{
    uint64_t until = s->issued;
    struct device *d = &devices[s->device];

    d->waiting++;
    pthread_cond_signal(&d->work);
    while (s->done < until)
        pthread_cond_wait(&done, &lock);
    d->waiting--;
}

int gpu_stream_device(const struct gpu_stream *s)
{
    return s->device;
}

/* Who asks again and again leaves the core to who does the work. */
static bool polled(bool yes)
{
    if (!yes)
        sched_yield();
    return yes;
}

bool gpu_stream_done(int device, struct gpu_stream *s)
{
    bool yes;

    pthread_mutex_lock(&lock);
    s = stream_at(device, s);
    yes = s->done == s->issued;
    pthread_mutex_unlock(&lock);
    return polled(yes);
}

void gpu_stream_wait(int device, struct gpu_stream *s)
{
    pthread_mutex_lock(&lock);
    wait_for(stream_at(device, s));
    pthread_mutex_unlock(&lock);
}

static void unlink_stream(struct gpu_stream *s)
{
    struct gpu_stream **link = &devices[s->device].streams;

    while (*link && *link != s)
        link = &(*link)->next;
    if (!*link)
        gpu_complain("a stream is destroyed that is not there");
    *link = s->next;
    free(s);
}

void gpu_stream_destroy(struct gpu_stream *s)
{
    pthread_mutex_lock(&lock);
    wait_for(s);
    unlink_stream(s);
    pthread_mutex_unlock(&lock);
}

static void wait_for_all(int device)
{
    struct device *d = device_at(device);

    wait_for(&d->by_default);
    for (struct gpu_stream *s = d->streams; s; s = s->next)
        wait_for(s);
}

void gpu_wait(int device)
{
    pthread_mutex_lock(&lock);
    wait_for_all(device);
    pthread_mutex_unlock(&lock);
}

bool gpu_idle(int device)
{
    struct device *d = &devices[device];
    bool idle;

    pthread_mutex_lock(&lock);
    idle = !d->by_default.first && !d->busy;
    for (struct gpu_stream *s = d->streams; s && idle; s = s->next)
        idle = !s->first;
    pthread_mutex_unlock(&lock);
    return idle;
}

void gpu_reset(int device)
{
    pthread_mutex_lock(&lock);
    wait_for_all(device);
    while (devices[device].streams)
        unlink_stream(devices[device].streams);
    pthread_mutex_unlock(&lock);
    gpu_release_all(device);
}

/* ---- events ---- */

struct completion {
    struct gpu_op op;
    struct gpu_event *event;
    uint64_t number;
};

struct gpu_event *gpu_event_create(void)
{
    struct gpu_event *e = calloc(1, sizeof *e);

    if (!e)
        gpu_complain("the machine has no memory for an event");
    e->users = 1;
    return e;
}

static void leave(struct gpu_event *e)
{
    if (--e->users == 0)
        free(e);
}

static void complete(struct gpu_op *op)
{
    struct completion *c = (struct completion *)op;

    pthread_mutex_lock(&lock);
    c->event->completed = c->number;
    leave(c->event);
    pthread_mutex_unlock(&lock);
}

void gpu_event_destroy(struct gpu_event *e)
{
    pthread_mutex_lock(&lock);
    leave(e);
    pthread_mutex_unlock(&lock);
}

void gpu_event_record(struct gpu_event *e, int device, struct gpu_stream *s)
{
    struct completion *c = gpu_op(sizeof *c, complete);

    pthread_mutex_lock(&lock);
    c->event = e;
    e->users++;
    issue(device, s, &c->op);
    e->recorded = c->number = c->op.number;
    pthread_mutex_unlock(&lock);
}

bool gpu_event_done(struct gpu_event *e)
{
    bool yes;

    pthread_mutex_lock(&lock);
    yes = e->completed >= e->recorded;
    pthread_mutex_unlock(&lock);
    return polled(yes);
}

void gpu_event_wait(struct gpu_event *e)
{
    uint64_t until;

    pthread_mutex_lock(&lock);
    until = e->recorded;
    while (e->completed < until)
        pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- losing one ---- */

void gpu_lose(int device)
{
    __atomic_store_n(&devices[device].lost, true, __ATOMIC_RELEASE);
}

bool gpu_lost(int device)
{
    return __atomic_load_n(&devices[device].lost, __ATOMIC_ACQUIRE);
}

/* ---- choosing one ---- */

static _Thread_local int current;

int gpu_current(void)
{
    return current;
}

void gpu_choose(int device)
{
    current = device;
}

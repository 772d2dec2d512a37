/* SPDX-License-Identifier: Apache-2.0 */
/*
 * collecting.c - whether a device gets the launches of small V_t at once: it does, if a chain of
 * launches is then done sooner. That is measured when a device is opened first, and kept beside the
 * compiled kernels.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codelets/device/device.h"

enum { LAUNCHES = 24, ROUNDS = 5, FLOATS = 64 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Copies a row. */
static int launch_small(struct cavs__device *d, void *memory)
{
    const struct cavs__device_view from = {{memory, 0}, FLOATS, -1, -1, FLOATS},
                                   to = {{memory, FLOATS}, FLOATS, -1, -1, FLOATS};
    struct cavs__launch l;

    cavs__launch_items(&l, d, CAVS__DEVICE_copy_rows, FLOATS);
    cavs__argument_pointer(&l, memory);
    cavs__argument_int(&l, 1);
    cavs__argument_int(&l, FLOATS);
    cavs__argument_view(&l, &from);
    cavs__argument_view(&l, &to);
    return cavs__launch(d, &l);
}

/* The least of some rounds, in seconds; below 0: it cannot be done. The first, in which things are
 * made, does not count. */
static double seconds(struct cavs__device *d, void *memory, bool collected)
{
    double least = -1;

    for (int round = 0; round <= ROUNDS; round++) {
        double start = now(), took;

        if (collected && !d->driver->collect(d))
            return -1;
        for (int i = 0; i < LAUNCHES; i++)
            launch_small(d, memory);
        d->driver->flush(d);
        if (d->driver->finish(d))
            return -1;
        took = now() - start;
        if (round == 1 || (round > 1 && took < least))
            least = took;
    }
    return least;
}

static bool measure(struct cavs__device *d)
{
    const struct cavs__launch_counts before = *cavs__launched_here();
    const float zeros[2 * FLOATS] = {0};
    void *memory = d->driver->allocate(d, sizeof zeros, zeros);
    double apart, collected;

    if (!memory)
        return false;
    apart = seconds(d, memory, false);
    collected = seconds(d, memory, true);
    d->driver->release(d, memory);
    *cavs__launched_here() = before;
    return collected > 0 && collected < apart;
}

/* What was measured when the device was opened first; measured now, if that is not known. */
static bool is_faster(struct cavs__device *d)
{
    char identity[sizeof d->name + 64];
    size_t size = 0;
    bool faster, *known;

    snprintf(identity, sizeof identity, "collecting on %s %s", d->backend->name, d->name);
    known = cavs__device_cache_get(identity, cavs__device_kernels_text, &size);
    faster = known && size == sizeof faster ? *known : measure(d);
    if (!known)
        cavs__device_cache_put(identity, cavs__device_kernels_text, &faster, sizeof faster);
    free(known);
    return faster;
}

void cavs__device_choose_collecting(struct cavs__device *d)
{
    const char *choice = getenv("CAVS_DEVICE_GRAPHS");

    d->collects = d->driver->collect && (!choice || strcmp(choice, "never") != 0) &&
                  ((choice && !strcmp(choice, "always")) || is_faster(d));
}

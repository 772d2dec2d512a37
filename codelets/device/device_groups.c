/* SPDX-License-Identifier: Apache-2.0 */
/* device_groups.c - fused groups on devices: all groups of a session are one module a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device/device.h"
#include "codelets/groups/ew_internal.h"

struct cavs__device_groups {
    int n;
    char *source;
    void *module[CAVS__MAX_DEVICES];
    void **kernels; /* [CAVS__MAX_DEVICES][n] */
};

size_t cavs__device_group_bytes(int nviews)
{
    return sizeof(void *) + sizeof(int64_t) + (size_t)nviews * 24;
}

static void **kernels_of(const struct cavs__device_groups *g, const struct cavs__device *d)
{
    return g->kernels + (size_t)d->number * (size_t)g->n;
}

static void build(struct cavs__device *d, void *arg)
{
    struct cavs__device_groups *g = arg;
    char name[32];

    g->module[d->number] = d->driver->build(d, g->source);
    for (int i = 0; i < g->n && g->module[d->number]; i++) {
        snprintf(name, sizeof name, "group%d", i);
        kernels_of(g, d)[i] = d->driver->find(d, g->module[d->number], name);
        if (!kernels_of(g, d)[i])
            return;
    }
}

static void unload(struct cavs__device *d, void *arg)
{
    struct cavs__device_groups *g = arg;

    if (g->module[d->number])
        d->driver->unload(d, g->module[d->number], g->n, kernels_of(g, d));
}

struct cavs__device_groups *cavs__device_groups_create(int n,
                                                       struct cavs__ew_program *const *programs)
{
    struct cavs__device_groups *g = calloc(1, sizeof *g);

    if (!g)
        return NULL;
    g->n = n;
    g->source = cavs__device_groups_text(n, programs);
    g->kernels = calloc((size_t)n * CAVS__MAX_DEVICES + 1, sizeof *g->kernels);
    if (!g->source || !g->kernels) {
        cavs__device_groups_destroy(g);
        return NULL;
    }
    cavs__devices_each(build, g);
    free(g->source);
    g->source = NULL;
    for (int i = 0; i < n; i++) {
        programs[i]->elsewhere = g;
        programs[i]->number_there = i;
    }
    return g;
}

void cavs__device_groups_destroy(struct cavs__device_groups *g)
{
    if (!g)
        return;
    if (g->kernels)
        cavs__devices_each_opened(unload, g); /* those of a device that has failed since, too */
    free(g->source);
    free(g->kernels);
    free(g);
}

void *cavs__device_group(const struct cavs__ew_program *p, const struct cavs__device *d)
{
    return p->elsewhere ? kernels_of(p->elsewhere, d)[p->number_there] : NULL;
}

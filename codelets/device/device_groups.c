/* SPDX-License-Identifier: Apache-2.0 */
/* device_groups.c - fused groups and sequences on devices: all of a session are one module a
 * device, and those that its plan grows by another each time. */
#include <stdio.h>
#include <stdlib.h>

#include "codelets/device/device.h"
#include "codelets/groups/ew_internal.h"

struct cavs__device_groups {
    struct cavs__device_groups *before; /* of the same session; NULL: none */
    int ngroups, n;                     /* groups; and sequences, behind them */
    char *source;
    int *first; /* [n] of those that are equal: it has their kernel */
    void *module[CAVS__MAX_DEVICES];
    void **kernels; /* [CAVS__MAX_DEVICES][n] */
};

size_t cavs__device_group_bytes(int nviews)
{
    return sizeof(void *) + 2 * sizeof(int64_t) + (size_t)nviews * 24;
}

static void **kernels_of(const struct cavs__device_groups *g, const struct cavs__device *d)
{
    return g->kernels + (size_t)d->number * (size_t)g->n;
}

static void build(struct cavs__device *d, void *arg)
{
    struct cavs__device_groups *g = arg;
    char name[32];

    g->module[d->number] = cavs__device_build(d, g->source);
    for (int i = 0; i < g->n && g->module[d->number]; i++) {
        if (g->first[i] != i)
            continue;
        if (i < g->ngroups)
            snprintf(name, sizeof name, "group%d", i);
        else
            snprintf(name, sizeof name, "sequence%d", i - g->ngroups);
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

/* Groups and sequences learn what number they have here. */
static void refer(const struct cavs__device_groups *g, const struct cavs__device_texts *of)
{
    for (int i = 0; i < of->nprograms; i++) {
        of->programs[i]->elsewhere = g;
        of->programs[i]->number_there = g->first[i];
    }
    for (int i = 0; i < of->nsequences; i++) {
        of->sequences[i]->elsewhere = g;
        of->sequences[i]->number_there = g->first[g->ngroups + i];
    }
}

/* Those that have kernels already go from the lists. */
static void leave_new(struct cavs__device_texts *of)
{
    int programs = 0, sequences = 0;

    for (int i = 0; i < of->nprograms; i++) {
        if (!of->programs[i]->elsewhere)
            of->programs[programs++] = of->programs[i];
    }
    for (int i = 0; i < of->nsequences; i++) {
        if (!of->sequences[i]->elsewhere)
            of->sequences[sequences++] = of->sequences[i];
    }
    of->nprograms = programs;
    of->nsequences = sequences;
}

static void destroy(struct cavs__device_groups *g)
{
    if (g->kernels)
        cavs__devices_each_opened(unload, g); /* those of a device that has failed since, too */
    free(g->source);
    free(g->first);
    free(g->kernels);
    free(g);
}

struct cavs__device_groups *cavs__device_groups_create(struct cavs__device_groups *before,
                                                       struct cavs__device_texts *of)
{
    struct cavs__device_groups *g;

    leave_new(of);
    if (before && of->nprograms + of->nsequences == 0)
        return before;
    g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->ngroups = of->nprograms;
    g->n = of->nprograms + of->nsequences;
    g->source = cavs__device_groups_text(of);
    g->first = calloc((size_t)g->n + 1, sizeof *g->first);
    g->kernels = calloc((size_t)g->n * CAVS__MAX_DEVICES + 1, sizeof *g->kernels);
    if (!g->source || !g->first || !g->kernels || cavs__device_find_equal(of, g->first)) {
        destroy(g);
        return NULL;
    }
    g->before = before;
    if (g->n > 0)
        cavs__devices_each(build, g);
    free(g->source);
    g->source = NULL;
    refer(g, of);
    return g;
}

void cavs__device_compile_ahead(const char *text)
{
    for (int i = 0; i < CAVS__MAX_DEVICES; i++) {
        const struct cavs__device *d = cavs__device_at(i);

        if (d)
            cavs__device_build_ahead(d, text);
    }
}

void cavs__device_groups_destroy(struct cavs__device_groups *g)
{
    while (g) {
        struct cavs__device_groups *before = g->before;

        destroy(g);
        g = before;
    }
}

void *cavs__device_group(const struct cavs__ew_program *p, const struct cavs__device *d)
{
    return p->elsewhere ? kernels_of(p->elsewhere, d)[p->number_there] : NULL;
}

void *cavs__device_sequence_kernel(const struct cavs__sequence *q, const struct cavs__device *d)
{
    return q->elsewhere ? kernels_of(q->elsewhere, d)[q->number_there] : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * homes.c - where shards live when there are devices.
 *
 * Every device is the home of one shard, the CPU workers together are the home of one shard each.
 * The tasks of a shard stay at its home, so that its tensors are never moved; parameters and their
 * gradients travel once a batch.  home_shares.c says how large shards are.
 *
 * Several ranks cut a batch alike, whatever devices each has.  The devices of a rank are homes of
 * its shards then, which they take in turn, and how fast they are decides how many shards the rank
 * gets (exchange_pace.c).
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device_set.h"
#include "core/base/error.h"
#include "core/base/notice.h"
#include "core/run/engine.h"

/* A shard may have this part of a device's memory: its tensors are there all together, beside
 * parameters, scratch, and what is on its way. */
#define CROWD 4
/* And this many times as much at most: else CPU workers compute it. A task wants nearly all of a
 * shard at once, and StarPU would look for memory for ever. */
#define MOST_ROOM 2

static void add_device(struct cavs__homes *hs, int number)
{
    struct cavs__device_facts f = cavs__devices->facts(number);
    struct cavs__home *h = &hs->home[hs->n++];

    *h = (struct cavs__home){.where = f.where, .device = number, .name = f.name, .node = f.node};
    memcpy(h->workers, f.workers, sizeof h->workers);
    h->room = f.bytes > 0 ? (double)f.bytes / CROWD : 0;
}

static void add_cpus(struct cavs__homes *hs)
{
    struct cavs__home *h = &hs->home[hs->n++];

    *h = (struct cavs__home){.where = STARPU_CPU, .device = -1, .name = "CPU workers"};
}

/* Do the CPU workers have a home?  It is the last one then. */
static bool cpus_are_a_home(const struct cavs__homes *hs)
{
    return hs->home[hs->n - 1].device < 0;
}

int cavs__device_homes(const struct cavs__homes *hs)
{
    return hs->n - cpus_are_a_home(hs);
}

/* Gives one shard to each device, and the others to the CPU workers; without those they go round.
 * Devices have some to spare for batches that are larger than their memory.  Returns how many
 * shards there are. */
static int deal_shards(struct cavs__homes *hs, int shards)
{
    bool cpus = cpus_are_a_home(hs);
    int devices = cavs__device_homes(hs), at = 0;

    for (int i = 0; i < hs->n; i++) {
        struct cavs__home *h = &hs->home[i];

        h->used = !cpus         ? shards / devices + (i < shards % devices)
                  : i < devices ? 1
                                : shards - devices;
        h->first = at;
        h->n = h->used + (i < devices ? CAVS__SPARE_SHARDS : 0);
        at += h->n;
    }
    return at;
}

/* The home of a shard, if it has room there. */
static int own_home(const struct cavs__homes *hs, int shard)
{
    int i = 0;

    if (!hs->cut)
        return shard % cavs__device_homes(hs);
    while (shard >= hs->home[i].first + hs->home[i].n)
        i++;
    return i;
}

/* A chain that follows its eager work block by block begins earlier, but on a device not by more
 * than the tasks of the blocks cost. */
static void mark_whole(struct cavs__engine *e)
{
    for (int k = 0; k < e->nshards; k++) {
        const struct cavs__home *h = &e->homes->home[own_home(e->homes, k)];

        e->homes->whole[k] = h->device >= 0 && cavs__device_grain(e) == INFINITY;
    }
}

/* Adds the devices and the CPU workers, as many as there are shards for. */
static void add_homes(struct cavs__homes *hs, int shards)
{
    for (int i = 0; i < CAVS__MAX_DEVICES && hs->n < shards; i++) {
        if (cavs__devices->usable(i))
            add_device(hs, i);
    }
    if (starpu_cpu_worker_get_count() > 0 && hs->n < shards)
        add_cpus(hs);
}

int cavs__homes_init(struct cavs__engine *e)
{
    int wanted = e->options->shards,
        workers = cavs__devices->count() + (int)starpu_cpu_worker_get_count();
    struct cavs__homes *hs;

    e->nshards = wanted > 0                         ? wanted
                 : e->rt->shards < CAVS__MAX_SHARDS ? e->rt->shards
                                                    : CAVS__MAX_SHARDS;
    if (!e->devices || e->rt->placement || e->options->check_finite)
        return CAVS_OK;
    hs = calloc(1, sizeof *hs);
    if (!hs)
        return cavs__fail_nomem("homes of shards", sizeof *hs);
    hs->cut = !e->rt->ranks;
    add_homes(hs, hs->cut && wanted > 0 ? wanted : INT_MAX);
    if (hs->cut)
        e->nshards = deal_shards(hs, wanted > 0 ? wanted : workers);
    e->homes = hs;
    hs->share = calloc((size_t)e->nshards, sizeof *hs->share);
    hs->bytes = calloc((size_t)e->nshards, sizeof *hs->bytes);
    hs->away = calloc((size_t)e->nshards, sizeof *hs->away);
    hs->whole = calloc((size_t)e->nshards, sizeof *hs->whole);
    if (!hs->share || !hs->bytes || !hs->away || !hs->whole)
        return cavs__fail_nomem("shares", (size_t)e->nshards * sizeof *hs->share);
    mark_whole(e);
    return CAVS_OK;
}

void cavs__homes_free(struct cavs__engine *e)
{
    if (e->homes) {
        free(e->homes->share);
        free(e->homes->bytes);
        free(e->homes->away);
        free(e->homes->whole);
    }
    free(e->homes);
}

bool cavs__cpus_have_shards(const struct cavs__engine *e)
{
    const struct cavs__homes *hs = e->homes;

    return hs && cpus_are_a_home(hs) && hs->work[hs->slot][hs->n - 1] > 0;
}

bool cavs__homes_cut(const struct cavs__engine *e)
{
    return e->homes && e->homes->cut;
}

/* The home that has all work of the batch at hand, if it is a device's; -1: there is none, or there
 * are other ranks, whose numbers come to main memory. */
static int only_device(const struct cavs__homes *hs)
{
    int only = hs->n == 1 ? 0 : -1;

    if (!hs->cut)
        return -1;
    for (int i = 0; i < hs->n && hs->n > 1; i++) {
        if (hs->work[hs->slot][i] <= 0)
            continue;
        if (only >= 0 || hs->home[i].device < 0)
            return -1;
        only = i;
    }
    return only;
}

int cavs__home_of(const struct cavs__engine *e, int shard)
{
    const struct cavs__homes *hs = e->homes;

    if (!hs)
        return -1;
    if (shard < 0)
        return only_device(hs);
    return hs->away && hs->away[shard] ? hs->n - 1 : own_home(hs, shard);
}

/* The home of a shard, if that is a device's; else NULL. */
static const struct cavs__home *device_home(const struct cavs__engine *e, int shard)
{
    int i = cavs__home_of(e, shard);

    return i >= 0 && e->homes->home[i].device >= 0 ? &e->homes->home[i] : NULL;
}

bool cavs__is_at_cpus(const struct cavs__engine *e, int shard)
{
    return cavs__home_of(e, shard) >= 0 && !device_home(e, shard);
}

void cavs__send_home(const struct cavs__engine *e, int shard, struct cavs__tensor *t, int chunk)
{
    const struct cavs__home *h = device_home(e, shard);

    if (h)
        cavs__tensor_prefetch(t, chunk, h->node);
}

double cavs__shard_grain(const struct cavs__engine *e, int shard)
{
    return device_home(e, shard) ? cavs__device_grain(e) : cavs__grain(e);
}

double cavs__home_room(const struct cavs__engine *e, int home)
{
    return home >= 0 ? MOST_ROOM * e->homes->home[home].room : 0;
}

int cavs__partial_of(const struct cavs__engine *e, int shard, int partial, int partials)
{
    int most = cavs__partials_among(e->nshards), i, devices;

    if (!cavs__homes_cut(e))
        return (shard * partials + partial) % most;
    i = own_home(e->homes, shard);
    devices = cavs__device_homes(e->homes);
    if (i < devices || devices >= most)
        return i % most;
    return devices + (shard - e->homes->home[i].first) % (most - devices);
}

int cavs__partials(const struct cavs__engine *e)
{
    int n = e->nshards, most = cavs__partials_among(n), devices;

    if (cavs__homes_cut(e)) {
        devices = cavs__device_homes(e->homes);
        n = devices + (devices < e->homes->n ? e->homes->home[devices].n : 0);
    }
    return n < most ? n : most;
}

int cavs__shards_of_batch(const struct cavs__engine *e, int n)
{
    return n < e->nshards && !cavs__homes_cut(e) ? n : e->nshards;
}

bool cavs__homes_crowded(struct cavs__engine *e, const size_t *bytes)
{
    bool crowded = false;

    for (int i = 0; cavs__homes_cut(e) && i < e->homes->n; i++) {
        struct cavs__home *h = &e->homes->home[i];
        double most = 0;
        int wanted;

        for (int k = h->first; k < h->first + h->used; k++)
            most = fmax(most, (double)bytes[k]);
        if (h->room <= 0 || most <= h->room || h->used == h->n)
            continue;
        wanted = (int)fmin(h->n, ceil(h->used * most / h->room));
        h->used = wanted > h->used ? wanted : h->n;
        crowded = true;
    }
    return crowded;
}

static int send_away(struct cavs__homes *hs, const struct cavs__home *h, int shard, size_t bytes)
{
    if (!cpus_are_a_home(hs))
        return cavs__fail(CAVS_ERUNTIME,
                          "%s has too little memory for %zu MB of a batch that cannot be cut, and "
                          "no CPU worker takes part",
                          h->name, bytes >> 20);
    cavs__notice("%s has too little memory for samples as large as some are: CPU workers take them",
                 h->name);
    hs->away[shard] = true;
    return CAVS_OK;
}

int cavs__homes_send_away(struct cavs__engine *e, const size_t *bytes)
{
    struct cavs__homes *hs = e->homes;
    int rc = CAVS_OK;

    for (int k = 0; hs && k < e->nshards && !rc; k++) {
        const struct cavs__home *h = &hs->home[own_home(hs, k)];

        hs->away[k] = false;
        if (h->room > 0 && (double)bytes[k] > MOST_ROOM * h->room)
            rc = send_away(hs, h, k, bytes[k]);
    }
    return rc;
}

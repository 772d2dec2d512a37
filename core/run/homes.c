/* SPDX-License-Identifier: Apache-2.0 */
/*
 * homes.c - where shards live when there are devices, and how large each is.
 *
 * Every device is the home of one shard, the CPU workers together are the home of one shard each.
 * The tasks of a shard stay at its home, so that its tensors are never moved; parameters and their
 * gradients travel once a batch.  Shards are sized so that all homes finish together: a home's
 * share is the rate, work a second, at which it went through its shards of earlier batches.  A
 * device's time is mostly a constant (launches) and a core's is not, but where times are equal
 * shares stay as they are, whatever the times depend on.
 *
 * Homes that are alike (GPUs of one name) get equal shares: then only the number of devices decides
 * how a batch is cut.
 *
 * Several ranks cut a batch alike, whatever devices each has: then there are no homes, and StarPU's
 * scheduler places the tasks.
 */
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
/* How much of a rate is the last batch's. */
#define NEWEST 0.5
/* A home that was too slow to get any sample is thought this much faster after each batch, so that
 * it is tried again now and then. */
#define HOPE 1.02

/* ---- which there are ---- */

static void add_device(struct cavs__homes *hs, int number)
{
    struct cavs__device_facts f = cavs__devices->facts(number);
    struct cavs__home *h = &hs->home[hs->n++];

    *h = (struct cavs__home){.where = f.where, .device = number, .name = f.name};
    memcpy(h->workers, f.workers, sizeof h->workers);
    h->room = f.bytes > 0 ? (double)f.bytes / CROWD : 0;
}

static void add_cpus(struct cavs__homes *hs)
{
    struct cavs__home *h = &hs->home[hs->n++];

    *h = (struct cavs__home){.where = STARPU_CPU, .device = -1, .name = "CPU workers"};
}

/* Shards: one a device, the others for the CPU workers; without those they go round.  Devices have
 * some to spare for batches that are larger than their memory.  Returns how many there are. */
static int deal_shards(struct cavs__homes *hs, int shards)
{
    bool cpus = hs->home[hs->n - 1].device < 0;
    int devices = hs->n - cpus, at = 0;

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

int cavs__homes_init(struct cavs__engine *e)
{
    int cpus = (int)starpu_cpu_worker_get_count(), wanted = e->options->shards;
    struct cavs__homes *hs;

    e->nshards = wanted > 0                        ? wanted
                 : e->rt->cores < CAVS__MAX_SHARDS ? e->rt->cores
                                                   : CAVS__MAX_SHARDS;
    if (!e->devices || e->rt->ranks || e->rt->placement || e->options->check_finite)
        return CAVS_OK;
    hs = calloc(1, sizeof *hs);
    if (!hs)
        return cavs__fail_nomem("homes of shards", sizeof *hs);
    for (int i = 0; i < CAVS__MAX_DEVICES && (wanted <= 0 || hs->n < wanted); i++) {
        if (cavs__devices->usable(i))
            add_device(hs, i);
    }
    if (cpus > 0 && (wanted <= 0 || hs->n < wanted))
        add_cpus(hs);
    e->nshards = deal_shards(hs, wanted > 0 ? wanted : cavs__devices->count() + cpus);
    e->homes = hs;
    hs->share = calloc((size_t)e->nshards, sizeof *hs->share);
    hs->bytes = calloc((size_t)e->nshards, sizeof *hs->bytes);
    hs->away = calloc((size_t)e->nshards, sizeof *hs->away);
    return hs->share && hs->bytes && hs->away
               ? CAVS_OK
               : cavs__fail_nomem("shares", (size_t)e->nshards * sizeof *hs->share);
}

void cavs__homes_free(struct cavs__engine *e)
{
    if (e->homes) {
        free(e->homes->share);
        free(e->homes->bytes);
        free(e->homes->away);
    }
    free(e->homes);
}

bool cavs__cpus_have_shards(const struct cavs__engine *e)
{
    return e->homes && e->homes->home[e->homes->n - 1].device < 0;
}

/* Where a shard lives, if there is room. */
static int own_home(const struct cavs__homes *hs, int shard)
{
    int i = 0;

    while (shard >= hs->home[i].first + hs->home[i].n)
        i++;
    return i;
}

int cavs__home_of(const struct cavs__engine *e, int shard)
{
    const struct cavs__homes *hs = e->homes;

    if (!hs || shard < 0)
        return -1;
    return hs->away && hs->away[shard] ? hs->n - 1 : own_home(hs, shard);
}

static int count_devices(const struct cavs__homes *hs)
{
    return hs->n - (hs->home[hs->n - 1].device < 0);
}

int cavs__partial_of(const struct cavs__engine *e, int shard, int partial, int partials)
{
    int most = cavs__partials_among(e->nshards), i, devices;

    if (!e->homes)
        return (shard * partials + partial) % most;
    i = own_home(e->homes, shard);
    devices = count_devices(e->homes);
    if (i < devices || devices >= most)
        return i % most;
    return devices + (shard - e->homes->home[i].first) % (most - devices);
}

int cavs__partials(const struct cavs__engine *e)
{
    int n = e->nshards, most = cavs__partials_among(n), devices;

    if (e->homes) {
        devices = count_devices(e->homes);
        n = devices + (devices < e->homes->n ? e->homes->home[devices].n : 0);
    }
    return n < most ? n : most;
}

int cavs__shards_of_batch(const struct cavs__engine *e, int n)
{
    return n < e->nshards && !e->homes ? n : e->nshards;
}

bool cavs__homes_crowded(struct cavs__engine *e, const size_t *bytes)
{
    bool crowded = false;

    for (int i = 0; e->homes && i < e->homes->n; i++) {
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

/* The home of CPU workers comes last, if there is one. */
static int send_away(struct cavs__homes *hs, const struct cavs__home *h, int shard, size_t bytes)
{
    if (hs->home[hs->n - 1].device >= 0)
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

    for (int i = 0; hs && i < hs->n; i++) {
        struct cavs__home *h = &hs->home[i];

        for (int k = h->first; k < h->first + h->n && !rc; k++) {
            hs->away[k] = false;
            if (h->room > 0 && (double)bytes[k] > MOST_ROOM * h->room)
                rc = send_away(hs, h, k, bytes[k]);
        }
    }
    return rc;
}

/* ---- shares ---- */

static bool is_usable(const struct cavs__home *h)
{
    return h->device < 0 || cavs__devices->usable(h->device);
}

static bool alike(const struct cavs__home *a, const struct cavs__home *b)
{
    return a->where == b->where && strcmp(a->name, b->name) == 0;
}

/* Of a home among those like it. */
static double mean_rate(const struct cavs__homes *hs, const struct cavs__home *h, int run)
{
    double sum = 0;
    int n = 0;

    for (int i = 0; i < hs->n; i++) {
        if (alike(&hs->home[i], h) && is_usable(&hs->home[i])) {
            sum += hs->home[i].rate[run];
            n++;
        }
    }
    return n > 0 ? sum / n : 0;
}

/* Rates are comparable once all homes have one. */
static bool all_have(const struct cavs__homes *hs, int run, bool measured)
{
    for (int i = 0; i < hs->n; i++) {
        const struct cavs__home *h = &hs->home[i];

        if (is_usable(h) && !((measured ? h->seen : h->given) >> run & 1))
            return false;
    }
    return true;
}

/* To begin with every home has to be given something, however small the batches are. */
static double first_share(const struct cavs__home *h, int run)
{
    return h->given >> run & 1 ? 1e-3 : 1;
}

static double rate_of(const struct cavs__homes *hs, const struct cavs__home *h, int run)
{
    if (!is_usable(h))
        return 0;
    if (all_have(hs, run, true))
        return mean_rate(hs, h, run);
    return (all_have(hs, run, false) ? 1 : first_share(h, run)) * h->used;
}

const double *cavs__shares(const struct cavs__engine *e, enum cavs__run run)
{
    struct cavs__homes *hs = e->homes;

    for (int i = 0; hs && i < hs->n; i++) {
        struct cavs__home *h = &hs->home[i];
        double rate = rate_of(hs, h, run != CAVS__RUN_EVALUATE);

        for (int k = 0; k < h->n; k++)
            hs->share[h->first + k] = k < h->used ? rate / h->used : 0;
    }
    return hs ? hs->share : NULL;
}

/* ---- rates ---- */

/* When a home could begin with the batch after the one in `slot`: after updates everybody waits for
 * the parameters, else for its own tasks only. */
static double free_at(const struct cavs__slot *slot, int home)
{
    return slot->run == CAVS__RUN_TRAIN ? slot->done_at : slot->laps[home + 1].done;
}

void cavs__homes_begin(struct cavs__engine *e, int slot, enum cavs__run run)
{
    struct cavs__slot *this = &e->slots[slot], *other = &e->slots[(slot + 1) % CAVS__SLOTS];

    if (!e->homes)
        return;
    for (int i = 0; i < e->homes->n; i++) { /* here: the batch before that in the other slot */
        other->laps[i + 1].began = fmax(other->submitted, free_at(this, i));
        e->homes->work[slot][i] = 0;
    }
    this->run = run;
    this->submitted = starpu_timing_now();
}

void cavs__homes_count(struct cavs__engine *e, int slot, int shard, double work)
{
    int home = cavs__home_of(e, shard);

    if (home < 0)
        return;
    e->homes->work[slot][home] += work;
    e->homes->home[home].given |= 1u << (e->slots[slot].run != CAVS__RUN_EVALUATE);
}

void cavs__homes_observe(struct cavs__engine *e, int slot)
{
    const struct cavs__slot *of = &e->slots[slot];
    int kind = of->run != CAVS__RUN_EVALUATE;

    for (int i = 0; e->homes && of->submitted > 0 && i < e->homes->n; i++) {
        struct cavs__home *h = &e->homes->home[i];
        double work = e->homes->work[slot][i],
               time = (of->laps[i + 1].done - of->laps[i + 1].began) * 1e-6;
        bool seen = h->seen >> kind & 1;

        if (work <= 0 && seen)
            h->rate[kind] *= HOPE;
        if (work <= 0 || time <= 0)
            continue;
        h->rate[kind] = seen ? (1 - NEWEST) * h->rate[kind] + NEWEST * work / time : work / time;
        h->seen |= 1u << kind;
    }
}

void cavs__homes_explain(FILE *out, const struct cavs__engine *e)
{
    const double *share = cavs__shares(e, e->slots[0].run);
    double sum = 0;

    for (int i = 0; i < e->nshards; i++)
        sum += share[i];
    for (int i = 0; i < e->homes->n; i++) {
        const struct cavs__home *h = &e->homes->home[i];

        fprintf(out, "home: %s: %d shard%s of %.1f %% of a batch%s\n", h->name, h->used,
                h->used == 1 ? "" : "s", sum > 0 ? 100 * share[h->first] / sum : 0,
                h->seen ? ", from measured rates" : "");
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * home_shares.c - how much of a batch each home of shards gets: by the rates, work a second, at
 * which it went through its shards of earlier batches, so that all homes finish together.
 *
 * A device's time is mostly a constant (launches) and a core's is not, but where times are equal
 * shares stay as they are, whatever the times depend on.  Homes that are alike (GPUs of one name)
 * get equal shares: then only the number of devices decides how a batch is cut.
 */
#include <math.h>
#include <string.h>

#include "codelets/device_set.h"
#include "core/run/engine.h"

/* CPU workers beside devices get something if their rate is this part of the devices' at least:
 * what they take costs more than itself, since weights and gradients travel then, and updates are
 * theirs. (Sixteen cores of an Intel Xeon do 7 % of what an H100 does with Tree-LSTM at h 512,
 * K 256: with them a batch took 2.4 times as long as without.) */
#define LEAST 0.25
/* The weight of the last batch in a rate. */
#define NEWEST 0.5
/* A home that was too slow to get any sample is thought this much faster after each batch, so that
 * it is tried again now and then; what it then does is its rate.  A try that was in vain halves
 * that, and so doubles the time until the next one. */
#define HOPE 0.02
enum { MOST_IN_VAIN = 6 };

static bool is_usable(const struct cavs__home *h)
{
    return h->device < 0 || cavs__devices->usable(h->device);
}

static bool alike(const struct cavs__home *a, const struct cavs__home *b)
{
    return a->where == b->where && strcmp(a->name, b->name) == 0;
}

bool cavs__shards_alike(const struct cavs__engine *e, int a, int b)
{
    int x = cavs__home_of(e, a), y = cavs__home_of(e, b);

    return x == y || (x >= 0 && y >= 0 && alike(&e->homes->home[x], &e->homes->home[y]));
}

/* The mean rate of a home and those like it. */
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

/* Before rates are measured CPU workers are thought as fast as they have to be to get anything:
 * where they are slower, devices have nearly all of a batch from the beginning, and their tensors
 * need not grow, which waits for the batch before and pins memory.  Every home has to be given
 * something, however small the batches are. */
static double first_rate(const struct cavs__homes *hs, const struct cavs__home *h, int run)
{
    double rate = h->used;
    int devices = cavs__device_homes(hs);

    if (h->device < 0 && devices > 0)
        rate = LEAST * devices;
    return !all_have(hs, run, false) && h->given >> run & 1 ? 1e-3 * rate : rate;
}

static double rate_of_devices(const struct cavs__homes *hs, int run)
{
    double sum = 0;

    for (int i = 0; i < hs->n; i++)
        if (hs->home[i].device >= 0)
            sum += mean_rate(hs, &hs->home[i], run);
    return sum;
}

static double rate_of(const struct cavs__homes *hs, const struct cavs__home *h, int run)
{
    if (!is_usable(h))
        return 0;
    if (all_have(hs, run, true))
        return h->device < 0 && mean_rate(hs, h, run) < LEAST * rate_of_devices(hs, run)
                   ? 0
                   : mean_rate(hs, h, run);
    return first_rate(hs, h, run);
}

const double *cavs__shares(const struct cavs__engine *e, enum cavs__run run)
{
    struct cavs__homes *hs = e->homes;

    if (!cavs__homes_cut(e))
        return NULL;
    for (int i = 0; i < hs->n; i++) {
        struct cavs__home *h = &hs->home[i];
        double rate = rate_of(hs, h, run != CAVS__RUN_EVALUATE);

        for (int k = 0; k < h->n; k++)
            hs->share[h->first + k] = k < h->used ? rate / h->used : 0;
    }
    return hs->share;
}

/* When a home could begin with the batch after the one in `slot`: after updates everybody waits for
 * the parameters, else for its own tasks only. */
static double free_at(const struct cavs__slot *slot, int home)
{
    return slot->run == CAVS__RUN_TRAIN ? slot->done_at : slot->laps[home + 1].done;
}

void cavs__homes_begin(struct cavs__engine *e, int slot, enum cavs__run run)
{
    struct cavs__slot *this = &e->slots[slot], *other = &e->slots[(slot + 1) % e->nslots];

    if (!e->homes)
        return;
    for (int i = 0; i < e->homes->n; i++) { /* here: the batch before that in the other slot */
        other->laps[i + 1].began = fmax(other->submitted, free_at(this, i));
        e->homes->work[slot][i] = 0;
    }
    e->homes->slot = slot;
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

/* It got nothing. */
static void hope(struct cavs__home *h, int kind)
{
    int *in_vain = &h->in_vain[kind];

    if (h->in_turn[kind] > CAVS__SLOTS) /* what was begun with while it was tried is no success */
        *in_vain = 0;
    else if (h->in_turn[kind] > 0 && *in_vain < MOST_IN_VAIN)
        ++*in_vain;
    h->in_turn[kind] = 0;
    h->rate[kind] *= 1 + ldexp(HOPE, -*in_vain);
    h->hoped |= 1u << kind;
}

void cavs__homes_observe(struct cavs__engine *e, int slot)
{
    const struct cavs__slot *of = &e->slots[slot];
    int kind = of->run != CAVS__RUN_EVALUATE;

    for (int i = 0; e->homes && of->submitted > 0 && i < e->homes->n; i++) {
        struct cavs__home *h = &e->homes->home[i];
        double work = e->homes->work[slot][i],
               time = (of->laps[i + 1].done - of->laps[i + 1].began) * 1e-6;
        bool seen = h->seen >> kind & 1, hoped = h->hoped >> kind & 1;

        if (work <= 0 && seen)
            hope(h, kind);
        if (work <= 0 || time <= 0)
            continue;
        h->in_turn[kind] += seen ? 1 : CAVS__SLOTS + 1; /* the first time is no try */
        h->rate[kind] =
            seen && !hoped ? (1 - NEWEST) * h->rate[kind] + NEWEST * work / time : work / time;
        h->seen |= 1u << kind;
        h->hoped &= ~(1u << kind);
    }
}

int cavs__homes_pace(const struct cavs__engine *e, double *speed)
{
    const struct cavs__homes *hs = e->homes;
    double sum = 0;
    int n = 0;

    for (int i = 0; i < hs->n; i++) {
        if (hs->home[i].device >= 0 && is_usable(&hs->home[i])) {
            sum += hs->home[i].rate[1];
            n++;
        }
    }
    *speed = n > 0 ? sum / n : 0;
    return n;
}

/* Where several ranks cut a batch alike. */
static void explain_turns(FILE *out, const struct cavs__homes *hs)
{
    for (int i = 0; i < hs->n; i++)
        if (hs->home[i].device >= 0)
            fprintf(out, "home: %s: shards of this rank, which its devices take in turn\n",
                    hs->home[i].name);
}

void cavs__homes_explain(FILE *out, const struct cavs__engine *e)
{
    const double *share = cavs__shares(e, e->slots[0].run);
    double sum = 0;

    if (!share) {
        explain_turns(out, e->homes);
        return;
    }
    for (int i = 0; i < e->nshards; i++)
        sum += share[i];
    for (int i = 0; i < e->homes->n; i++) {
        const struct cavs__home *h = &e->homes->home[i];

        fprintf(out, "home: %s: %d shard%s of %.1f %% of a batch%s\n", h->name, h->used,
                h->used == 1 ? "" : "s", sum > 0 ? 100 * share[h->first] / sum : 0,
                h->seen ? ", from measured rates" : "");
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_pace.c - how fast the ranks are, and shards dealt anew where others would be done
 * sooner; see exchange.h.
 *
 * What counts is the time that workers of a rank spend with tasks of its shards, and devices from
 * when all have the parameters until they are done with theirs, not what they wait for others.
 * Ranks tell one another their paces where they meet anyway, and all come to the same from the same
 * numbers.  Bits do not depend on who has a shard.
 */
#include <stdlib.h>
#include <string.h>

#include "core/run/exchange.h"

enum { LOOK = 16 /* batches */ };

/* How much of what was seen counts after one batch more. */
#define KEPT 0.9
/* Shards are dealt anew if batches then take at most so much of what they do. */
#define WORTH 0.9
/* A rank that was too slow to get any shard is thought this much faster after each batch. */
#define HOPE 1.02

/* Gives ranks that have had nothing yet the mean pace of the others.  Returns whether any has
 * one. */
static bool complete(struct cavs__pace *pace, int ranks)
{
    double sum = 0;
    int n = 0;

    for (int i = 0; i < ranks; i++) {
        sum += pace[i].speed;
        n += pace[i].speed > 0;
    }
    for (int i = 0; i < ranks && n > 0; i++) {
        if (pace[i].speed <= 0)
            pace[i].speed = sum / n;
    }
    return n > 0;
}

static void reconsider(struct cavs__exchange *x, int nshards)
{
    int ranks = cavs__ranks_count(x->ranks), rank_of[nshards], rank_of_chunk[CAVS__MAX_PARTIALS];

    if (++x->looked < LOOK || !complete(x->told, ranks))
        return;
    x->looked = 0;
    cavs__deal(x->e, nshards, ranks, x->told, rank_of, rank_of_chunk);
    if (cavs__deal_seconds(nshards, rank_of, ranks, x->told) >
        WORTH * cavs__deal_seconds(nshards, x->rank_of, ranks, x->told))
        return;
    memcpy(x->pace, x->told, (size_t)ranks * sizeof *x->pace);
    x->dealt_by = NULL;
}

/* This rank's pace: of its devices where they have its shards.  How long tasks take that StarPU
 * places on devices is not known: then it is the mean of others, too. */
struct cavs__pace cavs__own_pace(const struct cavs__exchange *x)
{
    struct cavs__pace pace = {.workers = (int)starpu_cpu_worker_get_count(), .speed = 0};

    if (x->e->homes)
        pace.workers = cavs__homes_pace(x->e, &pace.speed);
    else if (x->seconds > 0 && !x->e->devices)
        pace.speed = x->work / x->seconds;
    return pace;
}

void cavs__pace_begin(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    for (int i = 0; i < b->nshards; i++)
        x->waiting[slot].work += b->shards[i].nsamples > 0 ? b->shards[i].work : 0;
    if (cavs__shards_of(x, cavs__rank(x->ranks)) == 0)
        x->work *= HOPE;
    reconsider(x, b->nshards);
}

void cavs__pace_observe(struct cavs__exchange *x, int slot)
{
    struct cavs__waiting *w = &x->waiting[slot];
    double seconds = (double)x->e->slots[slot].busy_ns * 1e-9;

    if (w->work > 0 && seconds > 0) {
        x->work = KEPT * x->work + w->work;
        x->seconds = KEPT * x->seconds + seconds;
    }
    w->work = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * prepare_batch.c - a batch before its tasks are submitted: cut into shards, scheduled, laid out,
 * with room for all that its tasks read and write.
 *
 * One that has come before is there already; see core/prepare/kept.c.
 */
#include "core/base/hash.h"
#include "core/run/session.h"
#include "core/run/simulated.h"

/* How many copies of what its tasks read a kept batch has: where they differ from one time to the
 * next, one is written while the other is read. */
static int copies(const struct cavs_session *s, enum cavs__run run)
{
    for (int i = 0; i < s->model->nstages && run != CAVS__RUN_EVALUATE; i++) {
        if (cavs__has_noise(&s->plan->stages[i]))
            return s->engine.nslots;
    }
    return 1;
}

static int schedule_shard(struct cavs__engine *e, struct cavs__batch *b, int shard)
{
    (void)e;
    return cavs__schedule_shard(b, shard);
}

/* Empties the shards that other ranks work on. */
static void leave_to_others(struct cavs__exchange *x, struct cavs__batch *b)
{
    cavs__exchange_deal(x, b->nshards, true);
    for (int i = 0; i < b->nshards; i++) {
        if (!cavs__is_here(x, i))
            b->shards[i].nsamples = 0;
    }
}

/* Schedules the shards; again with smaller ones, as long as some are too large for the memory of
 * their device. */
static int schedule(struct cavs_session *s, struct cavs__request *r)
{
    struct cavs__engine *e = &s->engine;
    size_t *bytes = e->homes ? e->homes->bytes : NULL;
    int rc;

    do {
        r->share = cavs__shares(e, r->run);
        r->whole = e->homes ? e->homes->whole : NULL;
        rc = cavs__batch_split(s->batch, r);
        if (!rc && s->optimizer.exchange)
            leave_to_others(s->optimizer.exchange, s->batch);
        for (int i = 0; i < r->nshards && !rc; i++)
            cavs__data_expect(r->data, s->batch->shards[i].samples, s->batch->shards[i].nsamples);
        if (!rc)
            rc = cavs__each_shard(e, s->batch, schedule_shard, e->rt->cost.arrange);
        for (int i = 0; i < r->nshards && bytes && !rc; i++)
            bytes[i] = cavs__shard_bytes(s->plan, &s->batch->shards[i]);
    } while (!rc && cavs__homes_crowded(e, bytes));
    return rc || !bytes ? rc : cavs__homes_send_away(e, bytes);
}

/* How many samples the shards of this rank have. */
static int samples_here(const struct cavs__batch *b)
{
    int n = 0;

    for (int i = 0; i < b->nshards; i++)
        n += b->shards[i].nsamples;
    return n;
}

/* Writes what the tasks read, and makes room for what they write. */
static int write_all(struct cavs_session *s, const struct cavs__request *r, int slot)
{
    int rc = cavs__make_room(&s->engine, s->batch);

    if (!rc && r->run != CAVS__RUN_EVALUATE)
        rc = cavs__list_gradients(&s->optimizer, &s->engine, s->batch, slot);
    cavs__simulated_work(s->rt->cost.lay_out * samples_here(s->batch));
    return rc ? rc : cavs__reserve_device_scratch(&s->engine, s->batch);
}

static int prepare_fresh(struct cavs_session *s, struct cavs__request *r, int slot)
{
    int rc = schedule(s, r);

    for (int i = 0; i < r->nshards && !rc; i++) {
        if (s->batch->shards[i].nsamples > 0)
            cavs__homes_count(&s->engine, slot, i, s->batch->shards[i].work);
    }
    if (!rc)
        rc = cavs__batch_lay_out(s->batch, &s->engine.slots[slot].arena);
    if (!rc)
        rc = write_all(s, r, slot);
    if (!rc)
        cavs__kept_note(&s->kept, r, cavs__batch_bytes(s->batch, copies(s, r->run)));
    return rc;
}

/* Prepares a batch into the arrays of a kept one, for the first time; tasks of the batch before may
 * still read what has been there. */
static int prepare_kept(struct cavs_session *s, struct cavs__request *r,
                        struct cavs__kept_batch *kept)
{
    int rc;

    cavs__wait_others(&s->engine, cavs__next_slot(&s->engine));
    cavs__arena_reset(&kept->arena);
    rc = schedule(s, r);
    return rc ? rc : cavs__batch_lay_out(s->batch, &kept->arena);
}

/* Takes a kept batch from its place.  If that has not been written yet it is; else only what
 * changes is. */
static int recall(struct cavs_session *s, struct cavs__request *r, int slot,
                  struct cavs__kept_batch *kept)
{
    int copy = copies(s, r->run) > 1 ? slot : 0;
    int rc = kept->written ? CAVS_OK : prepare_kept(s, r, kept);

    s->engine.slots[slot].place = CAVS__SLOTS * (1 + kept->number) + copy;
    if (!rc)
        rc = kept->written >> copy & 1 ? cavs__renew(&s->engine, s->batch) : write_all(s, r, slot);
    if (rc)
        cavs__kept_drop(kept);
    else
        kept->written |= 1u << copy;
    return rc;
}

static int prepare_own(struct cavs_session *s, struct cavs__request *r, int slot)
{
    struct cavs__kept_batch *kept = cavs__kept_batch_of(&s->kept, &s->fresh, r);
    int rc;

    s->batch = kept ? &kept->batch : &s->fresh;
    rc = kept ? recall(s, r, slot, kept) : prepare_fresh(s, r, slot);
    if (!rc)
        cavs__batch_count(s->batch, &s->stats);
    return rc;
}

/* A hash of what was asked for, and of the data.  This is where ranks that have other data are
 * found out, if programs did not compare them. */
static uint64_t hash_of(const struct cavs__request *r)
{
    uint64_t sum = cavs__samples_sum(r->data, r->samples, r->n),
             h = cavs__hash(CAVS__HASH_START, &r->run, sizeof r->run);

    h = cavs__hash(h, &r->updates, sizeof r->updates);
    h = cavs__hash(h, &sum, sizeof sum);
    return cavs__hash(h, r->samples, (size_t)r->n * sizeof *r->samples);
}

int cavs__prepare_batch(struct cavs_session *s, struct cavs__request *r, int slot)
{
    struct cavs__exchange *x = s->optimizer.exchange;
    int rc = prepare_own(s, r, slot);

    if (x)
        rc = cavs__exchange_meet(x, s->batch, slot, s->optimizer.touched_lists, hash_of(r), rc);
    if (x && !rc && r->run == CAVS__RUN_TRAIN)
        cavs__pace_begin(x, s->batch, slot);
    return rc;
}

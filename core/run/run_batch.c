/* SPDX-License-Identifier: Apache-2.0 */
/* run_batch.c - one batch: prepared while the one before is computed, then submitted. */
#include <math.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/run/session.h"
#include "core/run/simulated.h"
#include "memory/handover.h"

/* ---- what is asked for ---- */

static int check_batch(const struct cavs_session *s, const struct cavs__request *r)
{
    int rc = cavs__session_ready(s, "batch");

    if (rc)
        return rc;
    if (!r->data || r->data->model != s->model || r->n < 0 || (r->n > 0 && !r->samples))
        return cavs__fail(CAVS_EINVAL, "batch: %s",
                          !r->data                     ? "no data"
                          : r->data->model != s->model ? "the data belong to another model"
                                                       : "no samples given");
    rc = cavs__data_check_samples(r->data, r->samples, r->n);
    if (!rc && r->run != CAVS__RUN_EVALUATE && s->options.inference)
        rc =
            cavs__fail(CAVS_ESTATE,
                       "this session was created for inference: it cannot train or give gradients");
    return rc ? rc : cavs__check_devices(s);
}

/* ---- preparing ----
 * A batch that has come before is there already; see core/prepare/kept.c. */

/* Of what the tasks of a kept batch read: where it differs from one time to the next, one is
 * written while the other is read. */
static int copies(const struct cavs_session *s, enum cavs__run run)
{
    for (int i = 0; i < s->model->nstages && run != CAVS__RUN_EVALUATE; i++) {
        if (cavs__has_noise(&s->plan->stages[i]))
            return CAVS__SLOTS;
    }
    return 1;
}

static int schedule_shard(struct cavs__engine *e, struct cavs__batch *b, int shard)
{
    (void)e;
    return cavs__schedule_shard(b, shard);
}

/* The shards of other ranks are empty here. */
static void leave_to_others(struct cavs__exchange *x, struct cavs__batch *b)
{
    cavs__exchange_deal(x, b->nshards, true);
    for (int i = 0; i < b->nshards; i++) {
        if (!cavs__is_here(x, i))
            b->shards[i].nsamples = 0;
    }
}

/* Again with smaller shards where they are too large for the memory of their device. */
static int schedule(struct cavs_session *s, struct cavs__request *r)
{
    struct cavs__engine *e = &s->engine;
    size_t *bytes = e->homes ? e->homes->bytes : NULL;
    int rc;

    do {
        r->share = cavs__shares(e, r->run);
        rc = cavs__batch_split(s->batch, r);
        if (!rc && s->optimizer.exchange)
            leave_to_others(s->optimizer.exchange, s->batch);
        if (!rc)
            rc = cavs__each_shard(e, s->batch, schedule_shard, e->rt->cost.arrange);
        for (int i = 0; i < r->nshards && bytes && !rc; i++)
            bytes[i] = cavs__shard_bytes(s->plan, &s->batch->shards[i]);
    } while (!rc && cavs__homes_crowded(e, bytes));
    return rc || !bytes ? rc : cavs__homes_send_away(e, bytes);
}

/* Of all shards but those of other ranks. */
static int samples_here(const struct cavs__batch *b)
{
    int n = 0;

    for (int i = 0; i < b->nshards; i++)
        n += b->shards[i].nsamples;
    return n;
}

/* What the tasks read, and room for what they write. */
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

/* Into arrays of its own, that is, and the first time; tasks of the batch before may still read
 * what has been there. */
static int prepare_kept(struct cavs_session *s, struct cavs__request *r,
                        struct cavs__kept_batch *kept)
{
    int rc;

    cavs__wait_others(&s->engine, cavs__next_slot(&s->engine));
    cavs__arena_reset(&kept->arena);
    rc = schedule(s, r);
    return rc ? rc : cavs__batch_lay_out(s->batch, &kept->arena);
}

/* A place in which it was not yet is written to; in others is all but what changes. */
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

/* Everything that is wanted before tasks are submitted: a batch that fails here leaves no trace. */
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

static uint64_t hash_of(const struct cavs__request *r)
{
    uint64_t h = cavs__hash(CAVS__HASH_START, &r->run, sizeof r->run);

    h = cavs__hash(h, &r->updates, sizeof r->updates);
    return cavs__hash(h, r->samples, (size_t)r->n * sizeof *r->samples);
}

/* All ranks go on with it, or none. */
static int prepare(struct cavs_session *s, struct cavs__request *r, int slot)
{
    struct cavs__exchange *x = s->optimizer.exchange;
    int rc = prepare_own(s, r, slot);

    if (x)
        rc = cavs__exchange_meet(x, s->batch, slot, s->optimizer.touched_lists, hash_of(r), rc);
    if (x && !rc && r->run == CAVS__RUN_TRAIN)
        cavs__pace_begin(x, s->batch, slot);
    return rc;
}

/* ---- submitting ---- */

float cavs__gradient_scale(const struct cavs_session_options *o, int n)
{
    float scale = o->scale == 0 ? 1 : o->scale;

    return o->mean ? scale / (float)n : scale;
}

/* A bad number keeps the update from the parameters. */
static int check_numbers(struct cavs_session *s, int slot)
{
    int rc = cavs__join_flush(&s->engine, slot);

    if (rc)
        return rc;
    starpu_task_wait_for_all();
    cavs__handover_waited();
    return cavs__ranks_agree(s->rt->ranks, cavs__report_fault(s));
}

static int submit(struct cavs_session *s, const struct cavs__request *r, int slot)
{
    int rc;

    if (s->optimizer.store->users == 1) /* else others' tasks may be at its parameters */
        cavs__here_begin(&s->engine, s->batch, slot);
    rc = cavs__submit_batch(&s->engine, s->batch, slot);

    if (!rc && s->options.check_finite)
        rc = check_numbers(s, slot);
    if (!rc && r->run != CAVS__RUN_EVALUATE)
        rc = cavs__submit_looked_up(&s->optimizer, &s->engine, s->batch, s->batch->nshards, slot);
    if (!rc && r->run != CAVS__RUN_EVALUATE && s->optimizer.exchange)
        rc = cavs__submit_exchange(s->optimizer.exchange, s->batch, slot);
    if (!rc && r->run == CAVS__RUN_TRAIN) {
        s->optimizer.rule.scale = cavs__gradient_scale(&s->options, r->n);
        rc = cavs__submit_updates(&s->optimizer, &s->engine, s->batch, slot);
    }
    if (!rc)
        rc = cavs__join_flush(&s->engine, slot);
    if (s->optimizer.exchange)
        cavs__rows_forget(s->optimizer.exchange, slot);
    cavs__join_drop(&s->engine); /* what a batch that failed has left */
    cavs__here_end(&s->engine);
    s->half_counted |= rc && rc != CAVS_ENUMERIC;
    return rc;
}

/* ---- all ---- */

/* Scheduling from start to end (microseconds) is hidden while another batch is being computed. */
static double exposed(struct cavs__engine *e, int slot, double start, double end)
{
    for (int i = 0; i < CAVS__SLOTS; i++) {
        struct cavs__slot *other = &e->slots[i];

        if (i == slot)
            continue;
        starpu_pthread_mutex_lock(&other->lock);
        start = other->busy ? end : fmax(start, other->done_at);
        starpu_pthread_mutex_unlock(&other->lock);
    }
    return fmax(0, end - start) * 1e-6;
}

/* Seconds of the processor that this thread has had: what it waits for does not count. */
static double busy_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The slot is nobody's any more. */
static int run_in_slot(struct cavs_session *s, struct cavs__request *r, int slot)
{
    struct cavs__engine *e = &s->engine;
    double began = busy_seconds(), prepared;
    int rc;

    cavs__homes_observe(e, slot);
    if (s->optimizer.exchange)
        cavs__exchange_observe(s->optimizer.exchange, slot);
    cavs__homes_begin(e, slot, r->run);
    cavs__slot_open(&e->slots[slot], e->nshards);
    starpu_iteration_push((unsigned long)e->batches); /* tells a trace which tasks are one batch */
    rc = prepare(s, r, slot);
    prepared = busy_seconds();
    if (!rc)
        rc = submit(s, r, slot);
    s->stats.lay_out_s += prepared - began - (e->preparing > 0 ? 0 : e->arranging);
    s->stats.submit_s += busy_seconds() - prepared - e->here.took * 1e-6;
    starpu_iteration_pop();
    cavs__slot_close(&e->slots[slot]);
    e->batches++;
    s->stats.batches++;
    if (r->run == CAVS__RUN_GRADIENT && (!rc || rc == CAVS_ENUMERIC))
        s->gradient_batch = e->batches;
    return rc;
}

static int run_batch(struct cavs_session *s, struct cavs__request r)
{
    int rc = check_batch(s, &r), slot;
    double t0, t1, t2;

    if (rc || r.n == 0)
        return rc;
    r.seed = s->options.seed;
    r.updates = s->optimizer.store->step;
    r.nshards = cavs__shards_of_batch(&s->engine, r.n);
    slot = cavs__next_slot(&s->engine);
    s->engine.preparing = s->engine.waited = s->engine.here.took = s->engine.arranging = 0;
    t0 = starpu_timing_now();
    cavs__slot_wait(&s->engine.slots[slot]);
    t1 = starpu_timing_now();
    rc = run_in_slot(s, &r, slot);
    t2 = starpu_timing_now() - s->engine.here.took;
    s->stats.wait_s += (t1 - t0) * 1e-6;
    s->stats.schedule_s += (t2 - t1) * 1e-6 - s->engine.waited + s->engine.preparing;
    s->stats.arrange_s += s->engine.arranging;
    s->stats.exposed_s += exposed(&s->engine, slot, t1, t2);
    if (rc) /* tasks side by side may lack the fence that orders them before others */
        cavs__wait_slots(&s->engine);
    return rc;
}

int cavs_session_train(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n)
{
    return run_batch(
        s, (struct cavs__request){.data = d, .samples = samples, .n = n, .run = CAVS__RUN_TRAIN});
}

int cavs_session_gradient(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                          int n)
{
    return run_batch(s, (struct cavs__request){
                            .data = d, .samples = samples, .n = n, .run = CAVS__RUN_GRADIENT});
}

int cavs_session_evaluate(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                          int n)
{
    return run_batch(s, (struct cavs__request){
                            .data = d, .samples = samples, .n = n, .run = CAVS__RUN_EVALUATE});
}

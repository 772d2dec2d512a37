/* SPDX-License-Identifier: Apache-2.0 */
/* run_batch.c - one batch: prepared while the one before is computed, then submitted. */
#include <math.h>

#include "core/base/error.h"
#include "core/run/session.h"

/* ---- what is asked for ---- */

static int check_batch(const struct cavs_session *s, const struct cavs__request *r)
{
    int rc = cavs__session_ready(s, "batch");

    if (rc)
        return rc;
    if (!r->data || r->data->model != s->model)
        return cavs__fail(CAVS_EINVAL, "batch: %s",
                          !r->data ? "no data (NULL)" : "the data belong to another model");
    if (r->n < 0 || (r->n > 0 && !r->samples))
        return cavs__fail(CAVS_EINVAL, "batch: %d samples%s", r->n,
                          r->n < 0 ? "" : ", but no numbers of samples (NULL)");
    rc = cavs__data_check_samples(r->data, r->samples, r->n);
    if (!rc && r->run != CAVS__RUN_EVALUATE && s->options.inference)
        rc =
            cavs__fail(CAVS_ESTATE,
                       "this session was created for inference: it cannot train or give gradients");
    if (!rc && r->run != CAVS__RUN_EVALUATE && !s->model->has_loss)
        rc = cavs__fail(CAVS_EPROGRAM,
                        "batch: no function of the model has a loss, and what is trained makes the "
                        "sum of all losses smaller: declare one with cavs_loss(), or compute with "
                        "cavs_session_evaluate()");
    if (!rc && r->run != CAVS__RUN_EVALUATE)
        rc = cavs__check_looked_up(s->plan);
    return rc ? rc : cavs__check_devices(s);
}

/* ---- submitting ---- */

/* What the gradient of a batch of n samples is multiplied by. */
static float gradient_scale(const struct cavs_session_options *o, int n)
{
    float scale = o->scale == 0 ? 1 : o->scale;

    return o->mean ? scale / (float)n : scale;
}

/* Fails if a task has seen a number that is not finite: then there is no update. */
static int check_numbers(struct cavs_session *s, int slot)
{
    int rc = cavs__wait_tasks(&s->engine, slot);

    return rc ? rc : cavs__ranks_agree(s->rt->ranks, cavs__report_fault(s));
}

int cavs__submit_uses(struct cavs_session *s, int nsamples, int nshards, int slot)
{
    enum cavs__run run = s->batch->request.run;
    int rc = CAVS_OK;

    if (run != CAVS__RUN_EVALUATE)
        rc = cavs__submit_looked_up(&s->optimizer, &s->engine, s->batch, nshards, slot);
    if (!rc && run != CAVS__RUN_EVALUATE && s->optimizer.exchange)
        rc = cavs__submit_exchange(s->optimizer.exchange, s->batch, slot);
    if (!rc && run == CAVS__RUN_TRAIN) {
        s->optimizer.rule.scale = gradient_scale(&s->options, nsamples);
        rc = cavs__submit_updates(&s->optimizer, &s->engine, s->batch, slot);
    }
    return rc ? rc : cavs__join_flush(&s->engine, slot);
}

void cavs__may_run_here(struct cavs_session *s, const struct cavs__worth *b, int slot)
{
    if (s->optimizer.store->users == 1)
        cavs__here_begin(&s->engine, b, slot);
}

static int submit(struct cavs_session *s, const struct cavs__request *r, int slot)
{
    struct cavs__worth worth = {.run = r->run,
                                .one_sample = r->n == 1,
                                .seconds = cavs__small_seconds(&s->engine, s->batch)};
    int rc;

    cavs__may_run_here(s, &worth, slot);
    rc = cavs__submit_batch(&s->engine, s->batch, slot);

    if (!rc && s->options.check_finite)
        rc = check_numbers(s, slot);
    if (!rc)
        rc = cavs__submit_uses(s, r->n, s->batch->nshards, slot);
    cavs__helped_end(&s->engine, s->batch->nshards);
    cavs__join_drop(&s->engine); /* drops what a batch that failed has left */
    cavs__here_end(&s->engine);
    s->half_counted |= rc && rc != CAVS_ENUMERIC;
    return rc;
}

/* ---- all ---- */

/* How much of the time from start to end (microseconds), in which a batch was scheduled, was not
 * hidden by the computing of another. */
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

/* Counts what a batch has taken of processors before its tasks run: of this thread, until they were
 * prepared and for submitting them, and of workers, who may have arranged and submitted shards. */
static void count_preparing(struct cavs_stats *stats, const struct cavs__engine *e, double prepared,
                            double submitted)
{
    stats->schedule_s += prepared + submitted + e->preparing;
    stats->arrange_s += e->arranging;
    stats->lay_out_s += prepared - (e->preparing > 0 ? 0 : e->arranging);
    stats->submit_s += submitted;
}

/* Runs a batch in a slot that no other batch has any more. */
static int run_in_slot(struct cavs_session *s, struct cavs__request *r, int slot)
{
    struct cavs__engine *e = &s->engine;
    double began, prepared;
    int rc;

    cavs__choose_clock(e);
    began = cavs__caller_seconds(e);
    cavs__homes_observe(e, slot);
    if (s->optimizer.exchange)
        cavs__exchange_observe(s->optimizer.exchange, slot);
    cavs__homes_begin(e, slot, r->run);
    cavs__slot_open(&e->slots[slot], e->nshards);
    starpu_iteration_push((unsigned long)e->batches); /* tells a trace which tasks are one batch */
    rc = cavs__prepare_batch(s, r, slot);
    prepared = cavs__caller_seconds(e);
    if (!rc)
        rc = submit(s, r, slot);
    count_preparing(&s->stats, e, prepared - began,
                    cavs__caller_seconds(e) - prepared - e->here.busy);
    starpu_iteration_pop();
    cavs__slot_close(&e->slots[slot]);
    e->batches++;
    s->stats.batches++;
    if (r->run == CAVS__RUN_GRADIENT && !rc)
        s->gradient_batch = e->batches;
    return rc;
}

static int shards_of(const struct cavs__engine *e, const struct cavs__request *r)
{
    const int few = cavs__shards_of_few(e, r->data, r->samples, r->n),
              n = cavs__shards_of_batch(e, r->n);

    return few < n ? few : n;
}

static int run_batch(struct cavs_session *s, struct cavs__request r)
{
    int rc = check_batch(s, &r), slot, policy;
    double t0, t1, t2;

    if (rc || r.n == 0)
        return rc;
    r.seed = s->options.seed;
    r.updates = s->optimizer.store->step;
    r.nshards = shards_of(&s->engine, &r);
    slot = cavs__next_slot(&s->engine);
    s->engine.preparing = s->engine.arranging = s->engine.here.took = s->engine.here.busy = 0;
    policy = cavs__workers_first(s->engine.rt);
    t0 = starpu_timing_now();
    cavs__slot_wait(&s->engine.slots[slot]);
    cavs__forget_readers(s, r.run);
    t1 = starpu_timing_now();
    rc = run_in_slot(s, &r, slot);
    t2 = starpu_timing_now() - s->engine.here.took;
    s->stats.wait_s += (t1 - t0) * 1e-6;
    s->stats.exposed_s += exposed(&s->engine, slot, t1, t2);
    cavs__workers_no_longer_first(policy);
    if (rc)
        cavs__end_failed_batch(&s->engine);
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

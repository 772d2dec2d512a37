/* SPDX-License-Identifier: Apache-2.0 */
/* output.c - rows that were pushed, for the user. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/session.h"

/* Copies the rows that a shard pushed.  at: [samples of the batch] where the rows of each begin in
 * `rows`. */
static void copy_output(struct cavs_session *s, const struct cavs__channel *c, int number,
                        const int64_t *at, float *rows)
{
    const struct cavs__stage_plan *sp = &s->plan->stages[c->stage->number];
    const struct cavs__shard *shard = &s->batch->shards[number];
    const struct cavs__shard_stage *t = &shard->stages[c->stage->number];
    struct cavs__tensor *tensor = &s->engine.tensors[sp->push[c->number]];
    const float *values = cavs__tensor_acquire(tensor, number, STARPU_R);

    for (int v = 0; v < t->n; v++) {
        int i = t->sample_of[v];

        memcpy(rows + (at[shard->positions[i]] + v - t->start[i]) * c->width,
               values + t->schedule.row_of[v] * tensor->ld + sp->push_col[c->number],
               (size_t)c->width * sizeof *rows);
    }
    cavs__tensor_release(tensor, number);
}

/* Rows of samples that are another rank's stay as they are. */
static void collect_own(struct cavs_session *s, const struct cavs__request *r,
                        const struct cavs__channel *c, int64_t *at, float *rows)
{
    const int64_t *start = cavs__starts(&r->data->stages[c->stage->number]);
    int64_t sum = 0;

    for (int i = 0; i < r->n; i++) {
        at[i] = sum;
        sum += start[r->samples[i] + 1] - start[r->samples[i]];
    }
    for (int shard = 0; shard < s->batch->nshards; shard++)
        copy_output(s, c, shard, at, rows);
}

static int64_t rows_of(const struct cavs__request *r, const struct cavs__channel *c)
{
    const int64_t *start = cavs__starts(&r->data->stages[c->stage->number]);
    int64_t sum = 0;

    for (int i = 0; i < r->n; i++)
        sum += start[r->samples[i] + 1] - start[r->samples[i]];
    return sum;
}

static int collect_output(struct cavs_session *s, const struct cavs__request *r,
                          const struct cavs__channel *c, int64_t *at, float *rows)
{
    size_t n = (size_t)rows_of(r, c) * (size_t)c->width;

    if (!s->rt->ranks) {
        collect_own(s, r, c, at, rows);
        return CAVS_OK;
    }
    memset(rows, 0, n * sizeof *rows);
    collect_own(s, r, c, at, rows);
    return cavs__ranks_complete(s->rt->ranks, rows, n);
}

/* The channel that is asked for; NULL: reported. */
static const struct cavs__channel *find_channel(const struct cavs_session *s, int n,
                                                const struct cavs_fetch *f)
{
    if (!f->stage || f->stage->model != s->model || !f->channel || (n > 0 && !f->rows)) {
        cavs__fail(CAVS_EINVAL, "output: no stage, channel or room for rows");
        return NULL;
    }
    for (int i = 0; i < f->stage->nchannels; i++) {
        if (strcmp(f->stage->channels[i]->name, f->channel) == 0)
            return f->stage->channels[i];
    }
    cavs__fail(CAVS_EINVAL, "output: nothing is pushed on channel %s of stage %s", f->channel,
               f->stage->name);
    return NULL;
}

static int run_and_collect(struct cavs_session *s, const struct cavs__request *r, int nfetches,
                           const struct cavs_fetch *fetches, int64_t *at)
{
    int rc = cavs_session_evaluate(s, r->data, r->samples, r->n);

    if (!rc)
        rc = cavs__settle(s);
    if (!rc && nfetches > 0)
        rc = cavs__ranks_agree_on(s->rt->ranks, "outputs", rc);
    for (int i = 0; i < nfetches && r->n > 0 && !rc; i++)
        rc = collect_output(s, r, find_channel(s, r->n, &fetches[i]), at, fetches[i].rows);
    return rc;
}

int cavs_session_run(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n,
                     int nfetches, const struct cavs_fetch *fetches)
{
    struct cavs__request r = {.data = d, .samples = samples, .n = n};
    size_t room = (size_t)(n > 0 ? n : 0) + 1;
    int64_t *at;
    int rc;

    if (!s || nfetches < 0 || (nfetches > 0 && !fetches))
        return cavs__fail(CAVS_EINVAL, "output: no session, or no channels to fetch");
    for (int i = 0; i < nfetches; i++) {
        if (!find_channel(s, n, &fetches[i]))
            return CAVS_EINVAL;
    }
    at = malloc(room * sizeof *at);
    rc = at ? run_and_collect(s, &r, nfetches, fetches, at)
            : cavs__fail_nomem("output", room * sizeof *at);
    free(at);
    return rc;
}

int cavs_session_output(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                        int n, const struct cavs_stage *stage, const char *channel, float *rows)
{
    return cavs_session_run(s, d, samples, n, 1, &(struct cavs_fetch){stage, channel, rows});
}

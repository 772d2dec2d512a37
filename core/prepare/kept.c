/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.c - batches that come again: the one graph of a model over a single one, a development set
 * that is evaluated after every epoch.
 *
 * Of every batch it is remembered for a while that it came, by a hash, and how much memory keeping
 * it takes.  One that comes a second time is prepared into arrays of its own, and from then on it
 * is there: the same data and the same samples in the same order, compared one by one, and their
 * ids where the caller can have changed these.  What has not come for long makes room for others.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/prepare/preparing.h"

enum {
    LATELY = 4096, /* how many batches back; a power of two */
    LEAST = 256    /* vertices: fewer are prepared as fast as they are found again */
};

/* A batch that came once, found by the lower bits of its hash. */
struct cavs__once {
    uint64_t hash;
    size_t bytes;
};

int cavs__kept_init(struct cavs__kept *k, size_t limit)
{
    *k = (struct cavs__kept){.limit = limit};
    if (limit == 0)
        return CAVS_OK;
    k->once = calloc(LATELY, sizeof *k->once);
    return k->once && cavs__table_begin(&k->table, 1)
               ? CAVS_OK
               : cavs__fail_nomem("batches", LATELY * sizeof *k->once);
}

static void batch_free(struct cavs__kept_batch *kept)
{
    cavs__batch_free(&kept->batch);
    cavs__arena_free(&kept->arena);
    free(kept->samples);
    free(kept);
}

void cavs__kept_free(struct cavs__kept *k)
{
    for (int i = 0; i < k->n; i++)
        batch_free(k->batches[i]);
    free(k->batches);
    free(k->once);
    cavs__table_free(&k->table);
}

/* ---- finding ---- */

static uint64_t hash_of(const struct cavs__request *r)
{
    uint64_t h = cavs__mix(cavs__mix(0, r->data->number), (uint64_t)r->run << 32 | (uint32_t)r->n);

    for (int i = 0; i < r->n; i++)
        h = cavs__mix(h, (uint64_t)r->samples[i]);
    return h | 1; /* 0 is no batch's */
}

static bool is_of(const struct cavs__kept_batch *kept, uint64_t hash, const struct cavs__request *r)
{
    const struct cavs__request *then = &kept->batch.request;

    return kept->hash == hash && kept->data == r->data->number && then->run == r->run &&
           then->n == r->n && then->nshards == r->nshards &&
           memcmp(kept->samples, r->samples, (size_t)r->n * sizeof *r->samples) == 0;
}

static struct cavs__kept_batch *find(const struct cavs__kept *k, uint64_t hash,
                                     const struct cavs__request *r)
{
    struct cavs__probe p = cavs__table_probe(&k->table, cavs__mixed(hash));
    int32_t i;

    for (; (i = cavs__probe_at(&p)) >= 0; cavs__probe_step(&p)) {
        if (is_of(k->batches[i], hash, r))
            return k->batches[i];
    }
    return NULL;
}

/* Are the ids what they were?  The caller may write to the arrays that cavs_data_sample_ids()
 * gives. */
static bool unchanged(const struct cavs__kept_batch *kept, const struct cavs_data *d)
{
    const struct cavs_model *m = kept->batch.plan->model;

    for (int i = 0; d->lent && i < kept->batch.nshards; i++) {
        for (int j = 0; j < m->nstages; j++) {
            if (!cavs__same_ids(d, &kept->batch.shards[i], m->stages[j]))
                return false;
        }
    }
    return true;
}

/* ---- keeping ---- */

/* The kept batch that has not come for longest, if that is long enough to make room; else NULL. */
static struct cavs__kept_batch *oldest(const struct cavs__kept *k)
{
    struct cavs__kept_batch *old = NULL;

    for (int i = 0; i < k->n; i++) {
        if (!old || k->batches[i]->last < old->last)
            old = k->batches[i];
    }
    return old && k->now - old->last > LATELY ? old : NULL;
}

/* Makes the table anew, since nothing can be removed from one. */
static bool tabulate(struct cavs__kept *k)
{
    if (!cavs__table_grow(&k->table, (size_t)k->n + 1))
        return false;
    cavs__table_empty(&k->table, (size_t)k->n + 1);
    for (int i = 0; i < k->n; i++)
        cavs__table_put(&k->table, cavs__mixed(k->batches[i]->hash), i);
    return true;
}

static struct cavs__kept_batch *add(struct cavs__kept *k, const struct cavs__batch *like)
{
    struct cavs__kept_batch *kept;

    if (!cavs__array_reserve(&k->batches, &k->cap, (size_t)k->n + 1, sizeof *k->batches) ||
        !(kept = calloc(1, sizeof *kept)))
        return NULL;
    if (cavs__batch_init_beside(&kept->batch, like)) {
        batch_free(kept);
        return NULL;
    }
    kept->number = k->n;
    return k->batches[k->n++] = kept;
}

/* Makes it the kept batch of this request; it has the arrays of the one that it was before. */
static bool rename_batch(struct cavs__kept *k, struct cavs__kept_batch *kept, uint64_t hash,
                         const struct cavs__request *r)
{
    kept->hash = 0;
    if (!cavs__array_reserve(&kept->samples, &kept->cap, (size_t)r->n, sizeof *kept->samples))
        return false;
    memcpy(kept->samples, r->samples, (size_t)r->n * sizeof *r->samples);
    kept->hash = hash;
    kept->data = r->data->number;
    kept->written = 0;
    if (tabulate(k))
        return true;
    kept->hash = 0;
    return false;
}

/* A place for one more kept batch; NULL: there is no room.  Where memory is short the batch is just
 * not kept. */
static struct cavs__kept_batch *begin(struct cavs__kept *k, const struct cavs__batch *like,
                                      uint64_t hash, size_t bytes, const struct cavs__request *r)
{
    struct cavs__kept_batch *kept = oldest(k);
    size_t before = kept ? kept->bytes : 0, after = bytes > before ? bytes : before;

    if (k->bytes - before + after > k->limit)
        return NULL;
    if (!kept)
        kept = add(k, like);
    if (!kept || !rename_batch(k, kept, hash, r))
        return NULL;
    kept->bytes = after;
    k->bytes += after - before;
    return kept;
}

/* ---- all ---- */

static bool is_large(const struct cavs__request *r)
{
    int64_t n = 0;

    for (int k = 0; k < r->data->model->nstages; k++) {
        const int64_t *start = cavs__starts(&r->data->stages[k]);

        for (int i = 0; i < r->n && n < LEAST; i++)
            n += start[r->samples[i] + 1] - start[r->samples[i]];
    }
    return n >= LEAST;
}

struct cavs__kept_batch *cavs__kept_batch_of(struct cavs__kept *k, const struct cavs__batch *like,
                                             const struct cavs__request *r)
{
    struct cavs__kept_batch *kept;
    const struct cavs__once *once;
    uint64_t hash;

    if (k->limit == 0 || !is_large(r))
        return NULL;
    hash = hash_of(r);
    once = &k->once[hash / 2 % LATELY];
    k->now++;
    kept = find(k, hash, r);
    if (!kept && once->hash == hash && once->bytes > 0)
        kept = begin(k, like, hash, once->bytes, r);
    if (!kept)
        return NULL;
    if (kept->written && !unchanged(kept, r->data))
        kept->written = 0;
    kept->last = k->now;
    kept->batch.request = *r;
    return kept;
}

void cavs__kept_drop(struct cavs__kept_batch *kept)
{
    kept->hash = 0;
    kept->written = 0;
    kept->last = 0;
}

void cavs__kept_note(struct cavs__kept *k, const struct cavs__request *r, size_t bytes)
{
    uint64_t hash;

    if (k->limit == 0 || !is_large(r))
        return;
    hash = hash_of(r);
    k->once[hash / 2 % LATELY] = (struct cavs__once){hash, bytes};
}

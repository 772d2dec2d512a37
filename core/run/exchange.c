/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - what is agreed on for each batch, its tasks, and norms; see exchange.h. */
#include "core/run/exchange.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/notice.h"

/* ---- life ---- */

static int create_all(struct cavs__exchange *x)
{
    size_t ranks = (size_t)cavs__ranks_count(x->ranks);
    int rc;

    cavs__sum_codelet(&x->sum);
    cavs__sum_rows_codelet(&x->sum_rows);
    cavs__pack_codelet(&x->pack);
    cavs__unpack_codelet(&x->unpack);
    cavs__norms_codelet(&x->merge_norms);
    x->rank_of = calloc((size_t)x->e->nshards + 1, sizeof *x->rank_of);
    x->alike = calloc(3 * ranks, sizeof *x->alike);
    x->sharing = calloc(ranks, sizeof *x->sharing);
    x->lengths = calloc(ranks, sizeof *x->lengths);
    x->norms = calloc(ranks, sizeof *x->norms);
    if (!x->rank_of || !x->alike || !x->sharing || !x->lengths || !x->norms)
        return cavs__fail_nomem("exchange", ranks * sizeof *x->norms);
    for (int i = 0; i < CAVS__SLOTS; i++)
        x->waiting[i].laps = x->e->slots[i].laps;
    x->pace = x->alike + ranks;
    x->told = x->pace + ranks;
    for (size_t i = 0; i < 2 * ranks; i++)
        x->alike[i] = (struct cavs__pace){.workers = 1, .speed = 1};
    rc = cavs__parcels_create(x);
    return rc ? rc : cavs__rows_create(x);
}

/* The least number of shards of which so many ranks get some each; 0: no number is enough. */
static int shards_for(int ranks)
{
    for (int n = ranks; n <= CAVS__MAX_SHARDS; n++) {
        if (cavs__partials_among(n) >= ranks)
            return n;
    }
    return 0;
}

static void tell_idle(const struct cavs__exchange *x)
{
    int ranks = cavs__ranks_count(x->ranks), most = cavs__partials(x->e), n = x->e->nshards,
        wanted = shards_for(ranks);
    char advice[64];

    if (ranks <= most)
        return;
    snprintf(advice, sizeof advice, wanted > 0 ? "with %d all do" : "more ranks than %d never do",
             wanted > 0 ? wanted : CAVS__MAX_PARTIALS);
    cavs__notice("%d of %d ranks have no part of a batch of %d shard%s; %s", ranks - most, ranks, n,
                 n == 1 ? "" : "s", advice);
}

int cavs__exchange_create(struct cavs__engine *e, struct cavs__store_entry *const *stored,
                          struct cavs__exchange **out)
{
    if (!e->rt->ranks)
        return CAVS_OK;
    *out = calloc(1, sizeof **out);
    if (!*out)
        return cavs__fail_nomem("exchange", sizeof **out);
    (*out)->e = e;
    (*out)->stored = stored;
    (*out)->ranks = e->rt->ranks;
    (*out)->tags = cavs__ranks_tags(e->rt->ranks);
    tell_idle(*out);
    return create_all(*out);
}

void cavs__exchange_free(struct cavs__exchange *x)
{
    if (!x)
        return;
    cavs__parcels_free(x);
    cavs__rows_free(x);
    for (int i = 0; x->norms && i < cavs__ranks_count(x->ranks); i++)
        cavs__block_free(&x->norms[i]);
    for (int i = 0; i < CAVS__SLOTS; i++)
        cavs__block_free(&x->computed[i]);
    free(x->norms);
    free(x->rank_of);
    free(x->alike);
    free(x->sharing);
    free(x->ways);
    free(x->mine);
    free(x->theirs);
    free(x->lengths);
    free(x);
}

int cavs__exchange_follow_plan(struct cavs__exchange *x)
{
    int rc = cavs__parcels_follow_plan(x);

    return rc ? rc : cavs__rows_follow_plan(x);
}

/* ---- who has what ---- */

int cavs__shards_of(const struct cavs__exchange *x, int rank)
{
    int n = 0;

    for (int i = 0; i < x->nshards; i++)
        n += x->rank_of[i] == rank;
    return n;
}

void cavs__exchange_deal(struct cavs__exchange *x, int nshards, bool measured)
{
    struct cavs__pace *by = measured ? x->pace : x->alike;

    if (x->nshards == nshards && x->dealt_by == by)
        return;
    x->nshards = nshards;
    x->dealt_by = by;
    cavs__deal(x->e, nshards, cavs__ranks_count(x->ranks), by, x->rank_of, x->rank_of_chunk);
    x->nsharing = 0;
    for (int k = 0; k < cavs__ranks_count(x->ranks); k++) {
        if (cavs__shards_of(x, k) > 0)
            x->sharing[x->nsharing++] = k;
    }
}

bool cavs__is_here(const struct cavs__exchange *x, int shard)
{
    return x->rank_of[shard] == cavs__rank(x->ranks);
}

int cavs__place_of(const struct cavs__exchange *x)
{
    for (int i = 0; i < x->nsharing; i++) {
        if (x->sharing[i] == cavs__rank(x->ranks))
            return i;
    }
    return -1;
}

/* ---- agreeing ---- */

void cavs__exchange_given(struct cavs__exchange *x, const void *bytes, size_t n)
{
    if (x)
        x->given = cavs__hash(x->given ? x->given : CAVS__HASH_START, bytes, n);
}

int cavs__exchange_meet(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                        struct cavs__tensor *lists, uint64_t same, int rc)
{
    bool sums = b->request.run != CAVS__RUN_EVALUATE && x->ntables > 0;
    struct cavs__meeting m = {.call = "batch",
                              .same = same,
                              .what = "batch",
                              .given = x->given,
                              .lengths = x->lengths,
                              .pace = cavs__own_pace(x),
                              .paces = x->told};

    if (!rc && sums)
        rc = cavs__rows_list(x, b, slot);
    m.rc = rc;
    if (!rc && sums) {
        m.list = x->mine;
        m.length = x->mine[0];
        m.lists = x->theirs;
    }
    rc = cavs__ranks_meet(x->ranks, &m);
    if (!rc)
        x->given = 0;
    return rc || !sums ? rc : cavs__rows_merge(x, b, slot, lists);
}

/* ---- the tasks of a batch ---- */

int cavs__submit_exchange(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    bool trains = b->request.run == CAVS__RUN_TRAIN;
    int rc = cavs__join_flush(x->e, slot);

    if (!rc)
        rc = cavs__submit_ready(x, slot);
    if (!rc)
        rc = cavs__parcels_receive(x, slot);
    if (!rc)
        rc = cavs__rows_receive(x, slot);
    if (!rc)
        rc = cavs__rows_give(x, b, slot);
    if (!rc) /* rows are there before the gradients that follow */
        rc = cavs__join_flush(x->e, slot);
    if (!rc)
        rc = cavs__parcels_sum(x, slot, trains);
    if (!rc)
        rc = cavs__rows_sum(x, b, slot);
    if (!rc)
        rc = cavs__rows_send(x, slot);
    if (!rc)
        rc = cavs__parcels_send(x, slot);
    return rc || trains ? rc : cavs__spread_gradients(x, slot);
}

/* ---- norms: of parameters that are not cut, see exchange_parcels.c ---- */

static int32_t *sources_of_norms(const struct cavs__exchange *x, int slot)
{
    const struct cavs_model *m = x->e->plan->model;
    size_t bytes = ((size_t)m->nstored + 1) * sizeof(int32_t);
    int32_t *source = cavs__arena_alloc(&x->e->slots[slot].arena, bytes);
    int rank = cavs__rank(x->ranks);

    for (int i = 0; source && i < m->nstored; i++) {
        int owner = x->shares_of[i] > 0 ? x->parcels[x->shares[x->share_of[i]].parcel].owner : rank;

        source[i] = owner == rank ? -1 : owner - (owner > rank);
    }
    if (!source)
        cavs__fail_nomem("norms", bytes);
    return source;
}

static int merge_norms(struct cavs__exchange *x, int slot, starpu_data_handle_t norms)
{
    struct cavs__norms_args *a = cavs__arena_alloc(&x->e->slots[slot].arena, sizeof *a);
    int ranks = cavs__ranks_count(x->ranks);
    int32_t *source = sources_of_norms(x, slot);
    struct starpu_task *t;

    if (!a || !source)
        return cavs__fail_nomem("task", sizeof *a);
    *a = (struct cavs__norms_args){
        .n = ranks - 1, .nparams = x->e->plan->model->nstored, .source = source};
    t = cavs__task_create(x->e, slot, -1, &x->merge_norms, a);
    cavs__task_buffer(t, norms, STARPU_RW);
    for (int i = 0; i < ranks; i++) {
        if (i != cavs__rank(x->ranks))
            cavs__task_buffer(t, x->norms[i].handle, STARPU_R);
    }
    t->priority = 2;
    return cavs__task_start(x->e, slot, t);
}

int cavs__submit_norms(struct cavs__exchange *x, int slot, starpu_data_handle_t norms)
{
    int64_t tag = cavs__norms_tag(slot);
    int rc = CAVS_OK;

    for (int i = 0; i < cavs__ranks_count(x->ranks) && !rc; i++) {
        bool own = i == cavs__rank(x->ranks);

        if (!own)
            rc = cavs__block_make(&x->norms[i], starpu_data_get_size(norms) / sizeof(float));
        if (!rc)
            rc = cavs__spread(x, slot, own ? norms : x->norms[i].handle, i, tag);
    }
    return rc ? rc : merge_norms(x, slot, norms);
}

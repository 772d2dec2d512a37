/* SPDX-License-Identifier: Apache-2.0 */
/* exchange.c - dense gradients of all ranks, and what is agreed on for each batch; see
 * exchange.h. */
#include "core/run/exchange.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/run/optimizer.h"

enum {
    SMALL = 1 << 13, /* floats of a parameter that shares a parcel */
    PARCEL = 1 << 15 /* and of such a parcel */
};

/* ---- blocks ---- */

int cavs__block_reserve(struct cavs__block *k, size_t n)
{
    float *grown;

    if (n <= k->room)
        return CAVS_OK;
    n += n / 4 + 16;
    grown = aligned_alloc(64, (n * sizeof *grown + 63) / 64 * 64);
    if (!grown)
        return cavs__fail_nomem("gradients of other ranks", n * sizeof *grown);
    free(k->p);
    k->p = grown;
    k->room = n;
    return CAVS_OK;
}

void cavs__block_register(struct cavs__block *k, size_t n)
{
    k->n = n;
    starpu_matrix_data_register(&k->handle, STARPU_MAIN_RAM, (uintptr_t)k->p, (uint32_t)n,
                                (uint32_t)n, 1, sizeof(float));
}

/* ---- life ---- */

static bool is_dense(const struct cavs__exchange *x, const struct cavs_param *p)
{
    return cavs__is_trained(p) && x->e->plan->grad[p->number] >= 0;
}

/* Small parameters share parcels: a message costs more than it carries. */
static void assign_parcels(struct cavs__exchange *x)
{
    const struct cavs_model *m = x->e->plan->model;
    int shared = -1;

    for (int i = 0; i < m->nstored; i++) {
        const struct cavs_param *p = m->params[i];
        size_t floats = (size_t)p->rows * (size_t)p->cols;
        int parcel = floats <= SMALL ? shared : -1;

        x->parcel_of[i] = -1;
        if (!is_dense(x, p))
            continue;
        if (parcel < 0 || x->parcels[parcel].sum.n + floats > PARCEL) {
            parcel = x->nparcels++;
            shared = floats <= SMALL ? parcel : shared;
        }
        x->parcel_of[i] = parcel;
        x->at[i] = x->parcels[parcel].sum.n;
        x->parcels[parcel].sum.n += (floats + 15) / 16 * 16;
    }
}

static int create_parcels(struct cavs__exchange *x)
{
    int rc = CAVS_OK;

    assign_parcels(x);
    for (int i = 0; i < x->nparcels && !rc; i++) {
        struct cavs__block *k = &x->parcels[i].sum;

        rc = cavs__block_reserve(k, k->n);
        for (size_t j = 0; j < k->n && !rc; j++)
            k->p[j] = 0;
        if (!rc)
            cavs__block_register(k, k->n);
    }
    return rc;
}

int cavs__exchange_create(struct cavs__engine *e, struct cavs__exchange **out)
{
    size_t n = (size_t)e->plan->model->nstored + 1, ranks;
    struct cavs__exchange *x;
    int rc;

    if (!e->rt->ranks)
        return CAVS_OK;
    ranks = (size_t)cavs__ranks_count(e->rt->ranks);
    *out = x = calloc(1, sizeof *x);
    if (!x)
        return cavs__fail_nomem("exchange", sizeof *x);
    x->e = e;
    x->ranks = e->rt->ranks;
    cavs__sum_codelet(&x->sum_codelet);
    x->parcels = calloc(n, sizeof *x->parcels);
    x->parcel_of = calloc(n, sizeof *x->parcel_of);
    x->at = calloc(n, sizeof *x->at);
    x->rank_of = calloc((size_t)e->nshards + 1, sizeof *x->rank_of);
    x->sharing = calloc(ranks, sizeof *x->sharing);
    x->lengths = calloc(ranks, sizeof *x->lengths);
    if (!x->parcels || !x->parcel_of || !x->at || !x->rank_of || !x->sharing || !x->lengths)
        return cavs__fail_nomem("exchange", n * sizeof *x->parcels);
    rc = create_parcels(x);
    return rc ? rc : cavs__rows_create(x);
}

void cavs__exchange_free(struct cavs__exchange *x)
{
    if (!x)
        return;
    for (int i = 0; x->parcels && i < x->nparcels; i++) {
        if (x->parcels[i].sum.handle)
            starpu_data_unregister_no_coherency(x->parcels[i].sum.handle);
        free(x->parcels[i].sum.p);
    }
    cavs__rows_free(x);
    free(x->parcels);
    free(x->parcel_of);
    free(x->at);
    free(x->rank_of);
    free(x->sharing);
    free(x->mine);
    free(x->theirs);
    free(x->lengths);
    free(x);
}

/* ---- who has what ---- */

int cavs__exchange_deal(struct cavs__exchange *x, struct cavs__batch *b)
{
    int rank = cavs__rank(x->ranks);

    cavs__deal(x->e, b, cavs__ranks_count(x->ranks), x->rank_of);
    x->nsharing = 0;
    for (int k = 0; k < cavs__ranks_count(x->ranks); k++) {
        for (int i = 0; i < b->nshards; i++) {
            if (x->rank_of[i] != k)
                continue;
            x->sharing[x->nsharing++] = k;
            break;
        }
    }
    for (int i = 0; i < b->nshards; i++) {
        if (x->rank_of[i] != rank)
            b->shards[i].nsamples = 0;
    }
    return CAVS_OK;
}

int cavs__place_of(const struct cavs__exchange *x)
{
    for (int i = 0; i < x->nsharing; i++) {
        if (x->sharing[i] == cavs__rank(x->ranks))
            return i;
    }
    return -1;
}

/* The k-th rank that has the whole sum: the last one that shares in the batch, those before it
 * backwards, and then those without a shard. */
static int on_way_back(const struct cavs__exchange *x, int k)
{
    int next = 0;

    if (k < 0 || k >= cavs__ranks_count(x->ranks))
        return -1;
    if (k < x->nsharing)
        return x->sharing[x->nsharing - 1 - k];
    for (int rank = 0, i = 0; rank < cavs__ranks_count(x->ranks); rank++) {
        if (i < x->nsharing && x->sharing[i] == rank)
            i++;
        else if (x->nsharing + next++ == k)
            return rank;
    }
    return -1;
}

void cavs__way_back(const struct cavs__exchange *x, int *from, int *to)
{
    int k = 0;

    while (on_way_back(x, k) != cavs__rank(x->ranks))
        k++;
    *from = on_way_back(x, k - 1);
    *to = on_way_back(x, k + 1);
}

/* ---- agreeing ---- */

static uint64_t hash_of(const struct cavs__batch *b)
{
    const struct cavs__request *r = &b->request;
    uint64_t h = cavs__hash(CAVS__HASH_START, &r->run, sizeof r->run);

    h = cavs__hash(h, &r->updates, sizeof r->updates);
    return cavs__hash(h, r->samples, (size_t)r->n * sizeof *r->samples);
}

int cavs__exchange_meet(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                        struct cavs__tensor *lists, int rc)
{
    bool sums = b->request.run != CAVS__RUN_EVALUATE && x->ntables > 0;
    struct cavs__meeting m = {.same = hash_of(b), .what = "batch", .numbers = x->lengths};

    if (!rc && sums)
        rc = cavs__rows_list(x, b, slot);
    m.rc = rc;
    m.number = sums && !rc ? x->mine[0] : 0;
    rc = cavs__ranks_meet(x->ranks, &m);
    return rc || !sums ? rc : cavs__rows_merge(x, b, slot, lists);
}

/* ---- tasks and messages ---- */

int cavs__carry(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int to, int from,
                int64_t tag)
{
    struct cavs__slot *of = &x->e->slots[slot];
    int rc;

    if (to < 0 && from < 0)
        return CAVS_OK;
    cavs__slot_hold(of);
    rc = to >= 0 ? cavs__ranks_send(x->ranks, handle, to, tag, cavs__slot_release, of->laps)
                 : cavs__ranks_receive(x->ranks, handle, from, tag, cavs__slot_release, of->laps);
    if (rc)
        cavs__slot_release(of->laps);
    return rc;
}

/* The partial gradients of this rank; returns how many. */
static int partials(const struct cavs__exchange *x, const struct cavs_param *p,
                    starpu_data_handle_t *handles)
{
    const struct cavs__engine *e = x->e;
    int n = 0;

    for (int i = 0; i < CAVS__MAX_PARTIALS; i++) {
        if (e->grad_used[p->number][i])
            handles[n++] = e->tensors[e->plan->grad[p->number]].chunks[i].handle;
    }
    return n;
}

static int submit_sum(struct cavs__exchange *x, int slot, const struct cavs_param *p, bool adds)
{
    struct cavs__engine *e = x->e;
    struct cavs__arena *arena = &e->slots[slot].arena;
    struct cavs__sum_args *a = cavs__arena_alloc(arena, sizeof *a);
    const float **g = cavs__arena_alloc(arena, CAVS__MAX_PARTIALS * sizeof *g);
    starpu_data_handle_t handles[CAVS__MAX_PARTIALS];
    struct starpu_task *t;
    int n = partials(x, p, handles);

    if (!a || !g)
        return cavs__fail_nomem("task", sizeof *a);
    *a = (struct cavs__sum_args){.rows = p->rows,
                                 .cols = p->cols,
                                 .adds = adds,
                                 .at = x->at[p->number],
                                 .ldg = e->tensors[e->plan->grad[p->number]].ld,
                                 .ngrads = n,
                                 .gradients = g};
    t = cavs__task_create(e, slot, -1, &x->sum_codelet, a, n + 1);
    if (!t)
        return CAVS_ENOMEM;
    cavs__task_buffer(t, x->parcels[x->parcel_of[p->number]].sum.handle, STARPU_RW);
    for (int i = 0; i < n; i++)
        cavs__task_buffer(t, handles[i], STARPU_R);
    t->priority = 2;
    return cavs__task_submit(e, slot, t, (double)p->rows * p->cols * e->rt->cost.rates.value);
}

static int receive_parcels(struct cavs__exchange *x, int slot)
{
    int place = cavs__place_of(x), rc = CAVS_OK;

    for (int i = 0; i < x->nparcels && place > 0 && !rc; i++)
        rc = cavs__carry(x, slot, x->parcels[i].sum.handle, -1, x->sharing[place - 1], 2 * i);
    return rc;
}

static int sum_parcels(struct cavs__exchange *x, int slot)
{
    const struct cavs_model *m = x->e->plan->model;
    int place = cavs__place_of(x), rc = CAVS_OK;

    for (int i = 0; i < m->nstored && place >= 0 && !rc; i++) {
        if (x->parcel_of[i] >= 0)
            rc = submit_sum(x, slot, m->params[i], place > 0);
    }
    return rc;
}

static int send_parcels(struct cavs__exchange *x, int slot)
{
    int place = cavs__place_of(x), from, to, rc = CAVS_OK;

    cavs__way_back(x, &from, &to);
    for (int i = 0; i < x->nparcels && !rc; i++) {
        starpu_data_handle_t sum = x->parcels[i].sum.handle;

        if (place >= 0 && place + 1 < x->nsharing)
            rc = cavs__carry(x, slot, sum, x->sharing[place + 1], -1, 2 * i);
        if (!rc)
            rc = cavs__carry(x, slot, sum, -1, from, 2 * i + 1);
        if (!rc)
            rc = cavs__carry(x, slot, sum, to, -1, 2 * i + 1);
    }
    return rc;
}

int cavs__submit_exchange(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    int rc = cavs__join_flush(x->e, slot);

    if (!rc)
        rc = receive_parcels(x, slot);
    if (!rc)
        rc = cavs__rows_receive(x, slot);
    if (!rc)
        rc = sum_parcels(x, slot);
    if (!rc)
        rc = cavs__rows_sum(x, b, slot);
    if (!rc)
        rc = cavs__join_flush(x->e, slot);
    if (!rc)
        rc = send_parcels(x, slot);
    return rc ? rc : cavs__rows_send(x, slot);
}

/* ---- what comes of it ---- */

static int table_of(const struct cavs__exchange *x, const struct cavs_param *p)
{
    for (int i = 0; i < x->ntables; i++) {
        if (x->tables[i] == p)
            return i;
    }
    return -1;
}

starpu_data_handle_t cavs__exchanged(const struct cavs__exchange *x, const struct cavs_param *p,
                                     int slot, size_t *at)
{
    bool rows = cavs__has_row_gradient(x->e->plan, p);

    *at = rows ? 0 : x->at[p->number];
    return rows ? x->rows[table_of(x, p)][slot].all.handle
                : x->parcels[x->parcel_of[p->number]].sum.handle;
}

const struct cavs__touched *cavs__exchanged_rows(const struct cavs__exchange *x,
                                                 const struct cavs_param *p, int slot)
{
    return &x->rows[table_of(x, p)][slot].whole;
}

const float *cavs__exchanged_numbers(const struct cavs__exchange *x, const struct cavs_param *p,
                                     int slot)
{
    return cavs__has_row_gradient(x->e->plan, p)
               ? x->rows[table_of(x, p)][slot].all.p
               : x->parcels[x->parcel_of[p->number]].sum.p + x->at[p->number];
}

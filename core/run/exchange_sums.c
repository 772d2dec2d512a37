/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_sums.c - gradients of the parameters in parcels come together at their owners; see
 * exchange.h. */
#include "core/base/error.h"
#include "core/run/exchange.h"

/* ---- gradients ---- */

static int receive_from(struct cavs__exchange *x, int slot, int parcel, int rank)
{
    struct cavs__parcel *k = &x->parcels[parcel];
    int n = cavs__subtotals_of(x->rank_of_chunk, rank).n, rc = CAVS_OK;

    for (int i = 0; i < n && !rc; i++) {
        rc = cavs__block_make(&k->in[rank][i], k->floats);
        if (!rc)
            rc = cavs__receive(x, slot, k->in[rank][i].handle, rank, cavs__tag(slot, parcel, i));
    }
    return rc;
}

int cavs__parcels_receive(struct cavs__exchange *x, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->nparcels; i++) {
        for (int k = 0; k < x->nsharing && cavs__owns_parcel(x, i) && !rc; k++) {
            if (x->sharing[k] != cavs__rank(x->ranks))
                rc = receive_from(x, slot, i, x->sharing[k]);
        }
    }
    return rc;
}

/* A sum that is being made, of the partial gradients from `first` to first + size - 1. */
struct adding {
    struct cavs__exchange *x;
    int slot, parcel, first, size;
    struct cavs__sum_args *a;
    struct cavs__parcel_item *items;
    int nhandles;
    starpu_data_handle_t *handles; /* handles of gradients, then of subtotals of other ranks */
    double numbers;
};

static void add_item(struct adding *s, const struct cavs__share *share)
{
    const struct cavs_param *p = share->p;
    const struct cavs__engine *e = s->x->e;
    const struct cavs__tensor *t = &e->tensors[e->plan->grad[p->number]];
    struct cavs__parcel_item *it = &s->items[s->a->nitems++];

    *it = (struct cavs__parcel_item){
        .first = share->first, .rows = share->rows, .cols = p->cols, .at = share->at, .ld = t->ld};
    for (int i = s->first; i < s->first + s->size; i++) {
        if (!e->grad_used[p->number][i])
            continue;
        it->partial[it->ngrads++] = (uint8_t)i;
        s->handles[s->nhandles++] = t->chunks[i].handle;
    }
    s->numbers += (double)share->rows * p->cols;
}

static void add_others(struct adding *s)
{
    struct cavs__exchange *x = s->x;

    for (int k = 0; k < x->nsharing; k++) {
        struct cavs__subtotals t = cavs__subtotals_of(x->rank_of_chunk, x->sharing[k]);

        for (int i = 0; i < t.n && x->sharing[k] != cavs__rank(x->ranks); i++) {
            s->a->other[s->a->nothers++] = t.first[i];
            s->handles[s->nhandles++] = x->parcels[s->parcel].in[x->sharing[k]][i].handle;
        }
    }
}

static int begin_sum(struct adding *s)
{
    struct cavs__arena *arena = &s->x->e->slots[s->slot].arena;
    size_t n = (size_t)s->x->e->plan->model->nstored + 1;

    s->a = cavs__arena_alloc(arena, sizeof *s->a);
    s->items = cavs__arena_alloc(arena, n * sizeof *s->items);
    s->handles = cavs__arena_alloc(arena, n * CAVS__PARTIALS * sizeof(starpu_data_handle_t));
    if (!s->a || !s->items || !s->handles)
        return cavs__fail_nomem("task", n * CAVS__PARTIALS * sizeof(starpu_data_handle_t));
    *s->a = (struct cavs__sum_args){.items = s->items};
    return CAVS_OK;
}

static int submit_sum(struct adding *s, struct cavs__block *out, bool with_others)
{
    struct starpu_task *t;
    int rc = begin_sum(s);

    for (int i = 0; i < s->x->nshares && !rc; i++) {
        if (s->x->shares[i].parcel == s->parcel)
            add_item(s, &s->x->shares[i]);
    }
    if (!rc && with_others)
        add_others(s);
    if (!rc)
        rc = cavs__block_make(out, s->x->parcels[s->parcel].floats);
    if (rc)
        return rc;
    t = cavs__task_create(s->x->e, s->slot, -1, &s->x->sum, s->a);
    cavs__task_buffer(t, out->handle, STARPU_W);
    for (int i = 0; i < s->nhandles; i++)
        cavs__task_buffer(t, s->handles[i], STARPU_R);
    t->priority = 3; /* others wait for it, and it takes less time than updates */
    return cavs__task_submit(s->x->e, s->slot, t, s->numbers * s->x->e->rt->cost.rates.value);
}

/* The handle of the one partial gradient of a subtotal, which then need not be added up; NULL:
 * there are several. */
static starpu_data_handle_t lone_partial(const struct cavs__exchange *x, int parcel, int first,
                                         int size)
{
    const struct cavs_param *p = x->parcels[parcel].direct;
    starpu_data_handle_t lone = NULL;

    for (int i = first; p && i < first + size; i++) {
        if (!x->e->grad_used[p->number][i])
            continue;
        if (lone)
            return NULL;
        lone = x->e->tensors[x->e->plan->grad[p->number]].chunks[i].handle;
    }
    return lone;
}

/* Submits the tasks that add up a parcel.  Of a direct one the owner adds up while it updates. */
static int sum_parcel(struct cavs__exchange *x, int slot, int parcel, bool trains)
{
    struct cavs__subtotals t = cavs__subtotals_of(x->rank_of_chunk, cavs__rank(x->ranks));
    int rc = CAVS_OK;

    if (cavs__owns_parcel(x, parcel) && trains && x->parcels[parcel].direct)
        return CAVS_OK;
    if (cavs__owns_parcel(x, parcel))
        return submit_sum(
            &(struct adding){.x = x, .slot = slot, .parcel = parcel, .size = CAVS__PARTIALS},
            &x->parcels[parcel].all, true);
    for (int i = 0; i < t.n && !rc; i++) {
        if (lone_partial(x, parcel, t.first[i], t.size[i]))
            continue;
        rc = submit_sum(
            &(struct adding){
                .x = x, .slot = slot, .parcel = parcel, .first = t.first[i], .size = t.size[i]},
            &x->parcels[parcel].out[i], false);
    }
    return rc;
}

/* Adds up the parcels of other owners first, since these wait for them; the tasks are not joined
 * with those that wait for other ranks. */
int cavs__parcels_sum(struct cavs__exchange *x, int slot, bool trains)
{
    int rc = CAVS_OK;

    for (int own = 0; own < 2; own++) {
        for (int i = 0; i < x->nparcels && !rc; i++) {
            if (cavs__owns_parcel(x, i) == own)
                rc = sum_parcel(x, slot, i, trains);
        }
        if (!rc)
            rc = cavs__join_flush(x->e, slot);
    }
    return rc;
}

int cavs__parcels_send(struct cavs__exchange *x, int slot)
{
    struct cavs__subtotals t = cavs__subtotals_of(x->rank_of_chunk, cavs__rank(x->ranks));
    int rc = CAVS_OK;

    for (int i = 0; i < x->nparcels; i++) {
        for (int k = 0; k < t.n && !cavs__owns_parcel(x, i) && !rc; k++) {
            starpu_data_handle_t lone = lone_partial(x, i, t.first[k], t.size[k]);

            rc = cavs__send(x, slot, lone ? lone : x->parcels[i].out[k].handle, x->parcels[i].owner,
                            cavs__tag(slot, i, k));
        }
    }
    return rc;
}

int cavs__spread_gradients(struct cavs__exchange *x, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->nparcels && !rc; i++)
        rc = cavs__spread(x, slot, x->parcels[i].all.handle, x->parcels[i].owner,
                          cavs__tag(slot, i, CAVS__PARTIALS));
    return rc;
}

int cavs__own_partials(const struct cavs__exchange *x, starpu_data_handle_t *handles)
{
    const struct cavs__engine *e = x->e;
    int n = 0;

    for (int i = 0; i < e->plan->model->nstored; i++) {
        for (int k = 0; k < CAVS__PARTIALS && x->shares_of[i] > 0; k++) {
            if (e->grad_used[i][k])
                handles[n++] = e->tensors[e->plan->grad[i]].chunks[k].handle;
        }
    }
    return n;
}

/* ---- what comes of it ---- */

static int add_partials(const struct cavs__exchange *x, const struct cavs__share *share,
                        starpu_data_handle_t *handles, uint8_t *partial)
{
    const struct cavs__engine *e = x->e;
    const struct cavs_param *p = share->p;
    int n = 0;

    for (int i = 0; i < CAVS__PARTIALS; i++) {
        if (!e->grad_used[p->number][i])
            continue;
        handles[n] = e->tensors[e->plan->grad[p->number]].chunks[i].handle;
        partial[n++] = (uint8_t)i;
    }
    for (int k = 0; k < x->nsharing; k++) {
        struct cavs__subtotals t = cavs__subtotals_of(x->rank_of_chunk, x->sharing[k]);

        for (int i = 0; i < t.n && x->sharing[k] != cavs__rank(x->ranks); i++) {
            handles[n] = x->parcels[share->parcel].in[x->sharing[k]][i].handle;
            partial[n++] = t.first[i];
        }
    }
    return n;
}

int cavs__exchanged(const struct cavs__exchange *x, const struct cavs__share *share,
                    starpu_data_handle_t *handles, uint8_t *partial, size_t *at, int *from)
{
    const struct cavs__parcel *k = &x->parcels[share->parcel];

    *at = k->direct ? 0 : share->at;
    *from = share->first;
    if (k->direct)
        return add_partials(x, share, handles, partial);
    handles[0] = k->all.handle;
    partial[0] = 0;
    return 1;
}

const float *cavs__exchanged_numbers(const struct cavs__exchange *x,
                                     const struct cavs__share *share)
{
    return x->parcels[share->parcel].all.p + share->at;
}

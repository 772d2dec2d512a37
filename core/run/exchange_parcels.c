/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_parcels.c - which shares of parameters travel together; see exchange.h. */
#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/run/exchange.h"

enum { PARCEL = 1 << 15 /* how many floats a parcel of small shares has */ };

static int add_parcel(struct cavs__exchange *x, int owner)
{
    if (!cavs__array_reserve(&x->parcels, &x->parcels_room, (size_t)x->nparcels + 1,
                             sizeof *x->parcels))
        return cavs__fail_nomem("exchange", ((size_t)x->nparcels + 1) * sizeof *x->parcels);
    x->parcels[x->nparcels++] = (struct cavs__parcel){.owner = owner};
    return CAVS_OK;
}

/* The parcel of an owner that a share of so many floats goes into.  Small parameters of an owner
 * share parcels: a message costs more than it carries.  shared: the last such parcel of the owner,
 * or -1. */
static int find_parcel(struct cavs__exchange *x, int owner, size_t floats, int *shared, int *parcel)
{
    bool small = floats <= CAVS__SMALL_SHARE;
    int rc = CAVS_OK;

    *parcel = small ? *shared : -1;
    if (*parcel >= 0 && x->parcels[*parcel].floats + floats <= PARCEL)
        return rc;
    *parcel = x->nparcels;
    rc = add_parcel(x, owner);
    if (!rc && small)
        *shared = *parcel;
    return rc;
}

/* Puts each share that has no parcel yet into one, and notes in the share which it is.  shared:
 * [ranks] */
static int assign_parcels(struct cavs__exchange *x, const int *owner, int *shared)
{
    for (int i = 0; i < x->nshares; i++) {
        struct cavs__share *s = &x->shares[i];
        size_t floats = cavs__floats_in(s);
        int parcel, rc;

        if (s->parcel >= 0)
            continue;
        rc = find_parcel(x, owner[i], floats, &shared[owner[i]], &parcel);
        if (rc)
            return rc;
        s->parcel = parcel;
        s->at = x->parcels[parcel].floats;
        x->parcels[parcel].floats += floats;
    }
    return CAVS_OK;
}

/* Gradients and values of a parameter that has a parcel for itself travel as they are, if there are
 * no gaps between rows. */
static void find_direct(struct cavs__exchange *x)
{
    for (int i = 0; i < x->nshares; i++) {
        const struct cavs__share *s = &x->shares[i];
        struct cavs__parcel *k = &x->parcels[s->parcel];

        if (cavs__is_whole(s) && k->floats == cavs__floats_in(s) &&
            cavs__tensor_ld(s->p->cols) == s->p->cols)
            k->direct = s->p;
    }
}

/* ---- life ---- */

/* Makes the parcels that are not made yet. */
static int make_parcels(struct cavs__exchange *x)
{
    size_t ranks = (size_t)cavs__ranks_count(x->ranks);
    int rc = CAVS_OK;

    for (int i = 0; i < x->nparcels && !rc; i++) {
        struct cavs__parcel *k = &x->parcels[i];

        rc = cavs__block_make(&k->all, k->floats);
        if (!k->in)
            k->in = calloc(ranks, sizeof *k->in);
        if (!rc && !k->in)
            rc = cavs__fail_nomem("exchange", ranks * sizeof *k->in);
    }
    return rc;
}

/* What has a parcel keeps it: who sends and who receives agree on them at any time. */
int cavs__parcels_follow_plan(struct cavs__exchange *x)
{
    size_t ranks = (size_t)cavs__ranks_count(x->ranks), *load = calloc(ranks, sizeof *load);
    int rc = cavs__shares_add(x);
    int *owner = malloc(((size_t)x->nshares + 1) * sizeof *owner),
        *shared = malloc(ranks * sizeof *shared);

    if (!rc && !(load && owner && shared))
        rc = cavs__fail_nomem("exchange", (size_t)x->nshares * sizeof *owner);
    if (!rc) {
        cavs__shares_deal(x, load, owner);
        for (size_t i = 0; i < ranks; i++)
            shared[i] = -1;
        rc = assign_parcels(x, owner, shared);
    }
    if (!rc) {
        find_direct(x);
        rc = make_parcels(x);
    }
    free(load);
    free(owner);
    free(shared);
    return rc;
}

int cavs__parcels_create(struct cavs__exchange *x)
{
    size_t n = (size_t)x->e->plan->model->nstored + 1;

    x->share_of = calloc(2 * n, sizeof *x->share_of);
    if (!x->share_of)
        return cavs__fail_nomem("exchange", 2 * n * sizeof *x->share_of);
    x->shares_of = x->share_of + n;
    return cavs__parcels_follow_plan(x);
}

static void free_parcel(struct cavs__parcel *k, int ranks)
{
    cavs__block_free(&k->all);
    for (int i = 0; i < CAVS__PARTIALS; i++) {
        cavs__block_free(&k->out[i]);
        for (int rank = 0; k->in && rank < ranks; rank++)
            cavs__block_free(&k->in[rank][i]);
    }
    free(k->in);
}

void cavs__parcels_free(struct cavs__exchange *x)
{
    for (int i = 0; i < x->nparcels; i++)
        free_parcel(&x->parcels[i], cavs__ranks_count(x->ranks));
    free(x->parcels);
    free(x->shares);
    free(x->share_of);
}

bool cavs__owns_parcel(const struct cavs__exchange *x, int parcel)
{
    return x->parcels[parcel].owner == cavs__rank(x->ranks);
}

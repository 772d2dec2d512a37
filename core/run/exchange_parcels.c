/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_parcels.c - which rank owns which parameter, and which ones travel together; see
 * exchange.h. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/exchange.h"
#include "core/run/optimizer.h"

enum {
    SMALL = 1 << 13, /* floats of a parameter that shares a parcel */
    PARCEL = 1 << 15 /* and of such a parcel */
};

/* ---- owners ---- */

static bool is_dense(const struct cavs__exchange *x, const struct cavs_param *p)
{
    return cavs__is_trained(p) && x->e->plan->grad[p->number] >= 0;
}

static size_t floats_of(const struct cavs_param *p)
{
    return (size_t)p->rows * (size_t)p->cols;
}

/* The largest parameter that nobody has yet; -1: there is none. */
static int next_param(const struct cavs__exchange *x, const int *owner)
{
    const struct cavs_model *m = x->e->plan->model;
    int next = -1;

    for (int i = 0; i < m->nstored; i++) {
        if (is_dense(x, m->params[i]) && owner[i] < 0 &&
            (next < 0 || floats_of(m->params[i]) > floats_of(m->params[next])))
            next = i;
    }
    return next;
}

/* To whoever has least, the largest first.  load: [ranks] zeros; owner: -1 of those that have none
 * yet. */
static void choose_owners(const struct cavs__exchange *x, size_t *load, int *owner)
{
    const struct cavs_model *m = x->e->plan->model;
    int ranks = cavs__ranks_count(x->ranks);

    for (int i = 0; i < m->nstored; i++) {
        owner[i] = x->parcel_of[i] < 0 ? -1 : x->parcels[x->parcel_of[i]].owner;
        if (owner[i] >= 0)
            load[owner[i]] += floats_of(m->params[i]);
    }
    for (int i; (i = next_param(x, owner)) >= 0;) {
        owner[i] = 0;
        for (int rank = 1; rank < ranks; rank++) {
            if (load[rank] < load[owner[i]])
                owner[i] = rank;
        }
        load[owner[i]] += floats_of(m->params[i]);
    }
}

/* Small parameters of an owner share parcels: a message costs more than it carries.  shared:
 * [ranks] the last such parcel of each, or -1. */
static void assign_parcels(struct cavs__exchange *x, const int *owner, int *shared)
{
    const struct cavs_model *m = x->e->plan->model;

    for (int i = 0; i < m->nstored; i++) {
        size_t floats = floats_of(m->params[i]);
        int parcel;

        if (owner[i] < 0 || x->parcel_of[i] >= 0)
            continue;
        parcel = floats <= SMALL ? shared[owner[i]] : -1;
        if (parcel < 0 || x->parcels[parcel].floats + floats > PARCEL) {
            parcel = x->nparcels++;
            x->parcels[parcel].owner = owner[i];
            if (floats <= SMALL)
                shared[owner[i]] = parcel;
        }
        x->parcel_of[i] = parcel;
        x->at[i] = x->parcels[parcel].floats;
        x->parcels[parcel].floats += floats;
    }
}

/* Gradients and values of a parameter that has a parcel for itself travel as they are, if there are
 * no gaps between rows. */
static void find_direct(struct cavs__exchange *x)
{
    const struct cavs__plan *plan = x->e->plan;

    for (int i = 0; i < plan->model->nstored; i++) {
        const struct cavs_param *p = plan->model->params[i];
        struct cavs__parcel *k = x->parcel_of[i] < 0 ? NULL : &x->parcels[x->parcel_of[i]];

        if (k && k->floats == floats_of(p) && cavs__tensor_ld(p->cols) == p->cols)
            k->direct = p;
    }
}

/* ---- life ---- */

static int make_parcels(struct cavs__exchange *x, int first)
{
    size_t ranks = (size_t)cavs__ranks_count(x->ranks);
    int rc = CAVS_OK;

    for (int i = first; i < x->nparcels && !rc; i++) {
        struct cavs__parcel *k = &x->parcels[i];

        rc = cavs__block_make(&k->all, k->floats);
        k->in = calloc(ranks, sizeof *k->in);
        if (!rc && !k->in)
            rc = cavs__fail_nomem("exchange", ranks * sizeof *k->in);
    }
    return rc;
}

/* What has a parcel keeps it: who sends and who receives agree on them at any time. */
int cavs__parcels_follow_plan(struct cavs__exchange *x)
{
    size_t n = (size_t)x->e->plan->model->nstored + 1, ranks = (size_t)cavs__ranks_count(x->ranks);
    size_t *load = calloc(ranks, sizeof *load);
    int *owner = malloc(n * sizeof *owner), *shared = malloc(ranks * sizeof *shared), rc;
    int before = x->nparcels;

    if (load && owner && shared) {
        choose_owners(x, load, owner);
        for (size_t i = 0; i < ranks; i++)
            shared[i] = -1;
        assign_parcels(x, owner, shared);
        find_direct(x);
        rc = make_parcels(x, before);
    } else {
        rc = cavs__fail_nomem("exchange", n * sizeof *owner);
    }
    free(load);
    free(owner);
    free(shared);
    return rc;
}

int cavs__parcels_create(struct cavs__exchange *x)
{
    size_t n = (size_t)x->e->plan->model->nstored + 1;

    x->parcels = calloc(n, sizeof *x->parcels);
    x->parcel_of = malloc(n * sizeof *x->parcel_of);
    x->at = calloc(n, sizeof *x->at);
    if (!x->parcels || !x->parcel_of || !x->at)
        return cavs__fail_nomem("exchange", n * sizeof *x->parcels);
    memset(x->parcel_of, -1, n * sizeof *x->parcel_of);
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
    for (int i = 0; x->parcels && i < x->nparcels; i++)
        free_parcel(&x->parcels[i], cavs__ranks_count(x->ranks));
    free(x->parcels);
    free(x->parcel_of);
    free(x->at);
}

bool cavs__owns_parcel(const struct cavs__exchange *x, int parcel)
{
    return x->parcels[parcel].owner == cavs__rank(x->ranks);
}

bool cavs__owns(const struct cavs__exchange *x, const struct cavs_param *p)
{
    return x->parcel_of[p->number] < 0 || cavs__owns_parcel(x, x->parcel_of[p->number]);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_values.c - the new values of parameters go from their owners to all; see exchange.h. */
#include "core/base/error.h"
#include "core/run/exchange.h"
#include "core/run/store.h"

/* ---- values ---- */

/* Adds the parameter to the task, and its copies where it is written, or was by a message: also
 * those that only other sessions read which share it. */
static void add_value(struct cavs__exchange *x, struct starpu_task *t,
                      const struct cavs__share *share, bool written, bool there,
                      struct cavs__parcel_item *it)
{
    struct cavs__engine *e = x->e;
    const struct cavs_param *p = share->p;
    struct cavs__tensor *w = &e->tensors[e->plan->param[p->number]];
    enum starpu_data_access_mode writing = cavs__is_whole(share) ? STARPU_W : STARPU_RW;

    *it = (struct cavs__parcel_item){
        .first = share->first, .rows = share->rows, .cols = p->cols, .at = share->at, .ld = w->ld};
    cavs__task_buffer(t, w->chunks[0].handle, written && !there ? writing : STARPU_R);
    for (int l = 0; l < CAVS__LAYOUTS && written; l++) {
        const struct cavs__tensor *copy = &x->stored[p->number]->copies[l];

        if (!cavs__is_there(copy))
            continue;
        it->copies[it->ncopies++] =
            (struct cavs__copy){.layout = (enum cavs__layout)l, .ld = copy->ld};
        cavs__task_buffer(t, copy->chunks[0].handle, STARPU_RW);
    }
}

/* Submits the task that copies values between a parcel and its parameters. */
static int submit_value(struct cavs__exchange *x, int slot, int parcel)
{
    const struct cavs_model *m = x->e->plan->model;
    struct cavs__arena *arena = &x->e->slots[slot].arena;
    size_t n = (size_t)m->nstored + 1;
    struct cavs__values_args *a = cavs__arena_alloc(arena, sizeof *a);
    struct cavs__parcel_item *items = cavs__arena_alloc(arena, n * sizeof *items);
    bool own = cavs__owns_parcel(x, parcel);
    struct starpu_task *t;

    if (!a || !items)
        return cavs__fail_nomem("task", n * sizeof *items);
    *a = (struct cavs__values_args){.items = items, .there = x->parcels[parcel].direct};
    t = cavs__task_create(x->e, slot, -1, own ? &x->pack : &x->unpack, a);
    if (!a->there)
        cavs__task_buffer(t, x->parcels[parcel].all.handle, own ? STARPU_W : STARPU_R);
    for (int i = 0; i < x->nshares; i++) {
        if (x->shares[i].parcel == parcel)
            add_value(x, t, &x->shares[i], !own, a->there, &items[a->nitems++]);
    }
    t->priority = 2;
    return cavs__task_start(x->e, slot, t);
}

static int spread_values(struct cavs__exchange *x, int slot, int parcel)
{
    const struct cavs__engine *e = x->e;
    const struct cavs__parcel *k = &x->parcels[parcel];

    return cavs__spread(x, slot,
                        k->direct ? e->tensors[e->plan->param[k->direct->number]].chunks[0].handle
                                  : k->all.handle,
                        k->owner, cavs__tag(slot, parcel, CAVS__PARTIALS));
}

/* Sends own parcels first, since others wait for them. */
int cavs__submit_values(struct cavs__exchange *x, int slot)
{
    int rc = CAVS_OK;

    for (int own = 1; own >= 0; own--) {
        for (int i = 0; i < x->nparcels && !rc; i++) {
            if (cavs__owns_parcel(x, i) != own)
                continue;
            if (own && !x->parcels[i].direct)
                rc = submit_value(x, slot, i);
            if (!rc)
                rc = spread_values(x, slot, i);
            if (!rc && !own)
                rc = submit_value(x, slot, i);
        }
    }
    return rc;
}

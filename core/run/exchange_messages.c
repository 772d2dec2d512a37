/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_messages.c - numbers that travel: their memory, tags, and when they have come; see
 * exchange.h. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/run/exchange.h"
#include "memory/handover.h"

/* ---- blocks ---- */

static size_t bytes_of(size_t room)
{
    return (room * sizeof(float) + 63) / 64 * 64;
}

/* In a simulation nobody reads what has come, so all blocks are then the same few pages. */
static int make_block(struct cavs__block *k, size_t n, size_t room)
{
    size_t bytes = bytes_of(room);

    if (starpu_malloc_flags((void **)&k->p, bytes, STARPU_MALLOC_SIMULATION_FOLDED) != 0 || !k->p)
        return cavs__fail_nomem("gradients of other ranks", bytes);
    k->room = room;
    starpu_matrix_data_register_allocsize(&k->handle, STARPU_MAIN_RAM, (uintptr_t)k->p, (uint32_t)n,
                                          (uint32_t)n, 1, sizeof *k->p, bytes);
    return CAVS_OK;
}

int cavs__block_make(struct cavs__block *k, size_t n)
{
    return k->handle ? CAVS_OK : make_block(k, n, n);
}

/* A handle lasts, since registering one takes microseconds, and says how much of it is sent; but
 * what a device has of it would stay as large as it was. */
int cavs__block_resize(struct cavs__block *k, size_t n, bool devices)
{
    struct starpu_matrix_interface *matrix;

    if (n > k->room || (n > 0 && devices)) {
        cavs__block_free(k);
        return make_block(k, n, n + n / 4 + 16);
    }
    if (n > 0) {
        matrix = starpu_data_get_interface_on_node(k->handle, STARPU_MAIN_RAM);
        matrix->nx = matrix->ld = (uint32_t)n;
    }
    return CAVS_OK;
}

void cavs__block_free(struct cavs__block *k)
{
    if (k->handle)
        starpu_data_unregister_no_coherency(k->handle);
    if (k->p)
        starpu_free_flags(k->p, bytes_of(k->room), STARPU_MALLOC_SIMULATION_FOLDED);
    *k = (struct cavs__block){0};
}

/* ---- messages ---- */

/* A parcel has a tag for each subtotal and one for the whole.  What is no parcel comes after all
 * that there could be: first norms, then tables.  A batch may have a message ready that one before
 * has not, with another handle: each slot has tags of its own. */
enum { NO_PARCEL = 1 << 24 };

int64_t cavs__tag(int slot, int parcel, int subtotal)
{
    return ((int64_t)parcel * (CAVS__PARTIALS + 1) + subtotal) * CAVS__SLOTS + slot;
}

int64_t cavs__norms_tag(int slot)
{
    return cavs__tag(slot, NO_PARCEL, 0);
}

int64_t cavs__rows_tag(int table, int slot, int kind)
{
    return cavs__tag(slot, NO_PARCEL, 1 + CAVS__ROW_TAGS * table + kind);
}

static void receive_done(void *arg)
{
    struct cavs__waiting *w = arg;
    double now = starpu_timing_now();

    __atomic_store(&w->arrived, &now, __ATOMIC_RELAXED);
    cavs__slot_release(w->laps);
}

int cavs__send(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int to, int64_t tag)
{
    struct cavs__slot *of = &x->e->slots[slot];
    int rc;

    cavs__slot_hold(of);
    rc = cavs__ranks_send(x->ranks, handle, to, x->tags + tag, cavs__slot_release, of->laps);
    if (rc)
        cavs__slot_release(of->laps);
    return rc;
}

int cavs__receive(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int from,
                  int64_t tag)
{
    struct cavs__slot *of = &x->e->slots[slot];
    int rc;

    cavs__slot_hold(of);
    rc =
        cavs__ranks_receive(x->ranks, handle, from, x->tags + tag, receive_done, &x->waiting[slot]);
    if (rc)
        cavs__slot_release(of->laps);
    return rc;
}

int cavs__spread(struct cavs__exchange *x, int slot, starpu_data_handle_t handle, int from,
                 int64_t tag)
{
    int rc = CAVS_OK, ranks = cavs__ranks_count(x->ranks);

    if (from != cavs__rank(x->ranks))
        return cavs__receive(x, slot, handle, from, tag);
    for (int i = 1; i < ranks && !rc; i++) /* not all to the same at the same time */
        rc = cavs__send(x, slot, handle, (from + i) % ranks, tag);
    return rc;
}

void cavs__exchange_observe(struct cavs__exchange *x, int slot)
{
    struct cavs__waiting *w = &x->waiting[slot];

    if (w->ready > 0 && w->arrived > w->ready)
        cavs__ranks_wait(x->ranks, (w->arrived - w->ready) * 1e-6);
    cavs__pace_observe(x, slot);
    w->ready = w->arrived = 0;
}

static void gradients_ready(void *arg)
{
    struct cavs__waiting *w = arg;
    double now = starpu_timing_now();

    __atomic_store(&w->ready, &now, __ATOMIC_RELAXED);
    cavs__slot_release(w->laps);
}

static struct starpu_codelet ready_codelet = {
    .where = STARPU_NOWHERE, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "cavs_ready"};

int cavs__submit_ready(struct cavs__exchange *x, int slot)
{
    size_t most = (size_t)x->e->plan->model->nstored * CAVS__PARTIALS + 1;
    starpu_data_handle_t *handles =
        cavs__arena_alloc(&x->e->slots[slot].arena, most * sizeof(starpu_data_handle_t));
    struct starpu_task *t;
    int n, rc = cavs__block_make(&x->computed[slot], 1);

    if (rc)
        return rc;
    if (!handles)
        return cavs__fail_nomem("task", most * sizeof(starpu_data_handle_t));
    n = cavs__own_partials(x, handles);
    if (n == 0)
        return CAVS_OK;
    t = cavs__task_create(x->e, slot, -1, &ready_codelet, NULL);
    for (int i = 0; i < n; i++)
        cavs__task_buffer(t, handles[i], STARPU_R);
    cavs__task_buffer(t, x->computed[slot].handle, STARPU_W);
    t->callback_func = gradients_ready;
    t->callback_arg = &x->waiting[slot];
    cavs__handover_fence(t);
    return cavs__task_start(x->e, slot, t);
}

starpu_data_handle_t cavs__updates_after(const struct cavs__exchange *x, int slot)
{
    const struct cavs__engine *e = x->e;

    return e->rt->workers == 1 && !e->devices ? x->computed[slot].handle : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c - tensors of all kinds that a plan has, and scratch; see engine.h. */
#include "core/run/engine.h"

#include <stdlib.h>

#include "codelets/device_set.h"
#include "core/base/array.h"
#include "core/base/error.h"
#include "memory/handover.h"

/* What to do about a tensor for which there is no memory. */
#define SMALLER_BATCHES "smaller batches or fewer shards need less"
#define SMALLER_PARAM                            \
    "parameters with fewer rows or columns, by " \
    "a smaller hidden size or vocabulary, need less"

static int refuse(const struct cavs__engine *e, const struct cavs__tensor *t, int64_t rows,
                  const char *advice)
{
    return cavs__fail(CAVS_ENOMEM,
                      "out of memory: tensor %s wanted %lld rows of %d numbers (%s); %.1f MB are "
                      "in use by all tensors; %s",
                      t->name, (long long)rows, t->cols,
                      cavs__size_text((double)rows * (double)t->ld * 4),
                      (double)e->tensor_bytes * 1e-6, advice);
}

static bool grow(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows,
                 int64_t kept, enum cavs__pinning pinning)
{
    size_t before = cavs__tensor_bytes(t);

    if (chunk < t->nchunks && rows <= t->chunks[chunk].rows)
        return true;
    if (cavs__tensor_add_chunks(t, chunk + 1) != 0 ||
        cavs__tensor_extend(t, chunk, rows, kept, pinning) != 0)
        return false;
    e->tensor_bytes += cavs__tensor_bytes(t) - before;
    return true;
}

int cavs__reserve(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows)
{
    return cavs__extend(e, t, chunk, rows, 0);
}

int cavs__reserve_here(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows)
{
    return grow(e, t, chunk, rows, 0, CAVS__PAGED) ? CAVS_OK : refuse(e, t, rows, SMALLER_BATCHES);
}

int cavs__extend(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows,
                 int64_t kept)
{
    return grow(e, t, chunk, rows, kept, CAVS__PINNED) ? CAVS_OK
                                                       : refuse(e, t, rows, SMALLER_BATCHES);
}

int cavs__reserve_of_param(struct cavs__engine *e, struct cavs__tensor *t, int chunk, int64_t rows)
{
    return grow(e, t, chunk, rows, 0, CAVS__PINNED) ? CAVS_OK : refuse(e, t, rows, SMALLER_PARAM);
}

void cavs__leave_unordered(const struct cavs__engine *e, const struct cavs__tensor *t, int chunk)
{
    if (e->rt->one_memory)
        starpu_data_set_sequential_consistency_flag(t->chunks[chunk].handle, 0);
}

int cavs__reserve_scratch(struct cavs__engine *e, size_t floats)
{
    if (e->scratch && floats <= e->scratch_floats)
        return CAVS_OK;
    floats += e->scratch ? floats / 4 + 16 : 16;
    if (floats > UINT32_MAX)
        return cavs__fail(CAVS_ENOMEM,
                          "out of memory: a vertex with very many children or entries of a list "
                          "wants %.1f MB of scratch",
                          (double)floats * 4e-6);
    if (e->scratch)
        starpu_data_unregister(e->scratch);
    starpu_matrix_data_register(&e->scratch, -1, 0, (uint32_t)floats, (uint32_t)floats, 1,
                                sizeof(float));
    e->scratch_floats = floats;
    return CAVS_OK;
}

/* ---- life ---- */

static void init_slots(struct cavs__engine *e)
{
    for (int i = 0; i < CAVS__SLOTS; i++) {
        for (int k = 0; k <= CAVS__MAX_HOMES; k++)
            e->slots[i].laps[k].slot = &e->slots[i];
        starpu_pthread_mutex_init(&e->slots[i].lock, NULL);
        starpu_pthread_cond_init(&e->slots[i].done, NULL);
    }
}

void cavs__engine_prepare_ahead(struct cavs__engine *e)
{
    e->nslots = CAVS__SLOTS;
}

int cavs__engine_init(struct cavs__engine *e, const struct cavs_runtime *rt,
                      const struct cavs_session_options *options, bool devices)
{
    *e = (struct cavs__engine){.rt = rt,
                               .options = options,
                               .rates = rt->cost.rates,
                               .devices = devices && cavs__devices->count() > 0};
    e->nslots = CAVS__SLOTS - 1;
    if (e->rt->ranks)
        cavs__engine_prepare_ahead(e);
    init_slots(e);
    return cavs__homes_init(e);
}

static int chunks_of(const struct cavs__engine *e, enum cavs__tensor_kind kind)
{
    switch (kind) {
    case CAVS__T_PARAM:
    case CAVS__T_COPY: return 1;
    case CAVS__T_GRAD: return CAVS__MAX_PARTIALS;
    case CAVS__T_BUNDLE: return CAVS__MAX_BLOCKS * e->nshards;
    case CAVS__T_INDEX:
    case CAVS__T_INPUT: return CAVS__SLOTS * e->nshards;
    default: return e->nshards;
    }
}

static int create_metrics(struct cavs__engine *e)
{
    for (int i = 0; i < e->nshards; i++) {
        int rc = cavs__reserve(e, &e->tensors[e->plan->metric], i, 1);

        if (rc)
            return rc;
        cavs__tensor_clear(&e->tensors[e->plan->metric], i);
    }
    return CAVS_OK;
}

int cavs__engine_create_tensors(struct cavs__engine *e, const struct cavs__plan *plan)
{
    int rc;

    e->plan = plan;
    e->grad_used = calloc((size_t)plan->model->nstored + 1, sizeof *e->grad_used);
    e->made = calloc((size_t)plan->model->nstored + 1, sizeof *e->made);
    e->cuts = calloc((size_t)plan->model->nstages + 1, sizeof *e->cuts);
    if (!e->grad_used || !e->made || !e->cuts)
        return cavs__fail_nomem("session",
                                ((size_t)plan->model->nstored + 1) *
                                        (sizeof *e->grad_used + sizeof *e->made) +
                                    ((size_t)plan->model->nstages + 1) * sizeof *e->cuts);
    rc = cavs__engine_follow_plan(e);
    return rc ? rc : create_metrics(e);
}

/* Does the store have it, and not the engine?  See store.h. */
static bool is_stored(const struct cavs__tensor_desc *d)
{
    return d->kind == CAVS__T_PARAM || d->kind == CAVS__T_COPY;
}

/* Makes tensors that are new, and those anew that the stage of a tape has left. */
int cavs__engine_follow_plan(struct cavs__engine *e)
{
    size_t room = (size_t)e->ntensors, wanted = (size_t)e->plan->ntensors;

    if (!cavs__array_reserve(&e->tensors, &room, wanted, sizeof *e->tensors))
        return cavs__fail_nomem("session", 2 * wanted * sizeof *e->tensors);
    for (; e->ntensors < e->plan->ntensors; e->ntensors++)
        e->tensors[e->ntensors] = (struct cavs__tensor){0};
    for (int i = 0; i < e->ntensors; i++) {
        const struct cavs__tensor_desc *d = &e->plan->tensors[i];
        int chunks = chunks_of(e, d->kind);

        if (!is_stored(d) && !e->tensors[i].chunks &&
            cavs__tensor_init(&e->tensors[i], d->name, d->cols, chunks) != 0)
            return cavs__fail_nomem(d->name, ((size_t)chunks + 1) * sizeof(struct cavs__chunk));
    }
    return CAVS_OK;
}

void cavs__wait_slots(struct cavs__engine *e)
{
    for (int i = 0; i < CAVS__SLOTS; i++)
        cavs__slot_wait(&e->slots[i]);
}

void cavs__wait_others(struct cavs__engine *e, int slot)
{
    for (int i = 0; i < CAVS__SLOTS; i++) {
        if (i != slot)
            cavs__slot_wait(&e->slots[i]);
    }
}

void cavs__end_failed_batch(struct cavs__engine *e)
{
    cavs__wait_slots(e);
    e->fault.state = 0; /* it would be taken for one of the next batch */
}

int cavs__wait_tasks(struct cavs__engine *e, int slot)
{
    int rc = cavs__join_flush(e, slot);

    cavs__workers_wake();
    if (rc)
        return rc;
    starpu_task_wait_for_all();
    cavs__handover_waited();
    return CAVS_OK;
}

void cavs__engine_free(struct cavs__engine *e)
{
    if (e->scratch)
        starpu_data_unregister(e->scratch);
    for (int i = 0; i < e->ntensors; i++) {
        if (!is_stored(&e->plan->tensors[i]))
            cavs__tensor_free(&e->tensors[i]);
    }
    cavs__homes_free(e);
    for (int i = 0; i < CAVS__SLOTS; i++) {
        cavs__arena_free(&e->slots[i].arena);
        for (int k = 0; e->slots[i].own && k < e->nshards; k++)
            cavs__arena_free(&e->slots[i].own[k]);
        free(e->slots[i].own);
        starpu_pthread_mutex_destroy(&e->slots[i].lock);
        starpu_pthread_cond_destroy(&e->slots[i].done);
    }
    free(e->here.scratch);
    free(e->tensors);
    free(e->grad_used);
    free(e->made);
    free(e->cuts);
}

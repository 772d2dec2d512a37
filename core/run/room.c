/* SPDX-License-Identifier: Apache-2.0 */
/* room.c - memory for a prepared batch, in the slot that is next: what its tasks read is written
 * there, what they write has room. */
#include "core/run/engine.h"

/* Adds some spare rows.  Batches differ in size, and if the second wanted a few rows more than the
 * first, it would have to wait for the tasks of the first. */
static int64_t with_spare(int64_t rows)
{
    return rows + rows / 16 + 1;
}

static bool has_room(const struct cavs__tensor *t, int chunk, int64_t rows)
{
    return chunk < t->nchunks && rows <= t->chunks[chunk].rows;
}

/* Makes room in a chunk.  stays: in main memory.  The tensors of a device's shard grow in large
 * steps: its share is found out batch by batch, and pinning memory takes long. */
static int reserve(struct cavs__engine *e, int tensor, int chunk, int64_t rows, bool stays)
{
    struct cavs__tensor *t = &e->tensors[tensor];

    if (stays)
        return cavs__reserve_here(e, t, chunk, with_spare(rows));
    return cavs__reserve(e, t, chunk, e->homes ? rows + rows / 4 + 1 : with_spare(rows));
}

/* ---- what tasks read ---- */

/* The index sections of a stage of a shard, or the rows of one of its inputs. */
struct read {
    struct cavs__engine *e;
    const struct cavs__batch *b;
    int shard, stage, input; /* -1: the index sections */
    int tensor, chunk;
};

/* Only the main thread writes to these, when all tasks that read them are done (see
 * write_all()). */
static int reserve_unordered(const struct read *r, int64_t rows)
{
    const struct cavs__tensor *t = &r->e->tensors[r->tensor];
    int rc = reserve(r->e, r->tensor, r->chunk, rows, cavs__is_at_cpus(r->e, r->shard));

    if (!rc)
        cavs__leave_unordered(r->e, t, r->chunk);
    return rc;
}

static int reserve_read(const struct read *r)
{
    const struct cavs_stage *stage = r->e->plan->stages[r->stage].stage;
    int64_t rows = 1 + (r->input < 0 ? cavs__index_length(r->b, r->shard, r->stage)
                                     : cavs__pulled_rows(&r->b->shards[r->shard], stage, r->input));

    return has_room(&r->e->tensors[r->tensor], r->chunk, rows) ? CAVS_OK
                                                               : reserve_unordered(r, rows);
}

static int acquire_read(const struct read *r)
{
    cavs__tensor_acquire(&r->e->tensors[r->tensor], r->chunk, STARPU_W);
    return CAVS_OK;
}

static int release_read(const struct read *r)
{
    cavs__tensor_release(&r->e->tensors[r->tensor], r->chunk);
    cavs__send_home(r->e, r->shard, &r->e->tensors[r->tensor], r->chunk);
    return CAVS_OK;
}

static int write_read(const struct read *r)
{
    const struct cavs__tensor *t = &r->e->tensors[r->tensor];
    float *out = t->chunks[r->chunk].p;

    if (r->input < 0)
        cavs__write_index(r->b, r->shard, r->stage, (int32_t *)out);
    else
        cavs__write_pulled(r->b, &r->b->shards[r->shard], r->e->plan->stages[r->stage].stage,
                           r->input, out, t->ld);
    return CAVS_OK;
}

/* Calls visit for all that the tasks of a shard read. */
static int each_read(struct cavs__engine *e, const struct cavs__batch *b, int shard,
                     int (*visit)(const struct read *r))
{
    struct read r = {.e = e, .b = b, .shard = shard};
    int rc = CAVS_OK;

    for (; r.stage < e->plan->model->nstages; r.stage++) {
        const struct cavs__stage_plan *sp = &e->plan->stages[r.stage];

        for (r.input = -1; r.input < sp->stage->ninputs && !rc; r.input++) {
            r.tensor = r.input < 0 ? sp->index : sp->input[r.input];
            if (r.tensor < 0)
                continue;
            r.chunk = cavs__chunk_of(e, r.tensor, cavs__next_slot(e), shard, 0);
            rc = visit(&r);
        }
    }
    return rc;
}

/* Tasks that read these chunks are done, since they were of the batch that had the slot before.  So
 * StarPU need not be asked, which takes as long as some tasks do, but where it may have to fetch
 * from elsewhere what has been there. */
static void each_read_of_all(struct cavs__engine *e, const struct cavs__batch *b,
                             int (*visit)(const struct read *r))
{
    for (int i = 0; i < b->nshards && !e->rt->one_memory; i++) {
        if (b->shards[i].nsamples > 0)
            each_read(e, b, i, visit);
    }
}

/* Is called for shards side by side where that pays; what it writes to belongs to the main thread
 * meanwhile. */
static int write_shard(struct cavs__engine *e, struct cavs__batch *b, int shard)
{
    return b->shards[shard].nsamples > 0 ? each_read(e, b, shard, write_read) : CAVS_OK;
}

static int write_all(struct cavs__engine *e, struct cavs__batch *b)
{
    int rc;

    each_read_of_all(e, b, acquire_read);
    rc = cavs__each_shard(e, b, write_shard, 0);
    each_read_of_all(e, b, release_read);
    return rc;
}

int cavs__renew(struct cavs__engine *e, struct cavs__batch *b)
{
    for (int i = 0; i < b->nshards && b->request.run != CAVS__RUN_EVALUATE; i++) {
        for (int j = 0; j < e->plan->model->nstages && b->shards[i].nsamples > 0; j++) {
            const struct cavs__stage_plan *sp = &e->plan->stages[j];
            struct cavs__tensor *t = &e->tensors[sp->index];
            int chunk = cavs__chunk_of(e, sp->index, cavs__next_slot(e), i, 0);

            if (!cavs__has_noise(sp))
                continue;
            cavs__write_noise(b, i, j, (int32_t *)cavs__tensor_acquire(t, chunk, STARPU_W));
            cavs__tensor_release(t, chunk);
        }
    }
    return CAVS_OK;
}

/* ---- what tasks write ---- */

static int64_t rows_of_shard(const struct cavs__shard *shard, const struct cavs__tensor_desc *d,
                             int block)
{
    return shard->nsamples > 0 && block < cavs__blocks_of(shard, d)
               ? cavs__rows_needed(shard, d, block) + 1
               : 0;
}

/* As many rows as the largest of the shards wants that are like this one: in a later batch any of
 * them may be as large, and growing waits for the batch before. */
static int64_t rows_to_have(const struct cavs__engine *e, const struct cavs__batch *b,
                            const struct cavs__tensor_desc *d, int shard, int block)
{
    int64_t most = rows_of_shard(&b->shards[shard], d, block);

    for (int i = 0; i < b->nshards; i++) {
        int64_t rows = rows_of_shard(&b->shards[i], d, block);

        if (rows > most && cavs__shards_alike(e, i, shard))
            most = rows;
    }
    return most;
}

static int reserve_tensor(struct cavs__engine *e, const struct cavs__batch *b, int shard,
                          int number)
{
    const struct cavs__tensor_desc *d = &e->plan->tensors[number];
    int rc = CAVS_OK;

    if (d->space == CAVS__FIXED || d->kind == CAVS__T_INPUT || d->cols == 0)
        return CAVS_OK;
    for (int k = 0; k < cavs__blocks_of(&b->shards[shard], d) && !rc; k++) {
        int chunk = cavs__chunk_of(e, number, 0, shard, k);

        if (!has_room(&e->tensors[number], chunk, rows_of_shard(&b->shards[shard], d, k)))
            rc = reserve(e, number, chunk, rows_to_have(e, b, d, shard, k),
                         cavs__is_at_cpus(e, shard));
    }
    return rc;
}

static int make_room(struct cavs__engine *e, const struct cavs__batch *b, int shard)
{
    int rc = each_read(e, b, shard, reserve_read);

    for (int i = 0; i < e->plan->ntensors && !rc; i++)
        rc = reserve_tensor(e, b, shard, i);
    return rc ? rc : cavs__reserve_scratch(e, cavs__shard_scratch(e->plan, &b->shards[shard]));
}

int cavs__make_room(struct cavs__engine *e, struct cavs__batch *b)
{
    int rc = CAVS_OK;

    for (int i = 0; i < b->nshards && !rc; i++) {
        if (b->shards[i].nsamples > 0) /* else no task of it will ask for anything */
            rc = make_room(e, b, i);
    }
    return rc ? rc : write_all(e, b);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit.c - from schedules to StarPU tasks.
 *
 * Tasks are submitted in an order in which data dependencies follow from StarPU's sequential
 * consistency: per shard, the eager parts, the chain V_1 .. V_T, the lazy parts, stage by stage;
 * then the same backwards; then parameter gradients. Nothing waits in between.
 *
 * How work is cut.  A shard's V_t are cut into blocks where eager work feeds its chain
 * (cavs__shard_stage.nblocks): what parts keep for one another is a chunk per block, so the chain
 * starts when the first eager block is there, and lazy parts and gradients of a block start when
 * the chain has left it.  Thin V_t share a task until it is worth the grain.  If the batch has
 * fewer shards than there are workers, rows of wide tasks are cut among several.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/session.h"

struct batch {
    struct cavs_session *s;
    int slot, nshards;
    int ways;     /* workers that a shard's rows may be cut among */
    int partials; /* partial gradients of a shard */
    double grain; /* seconds that a task should be worth */
};

/* Rows of one kind of task, in one block of one shard. */
struct work {
    const struct batch *b;
    const struct cavs__task_kind *k;
    const struct cavs__schedule *sch;
    int shard, block;
    int n;
    struct cavs__segment *segments;
};

static struct cavs__shard_stage *stage_of(const struct work *w)
{
    return &w->b->s->shards[w->shard].stages[w->k->stage->number];
}

static struct cavs__cuts *cuts_of(const struct work *w)
{
    return &w->b->s->cuts[w->k->stage->number];
}

static struct cavs__segment *new_segments(const struct batch *b, int n)
{
    size_t bytes = ((size_t)n + 1) * sizeof(struct cavs__segment);
    struct cavs__segment *p = cavs__arena_alloc(&b->s->slots[b->slot].arena, bytes);

    if (!p)
        cavs__fail_nomem("segments", bytes);
    return p;
}

static int64_t rows_of(const struct work *w)
{
    int64_t rows = 0;

    for (int i = 0; i < w->n; i++)
        rows += w->segments[i].rows;
    return rows;
}

/* ---- one task ---- */

enum access {
    ALONE, /* sequential consistency orders the task among all that touch its tensors */
    SHARED /* one of several that write different rows of the same tensors, see side_by_side() */
};

/* Buffers that these segments add to: not every function of a chain adds to every gradient that the
 * chain writes. */
static uint64_t adds_to(const struct work *w)
{
    uint64_t buffers = 0;

    for (int i = 0; i < w->n; i++)
        buffers |= w->k->parts[w->segments[i].function]->adds_to;
    return buffers;
}

static starpu_data_handle_t handle(const struct work *w, int i, int partial, int *chunk)
{
    const struct batch *b = w->b;
    int tensor = w->k->tensor[i];

    *chunk = b->s->plan->tensors[tensor].kind == CAVS__T_GRAD
                 ? cavs__partial_of(b->s, w->shard, partial, b->partials)
                 : cavs__chunk_of(b->s, tensor, b->slot, w->shard, w->block);
    return b->s->tensors[tensor].chunks[*chunk].handle;
}

/* The index sections where the main thread has written them. */
static const int32_t *host_index(const struct work *w)
{
    const struct cavs_session *s = w->b->s;
    int tensor = s->plan->stages[w->k->stage->number].index;
    int chunk = cavs__chunk_of(s, tensor, w->b->slot, w->shard, w->block);

    return (const int32_t *)s->tensors[tensor].chunks[chunk].p;
}

static int submit_task(const struct work *w, int partial, enum access access, int priority)
{
    struct cavs_session *s = w->b->s;
    const struct cavs__task_kind *k = w->k;
    struct cavs__part_args *a = cavs__arena_alloc(&s->slots[w->b->slot].arena, sizeof *a);
    uint64_t added = adds_to(w);
    struct starpu_task *t;

    if (!a)
        return cavs__fail_nomem("task", sizeof *a);
    *a = (struct cavs__part_args){.parts = (const struct cavs__part *const *)k->parts,
                                  .segments = w->segments,
                                  .nsegments = w->n,
                                  .index_buffer = k->index_buffer,
                                  .sections = stage_of(w)->offsets,
                                  .host_index = host_index(w),
                                  .fault = s->options.check_finite ? &s->fault : NULL,
                                  .nanoseconds = s->options.measure ? s->nanoseconds : NULL,
                                  .shard = w->shard,
                                  .batch = s->batch};
    t = cavs__task_create(s, w->b->slot, w->shard, (struct starpu_codelet *)&k->codelet, a,
                          k->nbuffers + 1);
    if (!t)
        return CAVS_ENOMEM;
    for (int i = 0; i < k->nbuffers; i++) {
        int chunk;
        starpu_data_handle_t h = handle(w, i, partial, &chunk);

        cavs__task_buffer(t, h, k->written[i] && access == ALONE ? STARPU_RW : STARPU_R);
        if (s->plan->tensors[k->tensor[i]].kind == CAVS__T_GRAD && (added >> i & 1)) {
            bool *used = &s->grad_used[s->plan->tensors[k->tensor[i]].param->number][chunk];

            if (!*used)
                a->first |= (uint64_t)1 << i;
            *used = true;
        }
    }
    cavs__task_buffer(t, s->scratch, STARPU_SCRATCH);
    t->priority = priority;
    return cavs__task_submit(s, w->b->slot, t);
}

/* ---- tasks side by side ----
 * StarPU has no access mode for "several writers, different rows" that lets them run at once.  So
 * such tasks take what they write as STARPU_R, which orders them with nobody, between two tasks
 * that do nothing and take it as STARPU_RW.  Right only where all workers share one memory node:
 * nothing is then copied, whatever the mode; cavs__submit_batch() sees to that. */

static struct starpu_codelet fence_codelet = {
    .where = STARPU_NOWHERE, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "cavs_fence"};

static int submit_fence(const struct work *w)
{
    struct cavs_session *s = w->b->s;
    struct starpu_task *t =
        cavs__task_create(s, w->b->slot, -1, &fence_codelet, NULL, w->k->nbuffers);

    if (!t)
        return CAVS_ENOMEM;
    for (int i = 0; i < w->k->nbuffers; i++) {
        int chunk;

        if (w->k->written[i])
            cavs__task_buffer(t, handle(w, i, 0, &chunk), STARPU_RW);
    }
    t->priority = 1;
    return cavs__task_submit(s, w->b->slot, t);
}

/* Rows from .. from+rows-1 of w, counted over its segments. */
static int cut_rows(const struct work *w, int64_t from, int64_t rows, struct work *out)
{
    int64_t at = 0;

    *out = *w;
    out->n = 0;
    out->segments = new_segments(w->b, w->n);
    if (!out->segments)
        return CAVS_ENOMEM;
    for (int i = 0; i < w->n; at += w->segments[i++].rows) {
        struct cavs__segment seg = w->segments[i];
        int64_t first = from > at ? from - at : 0;
        int64_t last = from + rows - at < seg.rows ? from + rows - at : seg.rows;

        if (first >= last)
            continue;
        seg.row0 += (int32_t)first;
        seg.frow0 += (int32_t)first;
        seg.brow0 += (int32_t)first;
        seg.edge0 = w->sch->edge_ptr[seg.row0];
        seg.rows = (int32_t)(last - first);
        out->segments[out->n++] = seg;
    }
    return CAVS_OK;
}

/* First row of piece i of n, on a multiple of 4: products are at full speed from 4 rows up. */
static int64_t piece_start(int64_t rows, int i, int n)
{
    return i == n ? rows : rows * i / n / 4 * 4;
}

static int submit_pieces(const struct work *w, int n, enum access access, int priority)
{
    int64_t rows = rows_of(w);
    int rc = CAVS_OK;

    for (int i = 0; i < n && !rc; i++) {
        int64_t from = piece_start(rows, i, n);
        struct work piece;

        rc = cut_rows(w, from, piece_start(rows, i + 1, n) - from, &piece);
        if (!rc && piece.n > 0)
            rc = submit_task(&piece, access == SHARED ? 0 : i, access, priority);
    }
    return rc;
}

static int side_by_side(const struct work *w, int ways, int priority)
{
    int rc = submit_fence(w);

    cuts_of(w)->wide++;
    if (!rc)
        rc = submit_pieces(w, ways, SHARED, priority);
    return rc ? rc : submit_fence(w);
}

/* ---- how to cut ---- */

enum { PIECE = 2 /* grains */ };

static double seconds(const struct work *w, const struct cavs__segment *seg)
{
    const struct cavs__shard_stage *t = stage_of(w);
    const struct cavs_function *f = w->k->stage->functions[seg->function];
    double entries[CAVS__PART_LISTS] = {0}; /* of a vertex, on average */

    for (int i = 0; i < f->nlists; i++)
        entries[i] = (double)t->entries[f->lists[i]->number] / t->schedule.function_rows[f->number];
    return cavs__part_seconds(&w->b->s->rt->cost.rates, w->k->parts[seg->function], seg->rows,
                              entries);
}

/* Pieces of a task: each worth several grains, for they run between two more tasks. */
static int ways(const struct work *w)
{
    double sum = 0, piece = PIECE * w->b->grain;

    if (w->b->ways < 2 || adds_to(w))
        return 1;
    for (int i = 0; i < w->n; i++)
        sum += seconds(w, &w->segments[i]);
    return sum < w->b->ways * piece ? (int)(sum / piece) : w->b->ways;
}

static int submit_work(const struct work *w, int priority)
{
    int n = ways(w);

    return n < 2 ? submit_task(w, 0, ALONE, priority) : side_by_side(w, n, priority);
}

/* ---- all rows of a function ---- */

static void add_segment(struct work *w, const struct cavs__vt *vt)
{
    const struct cavs__shard_stage *t = stage_of(w);
    int nf = w->k->stage->nfunctions;

    w->segments[w->n++] =
        (struct cavs__segment){.function = vt->function,
                               .rows = vt->n,
                               .row0 = vt->row0,
                               .frow0 = vt->frow0,
                               .edge0 = vt->edge0,
                               .brow0 = vt->frow0 - t->block_frow[w->block * nf + vt->function]};
}

static bool follows(const struct cavs__segment *a, const struct cavs__vt *vt)
{
    return a->row0 + a->rows == vt->row0 && a->frow0 + a->rows == vt->frow0;
}

/* As few segments as the numbering of rows allows (or one a row, for the serial policy). */
static int function_segments(struct work *w)
{
    const struct cavs__shard_stage *t = stage_of(w);
    bool serial = w->b->s->options.policy == CAVS_POLICY_SERIAL;

    w->n = 0;
    w->segments = new_segments(w->b, t->cut[w->block + 1] - t->cut[w->block]);
    if (!w->segments)
        return CAVS_ENOMEM;
    for (int i = t->cut[w->block]; i < t->cut[w->block + 1]; i++) {
        const struct cavs__vt *vt = &w->sch->vt[i];

        if (vt->function != w->k->function->number)
            continue;
        if (w->n > 0 && !serial && follows(&w->segments[w->n - 1], vt))
            w->segments[w->n - 1].rows += vt->n;
        else
            add_segment(w, vt);
    }
    return CAVS_OK;
}

/* Numbers of distinct inputs are the rows of a part that has them. */
static int distinct_segments(struct work *w)
{
    const struct cavs__shard_stage *t = stage_of(w);
    int rows = t->distinct.n[w->k->function->number];
    bool serial = w->b->s->options.policy == CAVS_POLICY_SERIAL;

    w->n = 0;
    w->segments = new_segments(w->b, serial ? rows : 1);
    if (!w->segments)
        return CAVS_ENOMEM;
    for (int i = 0; i < rows; i += w->segments[w->n - 1].rows)
        w->segments[w->n++] = (struct cavs__segment){.function = w->k->function->number,
                                                     .rows = serial ? 1 : rows,
                                                     .row0 = i,
                                                     .frow0 = i,
                                                     .brow0 = i};
    return CAVS_OK;
}

/* Sums over rows run one after the other, in a fixed order, into each partial gradient. */
static int submit_sums(const struct work *w)
{
    int64_t most = rows_of(w) / CAVS__PARTIAL_ROWS;
    int n = most < 1 ? 1 : most < w->b->partials ? (int)most : w->b->partials;

    return n < 2 || w->k->phase != CAVS__GRADIENT
               ? submit_task(w, 0, ALONE, w->k->phase == CAVS__GRADIENT ? -1 : 0)
               : submit_pieces(w, n, ALONE, -1);
}

static int submit_function(struct work *w)
{
    int rc = w->k->shared ? distinct_segments(w) : function_segments(w);

    if (rc || w->n == 0)
        return rc;
    return adds_to(w) ? submit_sums(w) : submit_work(w, 0);
}

/* ---- the chain ----
 * A task per V_t; but tasks of one shard's chain can only run one after the other, so thin ones,
 * for which the runtime's cost per task would show, are run together: consecutive V_t until the
 * task is worth the grain. */

static bool may_merge(const struct batch *b)
{
    return b->s->options.policy !=
           CAVS_POLICY_SERIAL; /* which is there to show what one vertex a task costs */
}

/* Worth cutting among workers: then it must stand alone, since rows of one V_t read those of another. */
static bool is_wide(struct work *w, const struct cavs__vt *vt)
{
    struct work alone = *w;

    if (w->b->ways < 2)
        return false;
    alone.segments += w->n;
    alone.n = 0;
    add_segment(&alone, vt);
    return ways(&alone) > 1;
}

static int flush(struct work *w)
{
    int rc = w->n == 0 ? CAVS_OK : w->n == 1 ? submit_work(w, 1) : submit_task(w, 0, ALONE, 1);

    if (w->k->phase == CAVS__FORWARD && w->n > 0) {
        cuts_of(w)->vt += w->n;
        cuts_of(w)->chain++;
    }
    w->segments += w->n;
    w->n = 0;
    return rc;
}

static int submit_chain(struct work *w)
{
    const struct cavs__shard_stage *t = stage_of(w);
    int first = t->cut[w->block], last = t->cut[w->block + 1];
    double sum = 0;
    int rc = CAVS_OK;

    w->n = 0;
    w->segments = new_segments(w->b, last - first);
    if (!w->segments)
        return CAVS_ENOMEM;
    for (int i = first; i < last && !rc; i++) {
        const struct cavs__vt *vt =
            &w->sch->vt[w->k->phase == CAVS__FORWARD ? i : last - 1 - (i - first)];

        if (!w->k->parts[vt->function])
            continue;
        if (is_wide(w, vt))
            rc = flush(w);
        add_segment(w, vt);
        sum += seconds(w, &w->segments[w->n - 1]);
        if (rc || (may_merge(w->b) && sum < w->b->grain))
            continue;
        rc = flush(w);
        sum = 0;
    }
    return rc ? rc : flush(w);
}

/* ---- all ---- */

static int submit_stage(const struct batch *b, int shard, int stage, enum cavs__phase phase)
{
    const struct cavs__stage_plan *sp = &b->s->plan->stages[stage];
    const struct cavs__shard_stage *t = &b->s->shards[shard].stages[stage];

    for (int i = 0; i < sp->nkinds; i++) {
        struct work w = {.b = b, .k = sp->kinds[i], .sch = &t->schedule, .shard = shard};
        int rc = CAVS_OK;

        int nblocks = w.k->shared ? 1 : t->nblocks;

        for (int j = 0; j < nblocks && w.k->phase == phase && !rc; j++) {
            w.block = phase == CAVS__FORWARD ? j : nblocks - 1 - j;
            rc = w.k->function ? submit_function(&w) : submit_chain(&w);
        }
        if (rc)
            return rc;
    }
    return CAVS_OK;
}

static int submit_phase(const struct batch *b, enum cavs__phase phase)
{
    int n = b->s->model->nstages;

    for (int shard = 0; shard < b->nshards; shard++) {
        for (int i = 0; i < n; i++) {
            int rc = submit_stage(b, shard, phase == CAVS__FORWARD ? i : n - 1 - i, phase);

            if (rc)
                return rc;
        }
    }
    return CAVS_OK;
}

int cavs__submit_batch(struct cavs_session *s, int slot, int nshards, enum cavs__run run)
{
    struct batch b = {.s = s,
                      .slot = slot,
                      .nshards = nshards,
                      .ways = s->rt->one_memory ? (s->rt->workers + nshards - 1) / nshards : 1,
                      .partials = s->nshards / nshards,
                      .grain = cavs__grain(s)};
    int last = run == CAVS__RUN_EVALUATE ? CAVS__FORWARD : CAVS__GRADIENT, rc = CAVS_OK;

    for (int i = 0; i < s->model->nstages; i++) {
        s->cuts[i] = (struct cavs__cuts){0};
        for (int shard = 0; shard < nshards; shard++)
            s->cuts[i].blocks += s->shards[shard].stages[i].nblocks;
    }
    memset(s->grad_used, 0, (size_t)s->model->nstored * sizeof *s->grad_used);
    for (int phase = 0; phase <= last && !rc; phase++)
        rc = submit_phase(&b, (enum cavs__phase)phase);
    return rc;
}

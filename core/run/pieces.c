/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.c - one task of some rows, or pieces of it; see pieces.h. */
#include "core/run/pieces.h"

#include "core/base/error.h"
#include "memory/handover.h"

struct cavs__segment *cavs__new_segments(const struct cavs__submission *of, int n)
{
    size_t bytes = ((size_t)n + 1) * sizeof(struct cavs__segment);
    struct cavs__segment *p = cavs__arena_alloc(of->arena, bytes);

    if (!p)
        cavs__fail_nomem("segments", bytes);
    return p;
}

int64_t cavs__piece_rows(const struct cavs__piece *w)
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

uint64_t cavs__piece_adds_to(const struct cavs__piece *w)
{
    uint64_t buffers = 0;

    for (int i = 0; i < w->n; i++)
        buffers |= w->k->parts[w->segments[i].function]->adds_to;
    return buffers;
}

static starpu_data_handle_t handle(const struct cavs__piece *w, int i, int partial, int *chunk)
{
    const struct cavs__submission *of = w->of;
    int tensor = w->k->tensor[i];

    *chunk = of->e->plan->tensors[tensor].kind == CAVS__T_GRAD
                 ? cavs__partial_of(of->e, w->shard, partial, of->partials)
                 : cavs__chunk_of(of->e, tensor, of->slot, w->shard, w->block);
    return of->e->tensors[tensor].chunks[*chunk].handle;
}

/* Where the main thread has written the index sections, in main memory. */
static const int32_t *host_index(const struct cavs__piece *w)
{
    const struct cavs__engine *e = w->of->e;
    int tensor = e->plan->stages[w->k->stage->number].index;
    int chunk = cavs__chunk_of(e, tensor, w->of->slot, w->shard, w->block);

    return (const int32_t *)e->tensors[tensor].chunks[chunk].p;
}

static double seconds_of(const struct cavs__piece *w)
{
    double sum = 0;

    for (int i = 0; i < w->n; i++)
        sum += cavs__piece_seconds(w, &w->segments[i]);
    return sum;
}

static struct cavs__part_args *new_args(const struct cavs__piece *w)
{
    struct cavs__engine *e = w->of->e;
    const struct cavs__task_kind *k = w->k;
    struct cavs__part_args *a = cavs__arena_alloc(w->of->arena, sizeof *a);

    if (!a) {
        cavs__fail_nomem("task", sizeof *a);
        return NULL;
    }
    *a = (struct cavs__part_args){.parts = (const struct cavs__part *const *)k->parts,
                                  .segments = w->segments,
                                  .nsegments = w->n,
                                  .chain = cavs__chain_of(k),
                                  .nbuffers = k->nbuffers + 1,
                                  .index_buffer = k->index_buffer,
                                  .sections = w->t->offsets,
                                  .host_index = host_index(w),
                                  .fault = e->options->check_finite ? &e->fault : NULL,
                                  .nanoseconds = e->options->measure ? e->nanoseconds : NULL,
                                  .busy = e->rt->ranks ? &e->slots[w->of->slot].busy_ns : NULL,
                                  .seconds = seconds_of(w),
                                  .shard = w->shard,
                                  .batch = e->batches};
    return a;
}

struct cavs__part_args *cavs__piece_args(const struct cavs__piece *w, int partial,
                                         starpu_data_handle_t *handles)
{
    struct cavs__engine *e = w->of->e;
    const struct cavs__task_kind *k = w->k;
    struct cavs__part_args *a = new_args(w);
    uint64_t added = cavs__piece_adds_to(w);

    for (int i = 0; a && i < k->nbuffers; i++) {
        int chunk;

        handles[i] = handle(w, i, partial, &chunk);
        if (e->plan->tensors[k->tensor[i]].kind == CAVS__T_GRAD && (added >> i & 1)) {
            bool *used = &e->grad_used[e->plan->tensors[k->tensor[i]].param->number][chunk];

            if (!*used)
                a->first |= (uint64_t)1 << i;
            *used = true;
        }
    }
    return a;
}

static int submit_one(const struct cavs__piece *w, int partial, enum access access, int priority)
{
    struct cavs__engine *e = w->of->e;
    const struct cavs__task_kind *k = w->k;
    starpu_data_handle_t handles[CAVS__MAX_BUFFERS];
    struct cavs__part_args *a = cavs__piece_args(w, partial, handles);
    struct starpu_task *t;

    if (!a)
        return CAVS_ENOMEM;
    if (access == ALONE && e->helped)
        a->helping = cavs__helping_of(w);
    t = cavs__task_create(e, w->of->slot, w->shard, (struct starpu_codelet *)&k->codelet, a);
    for (int i = 0; i < k->nbuffers; i++)
        cavs__task_buffer(t, handles[i], k->written[i] && access == ALONE ? STARPU_RW : STARPU_R);
    cavs__task_buffer(t, e->scratch, STARPU_SCRATCH);
    t->priority = priority;
    return cavs__task_submit(e, w->of->slot, t, a->seconds);
}

/* ---- tasks side by side ----
 * StarPU has no access mode for "several writers, different rows" that lets them run at once.  So
 * such tasks take what they write as STARPU_R, which orders them with nobody, between two tasks
 * that do nothing and write it.  Right only where all workers share one memory node: nothing is
 * then copied, whatever the mode; cavs__submit_batch() sees to that. */

static struct starpu_codelet fence_codelet = {
    .where = STARPU_NOWHERE, .nbuffers = STARPU_VARIABLE_NBUFFERS, .name = "cavs_fence"};

struct starpu_task *cavs__fence_create(struct cavs__engine *e, int slot)
{
    struct starpu_task *t = cavs__task_create(e, slot, -1, &fence_codelet, NULL);

    cavs__handover_fence(t);
    return t;
}

static int submit_fence(const struct cavs__piece *w)
{
    struct cavs__engine *e = w->of->e;
    struct starpu_task *t = cavs__fence_create(e, w->of->slot);

    for (int i = 0; i < w->k->nbuffers; i++) {
        int chunk;

        if (w->k->written[i])
            cavs__task_buffer(t, handle(w, i, 0, &chunk), STARPU_RW);
    }
    t->priority = 1;
    return cavs__task_start(e, w->of->slot, t);
}

/* Cuts out rows from .. from+rows-1 of w, counted over its segments. */
static int cut_rows(const struct cavs__piece *w, int64_t from, int64_t rows,
                    struct cavs__piece *out)
{
    int64_t at = 0;

    *out = *w;
    out->n = 0;
    out->segments = cavs__new_segments(w->of, w->n);
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
        seg.edge0 = w->t->schedule.edge_ptr[seg.row0];
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

static int submit_pieces(const struct cavs__piece *w, int n, enum access access, int priority)
{
    int64_t rows = cavs__piece_rows(w);
    int rc = CAVS_OK;

    for (int i = 0; i < n && !rc; i++) {
        int64_t from = piece_start(rows, i, n);
        struct cavs__piece piece;

        rc = cut_rows(w, from, piece_start(rows, i + 1, n) - from, &piece);
        if (!rc && piece.n > 0)
            rc = submit_one(&piece, access == SHARED ? 0 : i, access, priority);
    }
    return rc;
}

static int side_by_side(const struct cavs__piece *w, int ways, int priority)
{
    int rc = submit_fence(w);

    cavs__count_cuts(&cavs__cuts_of(w)->wide, 1);
    if (!rc)
        rc = submit_pieces(w, ways, SHARED, priority);
    return rc ? rc : submit_fence(w);
}

/* ---- how to cut ---- */

enum { PIECE = 2 /* grains */ };

double cavs__piece_seconds(const struct cavs__piece *w, const struct cavs__segment *seg)
{
    const struct cavs__shard_stage *t = w->t;
    const struct cavs_function *f = w->k->stage->functions[seg->function];
    double entries[CAVS__PART_LISTS] = {0}; /* how many a vertex has on average */

    for (int i = 0; i < f->nlists; i++)
        entries[i] = (double)t->entries[f->lists[i]->number] / t->schedule.function_rows[f->number];
    return cavs__part_seconds(&w->of->e->rates, w->k->parts[seg->function], seg->rows, entries);
}

int cavs__piece_ways(const struct cavs__piece *w)
{
    double sum, piece = PIECE * w->of->grain;

    if (w->of->ways < 2 || cavs__piece_adds_to(w))
        return 1;
    sum = seconds_of(w);
    return sum < w->of->ways * piece ? (int)(sum / piece) : w->of->ways;
}

/* ---- all ---- */

int cavs__submit_task(const struct cavs__piece *w, int priority)
{
    return submit_one(w, 0, ALONE, priority);
}

int cavs__submit_cut(const struct cavs__piece *w, int priority)
{
    int n = cavs__piece_ways(w);

    return n < 2 ? submit_one(w, 0, ALONE, priority) : side_by_side(w, n, priority);
}

int cavs__submit_partials(const struct cavs__piece *w, int n, int priority)
{
    return submit_pieces(w, n, ALONE, priority);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - index sections: the int32 arrays through which the tasks of a shard gather, look up,
 * fetch and sum. */
#include <string.h>

#include "core/base/error.h"
#include "core/run/session.h"

/* Rows of the fetched stage, per vertex of t: through the index input, or of the vertex stood over.
 */
static const int32_t *fetched_rows(const struct cavs__shard *shard, struct cavs__shard_stage *t,
                                   const struct cavs_symbol *fetch)
{
    const struct cavs__shard_stage *from = &shard->stages[fetch->channel->stage->number];
    const int32_t *ids = fetch->ninputs > 0 ? t->ids[fetch->inputs[0]->input->number] : NULL;

    for (int v = 0; v < t->n; v++) {
        int32_t vertex = !ids         ? t->over[v]
                         : ids[v] < 0 ? -1
                                      : from->start[t->sample_of[v]] + ids[v];

        t->fetched[v] = vertex < 0 ? -1 : from->schedule.row_of[vertex];
    }
    return t->fetched;
}

/* How many rows a fetch has: function rows, or entries of a list. */
static int fetching_rows(const struct cavs__shard_stage *t, const struct cavs_symbol *fetch)
{
    const struct cavs_function *f = fetch->function;

    return fetch->domain > 0 ? t->entries[f->lists[fetch->domain - 1]->number]
                             : t->schedule.function_rows[f->number];
}

static int section_length(const struct cavs__section *sec, const struct cavs__shard_stage *t,
                          const struct cavs__shard *shard)
{
    const struct cavs__schedule *sch = &t->schedule;

    if (cavs__is_distinct(sec->kind))
        return cavs__distinct_length(sec, t);
    if (sec->kind == CAVS__S_LIST_PTR)
        return sch->function_rows[sec->function->number] + 1;
    if (sec->list > 0)
        return t->entries[sec->function->lists[sec->list - 1]->number];
    switch (sec->kind) {
    case CAVS__S_PARENT_PTR:
    case CAVS__S_CONSUMER_PTR: return sch->rows + 1;
    case CAVS__S_PARENT_EDGE: return sch->rows > 0 ? sch->parent_ptr[sch->rows] : 0;
    case CAVS__S_CONSUMER_ROW:
        return fetching_rows(&shard->stages[sec->fetch->function->stage->number], sec->fetch);
    default: return sch->function_rows[sec->function->number];
    }
}

/* Value per vertex -> value per function row. */
static void fill_vertex_section(int32_t *out, const struct cavs__schedule *sch, int function,
                                const int32_t *values)
{
    for (int i = 0; i < sch->nvt; i++) {
        const struct cavs__vt *vt = &sch->vt[i];

        for (int r = 0; vt->function == function && r < vt->n; r++)
            out[vt->frow0 + r] = values[sch->vertex_of[vt->row0 + r]];
    }
}

static void fill_child_section(int32_t *out, const struct cavs__schedule *sch,
                               const struct cavs_function *f, int slot)
{
    for (int i = 0; i < sch->nvt; i++) {
        const struct cavs__vt *vt = &sch->vt[i];

        for (int r = 0; vt->function == f->number && r < vt->n; r++) {
            int32_t first = sch->edge_ptr[vt->row0 + r], end = sch->edge_ptr[vt->row0 + r + 1];

            /* one that reads all its children may have fewer than it reads by number */
            out[vt->frow0 + r] = slot < end - first ? sch->edge_child[first + slot] : -1;
        }
    }
}

void cavs__invert(int32_t *ptr, int32_t *rows, const int32_t *values, int n, int nvalues)
{
    memset(ptr, 0, ((size_t)nvalues + 1) * sizeof *ptr);
    for (int i = 0; i < n; i++) {
        if (values[i] >= 0)
            ptr[values[i] + 1]++;
    }
    for (int v = 0; v < nvalues; v++)
        ptr[v + 1] += ptr[v];
    for (int i = 0; i < n; i++) {
        if (values[i] >= 0)
            rows[ptr[values[i]]++] = i;
    }
    memmove(ptr + 1, ptr, (size_t)nvalues * sizeof *ptr); /* every start has moved to the next's */
    ptr[0] = 0;
}

/* The rows of a fetch by the row that they fetched; fetched: scratch for them. */
static void fill_consumers(int32_t *ptr, int32_t *rows, const struct cavs__shard *shard,
                           const struct cavs_symbol *fetch, int nrows, int32_t *fetched)
{
    struct cavs__shard_stage *t = &shard->stages[fetch->function->stage->number];
    int n = fetching_rows(t, fetch);

    if (fetch->domain > 0)
        cavs__fill_list_fetch(fetched, shard, t, fetch);
    else
        fill_vertex_section(fetched, &t->schedule, fetch->function->number,
                            fetched_rows(shard, t, fetch));
    cavs__invert(ptr, rows, fetched, n, nrows);
}

static void fill_section(const struct cavs_session *s, int number, const struct cavs_stage *stage,
                         const struct cavs__shard *shard, int32_t *index, int32_t *scratch)
{
    const struct cavs__stage_plan *sp = &s->plan->stages[stage->number];
    const struct cavs__section *sec = &sp->sections[number];
    struct cavs__shard_stage *t = &shard->stages[sp->stage->number];
    const struct cavs__schedule *sch = &t->schedule;
    int32_t *out = index + t->offsets[number];

    if (cavs__is_distinct(sec->kind)) {
        /* a pointer section's partner was appended right after it (emit.c) */
        cavs__fill_distinct(sec, t, out, index + t->offsets[number + 1]);
        return;
    }
    if (sec->list > 0) {
        cavs__fill_list_section(s, out, shard, t, sec);
        return;
    }
    switch (sec->kind) {
    case CAVS__S_IDS:
        fill_vertex_section(out, sch, sec->function->number, t->ids[sec->number]);
        break;
    case CAVS__S_FETCH:
        fill_vertex_section(out, sch, sec->function->number, fetched_rows(shard, t, sec->fetch));
        break;
    case CAVS__S_CHILD: fill_child_section(out, sch, sec->function, sec->number); break;
    case CAVS__S_PARENT_PTR:
        memcpy(out, sch->parent_ptr, ((size_t)sch->rows + 1) * sizeof *out);
        break;
    case CAVS__S_PARENT_EDGE:
        if (sch->rows > 0)
            memcpy(out, sch->parent_edge, (size_t)sch->parent_ptr[sch->rows] * sizeof *out);
        break;
    case CAVS__S_CONSUMER_PTR:
        /* its partner of the same fetch was appended right after it (emit.c) */
        fill_consumers(out, index + t->offsets[number + 1], shard, sec->fetch, sch->rows, scratch);
        break;
    case CAVS__S_CONSUMER_ROW: break;
    case CAVS__S_NOISE_LOW:
    case CAVS__S_NOISE_HIGH:
        fill_vertex_section(out, sch, sec->function->number,
                            cavs__noise(s, shard, t, sec->kind == CAVS__S_NOISE_HIGH));
        break;
    default: break;
    }
}

/* Numbers of scratch that the sections of a stage ask for. */
static int scratch_length(const struct cavs__stage_plan *sp, const struct cavs__shard *shard)
{
    int most = 0;

    for (int i = 0; i < sp->nsections; i++) {
        const struct cavs_symbol *fetch = sp->sections[i].fetch;
        int n = sp->sections[i].kind == CAVS__S_CONSUMER_ROW
                    ? fetching_rows(&shard->stages[fetch->function->stage->number], fetch)
                    : 0;

        most = n > most ? n : most;
    }
    return most;
}

int cavs__fill_index(struct cavs_session *s, struct cavs__shard *shard, int stage, int slot,
                     int chunk)
{
    const struct cavs__stage_plan *sp = &s->plan->stages[stage];
    struct cavs__shard_stage *t = &shard->stages[stage];
    struct cavs__tensor *tensor = &s->tensors[sp->index];
    int32_t *index, *scratch;
    int size = 0, rc;

    t->offsets =
        cavs__arena_alloc(&s->slots[slot].arena, ((size_t)sp->nsections + 1) * sizeof *t->offsets);
    scratch = cavs__arena_alloc(&s->slots[slot].arena,
                                ((size_t)scratch_length(sp, shard) + 1) * sizeof *scratch);
    if (!t->offsets || !scratch)
        return cavs__fail_nomem("index sections", (size_t)sp->nsections * sizeof *t->offsets);
    for (int i = 0; i < sp->nsections; i++) {
        t->offsets[i] = size;
        size += section_length(&sp->sections[i], t, shard);
    }
    t->offsets[sp->nsections] = size;
    rc = cavs__reserve(s, tensor, chunk, size + 1);
    if (rc)
        return rc;
    index = (int32_t *)cavs__tensor_acquire(tensor, chunk, STARPU_W);
    for (int i = 0; i < sp->nsections; i++)
        fill_section(s, i, sp->stage, shard, index, scratch);
    cavs__tensor_release(tensor, chunk);
    return CAVS_OK;
}

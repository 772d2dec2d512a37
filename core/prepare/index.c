/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - index sections: the int32 arrays through which the tasks of a shard gather, look up,
 * fetch and sum. */
#include <string.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"

/* For each vertex of t whose function fetches, the row of the stage that it fetches from: through
 * the index input, or that of the vertex stood over.  What other vertices have in that input is
 * ignored, and may be anything. */
static void find_fetched(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                         const struct cavs_symbol *fetch, int32_t *fetched)
{
    const struct cavs__shard_stage *from = &shard->stages[fetch->channel->stage->number];
    const int32_t *ids = fetch->ninputs > 0 ? t->ids[fetch->inputs[0]->input->number] : NULL;

    for (int v = 0; v < t->n; v++) {
        int32_t vertex = t->function[v] != fetch->function->number ? -1
                         : !ids                                    ? t->over[v]
                         : ids[v] < 0                              ? -1
                                      : from->start[t->sample_of[v]] + ids[v];

        fetched[v] = vertex < 0 ? -1 : from->schedule.row_of[vertex];
    }
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

/* Turns values by vertex into values by function row. */
static void fill_vertex_section(int32_t *out, const struct cavs__schedule *sch, int function,
                                const int32_t *values)
{
    for (int i = 0; i < sch->nvt; i++) {
        const struct cavs__vt *vt = &sch->vt[i];

        for (int r = 0; vt->function == function && r < vt->n; r++)
            out[vt->frow0 + r] = values[sch->vertex_of[vt->row0 + r]];
    }
}

/* The children of a V_t in a slot.  Where all children are read, there may be fewer than are read
 * by number. */
static void fill_children(int32_t *out, const struct cavs__schedule *sch, const struct cavs__vt *vt,
                          int slots, int slot)
{
    const int32_t *first = sch->edge_ptr + vt->row0;

    for (int r = 0; slots >= 0 && r < vt->n; r++)
        out[r] = sch->edge_child[vt->edge0 + r * slots + slot];
    for (int r = 0; slots < 0 && r < vt->n; r++)
        out[r] = slot < first[r + 1] - first[r] ? sch->edge_child[first[r] + slot] : -1;
}

static void fill_child_section(int32_t *out, const struct cavs__schedule *sch,
                               const struct cavs_function *f, int slot)
{
    for (int i = 0; i < sch->nvt; i++) {
        if (sch->vt[i].function == f->number)
            fill_children(out + sch->vt[i].frow0, sch, &sch->vt[i], f->slots, slot);
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

/* ---- filling ---- */

/* The index of one stage of one shard, being written. */
struct writing {
    const struct cavs__batch *b;
    const struct cavs__shard *shard;
    const struct cavs__stage_plan *sp;
    const struct cavs__shard_stage *t;
    int32_t *index;
};

static int32_t *place_of(const struct writing *w, int section)
{
    return w->index + w->t->offsets[section];
}

/* Sorts the rows of a fetch by the row that they fetched. */
static void fill_consumers(const struct writing *w, const struct cavs__section *sec, int32_t *ptr)
{
    const struct cavs_symbol *fetch = sec->fetch;
    const struct cavs__shard_stage *t = &w->shard->stages[fetch->function->stage->number];

    if (fetch->domain > 0) {
        cavs__fill_list_fetch(w->shard->scratch.by_row, w->shard, t, fetch);
    } else {
        find_fetched(w->shard, t, fetch, w->shard->scratch.by_vertex);
        fill_vertex_section(w->shard->scratch.by_row, &t->schedule, fetch->function->number,
                            w->shard->scratch.by_vertex);
    }
    cavs__invert(ptr, place_of(w, sec->partner), w->shard->scratch.by_row, fetching_rows(t, fetch),
                 w->t->schedule.rows);
}

static bool is_noise(const struct cavs__section *sec)
{
    return sec->kind == CAVS__S_NOISE_LOW || sec->kind == CAVS__S_NOISE_HIGH;
}

static const int32_t *noise_of(const struct writing *w, const struct cavs__section *sec)
{
    int32_t *noise = w->shard->scratch.by_vertex;

    if (!is_noise(sec))
        return NULL;
    cavs__noise(w->b, w->shard, w->t, sec->kind == CAVS__S_NOISE_HIGH, noise);
    return noise;
}

/* Fills a section that has a value for each function row, or a pair of sections by rows of the
 * stage. */
static void fill_row_section(const struct writing *w, const struct cavs__section *sec, int32_t *out)
{
    const struct cavs__shard_stage *t = w->t;
    const struct cavs__schedule *sch = &t->schedule;

    switch (sec->kind) {
    case CAVS__S_IDS:
        fill_vertex_section(out, sch, sec->function->number, t->ids[sec->number]);
        break;
    case CAVS__S_FETCH:
        find_fetched(w->shard, t, sec->fetch, w->shard->scratch.by_vertex);
        fill_vertex_section(out, sch, sec->function->number, w->shard->scratch.by_vertex);
        break;
    case CAVS__S_CHILD: fill_child_section(out, sch, sec->function, sec->number); break;
    case CAVS__S_PARENT_PTR:
        memcpy(out, sch->parent_ptr, ((size_t)sch->rows + 1) * sizeof *out);
        break;
    case CAVS__S_PARENT_EDGE:
        if (sch->rows > 0)
            memcpy(out, sch->parent_edge, (size_t)sch->parent_ptr[sch->rows] * sizeof *out);
        break;
    case CAVS__S_CONSUMER_PTR: fill_consumers(w, sec, out); break;
    case CAVS__S_NOISE_LOW:
    case CAVS__S_NOISE_HIGH:
        fill_vertex_section(out, sch, sec->function->number, noise_of(w, sec));
        break;
    default: break; /* CONSUMER_ROW is filled with the section of the pointers to it */
    }
}

static void fill_section(const struct writing *w, int number)
{
    const struct cavs__section *sec = &w->sp->sections[number];
    int32_t *out = place_of(w, number);

    if (cavs__is_distinct(sec->kind))
        cavs__fill_distinct(sec, w->t, out, place_of(w, sec->partner));
    else if (sec->list > 0)
        cavs__fill_list_section(out, w->shard, w->t, sec, noise_of(w, sec));
    else
        fill_row_section(w, sec, out);
}

/* ---- all ---- */

/* Makes room for a number for each vertex of a stage, and for each row of a fetch from it. */
static int reserve_rows(struct cavs__shard *shard, int n)
{
    if (n <= shard->scratch.row_cap && shard->scratch.by_row)
        return CAVS_OK;
    n += n / 4;
    if (cavs__grow(&shard->scratch.by_vertex, (size_t)n) ||
        cavs__grow(&shard->scratch.by_row, (size_t)n))
        return CAVS_ENOMEM;
    shard->scratch.row_cap = n;
    return CAVS_OK;
}

/* How many numbers of scratch the sections of a stage take. */
static int scratch_length(const struct cavs__stage_plan *sp, const struct cavs__shard *shard)
{
    int most = shard->stages[sp->stage->number].n;

    for (int i = 0; i < sp->nsections; i++) {
        const struct cavs__section *sec = &sp->sections[i];
        const struct cavs__shard_stage *of;

        if (sec->kind != CAVS__S_CONSUMER_PTR)
            continue;
        of = &shard->stages[sec->fetch->function->stage->number];
        most = of->n > most ? of->n : most;
        most = fetching_rows(of, sec->fetch) > most ? fetching_rows(of, sec->fetch) : most;
    }
    return most;
}

int cavs__lay_out_index(struct cavs__batch *b, struct cavs__shard *shard, int stage)
{
    const struct cavs__stage_plan *sp = &b->plan->stages[stage];
    struct cavs__shard_stage *t = &shard->stages[stage];
    int64_t size = 0;

    t->offsets = cavs__arena_alloc(b->arena, ((size_t)sp->nsections + 1) * sizeof *t->offsets);
    if (!t->offsets)
        return cavs__fail_nomem("index sections", ((size_t)sp->nsections + 1) * sizeof *t->offsets);
    for (int i = 0; i < sp->nsections && size < INT32_MAX; i++) {
        t->offsets[i] = (int32_t)size;
        size += section_length(&sp->sections[i], t, shard);
    }
    if (size >= INT32_MAX)
        return cavs__fail(CAVS_EINVAL,
                          "stage %s: the rows and list entries of one batch need %lld numbers or "
                          "more to say who reads what, which is too many: smaller batches or more "
                          "shards need less",
                          sp->stage->name, (long long)size);
    t->offsets[sp->nsections] = (int32_t)size;
    return reserve_rows(shard, scratch_length(sp, shard));
}

int cavs__index_length(const struct cavs__batch *b, int shard, int stage)
{
    return b->shards[shard].stages[stage].offsets[b->plan->stages[stage].nsections];
}

static void write_sections(const struct cavs__batch *b, int shard, int stage, bool noise_alone,
                           int32_t *index)
{
    struct writing w = {.b = b,
                        .shard = &b->shards[shard],
                        .sp = &b->plan->stages[stage],
                        .t = &b->shards[shard].stages[stage],
                        .index = index};

    for (int i = 0; i < w.sp->nsections; i++) {
        if (!noise_alone || is_noise(&w.sp->sections[i]))
            fill_section(&w, i);
    }
}

void cavs__write_index(const struct cavs__batch *b, int shard, int stage, int32_t *index)
{
    write_sections(b, shard, stage, false, index);
}

bool cavs__has_noise(const struct cavs__stage_plan *sp)
{
    for (int i = 0; i < sp->nsections; i++) {
        if (is_noise(&sp->sections[i]))
            return true;
    }
    return false;
}

void cavs__write_noise(const struct cavs__batch *b, int shard, int stage, int32_t *index)
{
    write_sections(b, shard, stage, true, index);
}

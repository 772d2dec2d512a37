/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_index.c - index sections of ragged lists: the entries of all vertices of a function, in the
 * order of function rows.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"

int cavs__list_start(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                     const struct cavs__list *list, int v)
{
    if (list->children)
        return t->child_ptr[v];
    if (list->input)
        return t->ids_ptr[list->input->number][v];
    return shard->stages[list->whole->number].start[t->sample_of[v]];
}

int cavs__list_length(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                      const struct cavs__list *list, int v)
{
    if (list->children)
        return t->child_ptr[v + 1] - t->child_ptr[v];
    if (list->input)
        return t->ids_ptr[list->input->number][v + 1] - t->ids_ptr[list->input->number][v];
    return shard->stages[list->whole->number].start[t->sample_of[v] + 1] -
           shard->stages[list->whole->number].start[t->sample_of[v]];
}

/* Is called for the rows of the list's function, in order. */
typedef void visit_row(void *arg, int row, int frow, int v);

static void for_rows_of(const struct cavs__schedule *sch, int first, int end, int function,
                        visit_row *visit, void *arg)
{
    for (int i = first; i < end; i++) {
        const struct cavs__vt *vt = &sch->vt[i];

        for (int r = 0; vt->function == function && r < vt->n; r++)
            visit(arg, vt->row0 + r, vt->frow0 + r, sch->vertex_of[vt->row0 + r]);
    }
}

static void for_each_row(const struct cavs__schedule *sch, int function, visit_row *visit,
                         void *arg)
{
    for_rows_of(sch, 0, sch->nvt, function, visit, arg);
}

/* ---- counting ---- */

struct counting {
    const struct cavs__shard *shard;
    const struct cavs__shard_stage *t;
    const struct cavs__list *list;
    int64_t sum;
    int longest;
};

static void count_row(void *arg, int row, int frow, int v)
{
    struct counting *c = arg;
    int n = cavs__list_length(c->shard, c->t, c->list, v);

    (void)row;
    (void)frow;
    c->sum += n;
    if (n > c->longest)
        c->longest = n;
}

int cavs__count_entries(const struct cavs__shard *shard, struct cavs__shard_stage *t,
                        const struct cavs_stage *stage)
{
    size_t n = (size_t)stage->nlists + 1;

    if (stage->nlists == 0)
        return CAVS_OK;
    if (!t->entries)
        t->entries = calloc(n, sizeof *t->entries);
    if (!t->longest)
        t->longest = calloc(n, sizeof *t->longest);
    if (!t->entries || !t->longest)
        return cavs__fail_nomem("lists", n * (sizeof *t->entries + sizeof *t->longest));
    for (int i = 0; i < stage->nlists; i++) {
        struct counting c = {.shard = shard, .t = t, .list = stage->lists[i]};

        for_each_row(&t->schedule, c.list->function->number, count_row, &c);
        if (c.sum > CAVS__MOST_OF_SAMPLE)
            return cavs__fail(
                CAVS_EINVAL,
                "function %s.%s: %lld children or entries of lists in one batch are too many",
                stage->name, c.list->function->name, (long long)c.sum);
        t->entries[i] = (int32_t)c.sum;
        t->longest[i] = c.longest;
    }
    return CAVS_OK;
}

int64_t cavs__block_entries(const struct cavs__shard *shard, const struct cavs__shard_stage *t,
                            const struct cavs__list *list, int block)
{
    struct counting c = {.shard = shard, .t = t, .list = list};

    for_rows_of(&t->schedule, t->cut[block], t->cut[block + 1], list->function->number, count_row,
                &c);
    return c.sum;
}

/* ---- filling ---- */

struct filling {
    const struct cavs__shard *shard;
    const struct cavs__shard_stage *t;
    const struct cavs__list *list;
    const struct cavs__section *sec;
    const struct cavs_symbol *fetch;
    const int32_t *noise; /* by vertex */
    int32_t *out;
    int at; /* entries so far */
};

static void fill_ptr(void *arg, int row, int frow, int v)
{
    struct filling *f = arg;

    (void)row;
    f->out[frow] = f->at;
    f->at += cavs__list_length(f->shard, f->t, f->list, v);
    f->out[frow + 1] = f->at;
}

static void fill_owner(void *arg, int row, int frow, int v)
{
    struct filling *f = arg;

    (void)row;
    for (int n = cavs__list_length(f->shard, f->t, f->list, v); n > 0; n--)
        f->out[f->at++] = frow;
}

static void fill_child(void *arg, int row, int frow, int v)
{
    struct filling *f = arg;
    const struct cavs__schedule *sch = &f->t->schedule;

    (void)frow;
    (void)v;
    for (int e = sch->edge_ptr[row]; e < sch->edge_ptr[row + 1]; e++)
        f->out[f->at++] = sch->edge_child[e];
}

static void fill_nth(void *arg, int row, int frow, int v)
{
    struct filling *f = arg;
    int n = cavs__list_length(f->shard, f->t, f->list, v);

    (void)row;
    (void)frow;
    for (int e = 0; e < n; e++)
        f->out[f->at++] = e == f->sec->number ? 0 : -1;
}

static void fill_ids(void *arg, int row, int frow, int v)
{
    struct filling *f = arg;
    int n = cavs__list_length(f->shard, f->t, f->list, v);

    (void)row;
    (void)frow;
    memcpy(f->out + f->at, f->t->ids[f->sec->number] + cavs__list_start(f->shard, f->t, f->list, v),
           (size_t)n * sizeof *f->out);
    f->at += n;
}

static void fill_fetch(void *arg, int row, int frow, int v)
{
    struct filling *f = arg;
    const struct cavs__shard_stage *from = &f->shard->stages[f->fetch->channel->stage->number];
    int start = cavs__list_start(f->shard, f->t, f->list, v),
        n = cavs__list_length(f->shard, f->t, f->list, v);
    const int32_t *ids =
        f->list->input ? f->t->ids[f->fetch->inputs[0]->input->number] + start : NULL;

    (void)row;
    (void)frow;
    for (int e = 0; e < n; e++) {
        int vertex = !ids ? start + e : ids[e] < 0 ? -1 : from->start[f->t->sample_of[v]] + ids[e];

        f->out[f->at++] = vertex < 0 ? -1 : from->schedule.row_of[vertex];
    }
}

/* The keys of dropout of entries are made from the key of their vertex and are all different.  The
 * low half of a vertex's key is not 0 where something is dropped, and neither are those of its
 * entries. */
static void fill_noise(void *arg, int row, int frow, int v)
{
    struct filling *f = arg;
    int n = cavs__list_length(f->shard, f->t, f->list, v);
    bool low = f->sec->kind == CAVS__S_NOISE_LOW;

    (void)row;
    (void)frow;
    for (int e = 0; e < n; e++) {
        uint64_t key = ((uint64_t)(uint32_t)f->noise[v] << 32 | (uint32_t)e) * 0x9e3779b97f4a7c15u;

        f->out[f->at++] = f->noise[v] == 0 ? 0 : (int32_t)((uint32_t)(key >> 32) | low);
    }
}

void cavs__fill_list_fetch(int32_t *out, const struct cavs__shard *shard,
                           const struct cavs__shard_stage *t, const struct cavs_symbol *fetch)
{
    struct filling f = {.shard = shard,
                        .t = t,
                        .list = fetch->function->lists[fetch->domain - 1],
                        .fetch = fetch,
                        .out = out};

    for_each_row(&t->schedule, fetch->function->number, fill_fetch, &f);
}

void cavs__fill_list_section(int32_t *out, const struct cavs__shard *shard,
                             const struct cavs__shard_stage *t, const struct cavs__section *sec,
                             const int32_t *noise)
{
    struct filling f = {.shard = shard,
                        .t = t,
                        .list = sec->function->lists[sec->list - 1],
                        .sec = sec,
                        .fetch = sec->fetch,
                        .noise = noise,
                        .out = out};
    visit_row *fill = NULL;

    switch (sec->kind) {
    case CAVS__S_LIST_PTR:
        out[0] = 0; /* even no rows have one pointer */
        fill = fill_ptr;
        break;
    case CAVS__S_LIST_OWNER: fill = fill_owner; break;
    case CAVS__S_LIST_CHILD: fill = fill_child; break;
    case CAVS__S_LIST_NTH: fill = fill_nth; break;
    case CAVS__S_IDS: fill = fill_ids; break;
    case CAVS__S_NOISE_LOW:
    case CAVS__S_NOISE_HIGH: fill = fill_noise; break;
    default: fill = fill_fetch; break;
    }
    for_each_row(&t->schedule, sec->function->number, fill, &f);
}

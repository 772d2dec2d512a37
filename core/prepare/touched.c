/* SPDX-License-Identifier: Apache-2.0 */
/*
 * touched.c - which rows of looked-up parameters a batch touches, and where the gradients of each
 * are: in the rows of its lookups.  Occurrences of an id are listed in the order of shards and
 * rows, in which they are added up.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/prepare/preparing.h"
#include "memory/tensor.h"

/* ---- lookups ---- */

/* The list whose entries look something up; NULL: vertices do. */
static const struct cavs__list *list_of(const struct cavs_symbol *grad)
{
    int domain = grad->inputs[0]->domain;

    return domain > 0 ? grad->function->lists[domain - 1] : NULL;
}

/* How many ids a lookup has in a shard. */
static int occurrences_in(const struct cavs__shard_stage *t, const struct cavs_symbol *grad)
{
    const struct cavs__list *list = list_of(grad);

    return list ? t->entries[list->number] : t->schedule.function_rows[grad->function->number];
}

/* The gradient of a lookup has one row for all entries of a vertex's list. */
static bool is_together(const struct cavs_symbol *grad)
{
    return list_of(grad) && grad->domain == 0;
}

/* Appends the lookups of parameter p in a shard to t. */
static void add_lookups(const struct cavs__batch *b, int shard, const struct cavs_param *p,
                        struct cavs__touched *t)
{
    for (int i = 0; i < b->plan->ntensors; i++) {
        const struct cavs__tensor_desc *d = &b->plan->tensors[i];

        if (d->kind != CAVS__T_LOOKUP_GRAD || d->param != p)
            continue;
        t->lookups[t->nlookups++] = (struct cavs__lookup){d->symbol, i, shard};
        t->stays |= is_together(d->symbol);
        t->occurrences += occurrences_in(&b->shards[shard].stages[d->stage->number], d->symbol);
    }
}

static int find_lookups(struct cavs__batch *b, const struct cavs_param *p)
{
    size_t most = (size_t)b->plan->ntensors * (size_t)b->nshards + 1;
    struct cavs__touched *t = cavs__arena_alloc(b->arena, sizeof *t);

    if (!cavs__id_marks(b, p))
        return CAVS_ENOMEM;
    if (t)
        *t = (struct cavs__touched){.ld = cavs__tensor_ld(p->cols),
                                    .lookups =
                                        cavs__arena_alloc(b->arena, most * sizeof *t->lookups)};
    if (!t || !t->lookups)
        return cavs__fail_nomem("touched rows", most * sizeof *t->lookups);
    for (int first = 0; first < CAVS__MAX_PARTIALS; first++) {
        for (int i = 0; i < b->nshards; i++) {
            if (b->shards[i].nsamples > 0 && cavs__partial_at(b, i, 0) == first)
                add_lookups(b, i, p, t);
        }
    }
    b->touched[p->number] = t;
    return CAVS_OK;
}

int cavs__find_lookups(struct cavs__batch *b)
{
    const struct cavs_model *m = b->plan->model;

    for (int i = 0; i < m->nstored; i++) {
        int rc = m->params[i]->lookup_use && !m->params[i]->frozen ? find_lookups(b, m->params[i])
                                                                   : CAVS_OK;

        if (rc)
            return rc;
    }
    return CAVS_OK;
}

/* ---- rows ---- */

/* The walk by which touched rows of a parameter are listed: pass 0 counts the occurrences of each
 * row, pass 1 lists them. */
struct listing {
    const struct cavs__batch *b;
    struct cavs__touched *t;
    int32_t *mark;
    int source, pass;
};

/* Counts or lists one occurrence: row `row` of the lookup has this id. */
static void touch(const struct listing *l, int32_t id, int row)
{
    struct cavs__touched *t = l->t;
    int at;

    if (id < 0)
        return;
    if (l->pass == 0) {
        if (!l->mark[id]) {
            t->ids[t->n] = id;
            l->mark[id] = ++t->n;
            t->ptr[t->n - 1] = 0;
        }
        t->ptr[l->mark[id] - 1]++;
        return;
    }
    at = t->ptr[l->mark[id] - 1]++;
    t->source[at] = l->source;
    t->row[at] = row;
}

/* Visits a lookup that has a row for each distinct input of the function. */
static void visit_distinct(const struct listing *l, const struct cavs__shard_stage *t, int function,
                           const int32_t *ids)
{
    const int32_t *first = t->distinct.first + t->distinct.start[function];

    for (int row = 0; row < t->distinct.n[function]; row++)
        touch(l, ids[t->schedule.vertex_of[first[row]]], row);
}

/* Visits the ids of a lookup in order, those of a list entry by entry.  The gradient has a row for
 * each of them, or one for all entries of a vertex. */
static void visit(const struct listing *l)
{
    const struct cavs__lookup *k = &l->t->lookups[l->source];
    const struct cavs_function *f = k->grad->function;
    const struct cavs__shard *shard = &l->b->shards[k->shard];
    const struct cavs__shard_stage *t = &shard->stages[f->stage->number];
    const struct cavs__list *list = list_of(k->grad);
    bool together = is_together(k->grad);
    /* of vertices, children or entries, in the order in which the samples brought them */
    const int32_t *ids = t->ids[k->grad->inputs[0]->input->number];
    int row = 0;

    if (l->b->plan->tensors[k->tensor].space == CAVS__DISTINCT) {
        visit_distinct(l, t, f->number, ids);
        return;
    }
    for (int i = 0; i < t->schedule.nvt; i++) {
        const struct cavs__vt *vt = &t->schedule.vt[i];

        for (int r = 0; vt->function == f->number && r < vt->n; r++) {
            int v = t->schedule.vertex_of[vt->row0 + r];
            int from = list ? cavs__list_start(shard, t, list, v) : v;
            int n = list ? cavs__list_length(shard, t, list, v) : 1;

            for (int e = 0; e < n; e++)
                touch(l, ids[from + e], together ? row : row + e);
            row += together ? 1 : n;
        }
    }
}

static void visit_all(struct listing *l, int pass)
{
    l->pass = pass;
    for (l->source = 0; l->source < l->t->nlookups; l->source++)
        visit(l);
}

int32_t *cavs__id_marks(const struct cavs__batch *b, const struct cavs_param *p)
{
    int32_t **mark = &b->scratch->id_mark[p->number];

    if (!*mark)
        *mark = calloc((size_t)p->rows, sizeof **mark);
    if (!*mark)
        cavs__fail_nomem("touched rows", (size_t)p->rows * sizeof **mark);
    return *mark;
}

int64_t cavs__touched_length(const struct cavs__touched *t)
{
    return 4 * (int64_t)t->occurrences + 1;
}

void cavs__list_touched(const struct cavs__batch *b, const struct cavs_param *p, int32_t *lists)
{
    struct cavs__touched *t = b->touched[p->number];
    struct listing l = {.b = b, .t = t, .mark = cavs__id_marks(b, p)};
    int sum = 0;

    t->n = 0;
    t->ids = lists;
    t->ptr = t->ids + t->occurrences;
    t->source = t->ptr + t->occurrences + 1;
    t->row = t->source + t->occurrences;
    visit_all(&l, 0);
    for (int i = 0; i < t->n; i++) {
        int count = t->ptr[i];

        t->ptr[i] = sum;
        sum += count;
    }
    visit_all(&l, 1);
    /* listing has moved every start to the next one's */
    memmove(t->ptr + 1, t->ptr, (size_t)t->n * sizeof *t->ptr);
    t->ptr[0] = 0;
    for (int i = 0; i < t->n; i++)
        l.mark[t->ids[i]] = 0;
}

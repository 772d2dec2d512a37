/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_rows.c - the touched rows of looked-up parameters, of all ranks; see exchange.h.
 *
 * Before a batch is submitted every rank tells the others which rows its shards touch.  A row is
 * numbered where it occurs first, by ranks and then as one rank lists them, so that the rows of the
 * ranks up to one are the first ones: what it sends to the next.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/exchange.h"
#include "core/run/optimizer.h"

/* ---- life ---- */

int cavs__rows_create(struct cavs__exchange *x)
{
    const struct cavs_model *m = x->e->plan->model;
    size_t n = (size_t)m->nstored + 1;

    x->tables = calloc(n, sizeof(*x->tables));
    x->rows = calloc(n, sizeof *x->rows);
    if (!x->tables || !x->rows)
        return cavs__fail_nomem("exchange", n * sizeof *x->rows);
    for (int i = 0; i < m->nstored; i++) {
        if (cavs__has_row_gradient(x->e->plan, m->params[i]) && cavs__is_trained(m->params[i]))
            x->tables[x->ntables++] = m->params[i];
    }
    return CAVS_OK;
}

static void forget(struct cavs__block *k)
{
    if (k->handle)
        starpu_data_unregister_submit(k->handle);
    k->handle = NULL;
}

void cavs__rows_forget(struct cavs__exchange *x, int slot)
{
    for (int i = 0; i < x->ntables; i++) {
        forget(&x->rows[i][slot].before);
        forget(&x->rows[i][slot].sum);
        forget(&x->rows[i][slot].all);
    }
}

void cavs__rows_free(struct cavs__exchange *x)
{
    for (int i = 0; x->rows && i < x->ntables; i++) {
        for (int slot = 0; slot < CAVS__SLOTS; slot++) {
            struct cavs__rows *k = &x->rows[i][slot];

            free(k->before.p);
            free(k->sum.p);
            free(k->all.p);
            free(k->lists);
            free(k->place);
        }
    }
    free(x->rows);
    free(x->tables);
}

/* ---- which rows ---- */

static int grow(int32_t **p, size_t *room, size_t n)
{
    int32_t *grown;

    if (*p && n <= *room)
        return CAVS_OK;
    n += n / 4 + 16;
    grown = realloc(*p, n * sizeof *grown);
    if (!grown)
        return cavs__fail_nomem("touched rows", n * sizeof *grown);
    *p = grown;
    *room = n;
    return CAVS_OK;
}

static int list_table(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot)
{
    struct cavs__rows *k = &x->rows[table][slot];
    const struct cavs_param *p = x->tables[table];
    int64_t length = cavs__touched_length(b->touched[p->number]);
    size_t room = (size_t)k->list_room;
    int rc = grow(&k->lists, &room, (size_t)length);

    k->list_room = (int64_t)room;
    if (!rc)
        cavs__list_touched(b, p, k->lists);
    return rc;
}

/* x->mine: how many numbers follow, how many rows of each table, and which. */
int cavs__rows_list(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    size_t n = (size_t)x->ntables + 1;
    int32_t *to;
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && !rc; i++) {
        rc = list_table(x, b, i, slot);
        n += (size_t)b->touched[x->tables[i]->number]->n;
    }
    if (!rc)
        rc = grow(&x->mine, &x->mine_room, n);
    if (rc)
        return rc;
    x->mine[0] = (int32_t)n;
    to = x->mine + 1 + x->ntables;
    for (int i = 0; i < x->ntables; i++) {
        const struct cavs__touched *t = b->touched[x->tables[i]->number];

        x->mine[1 + i] = t->n;
        memcpy(to, t->ids, (size_t)t->n * sizeof *to);
        to += t->n;
    }
    return CAVS_OK;
}

/* The rows of a table that one rank has told of, and how many. */
static const int32_t *told(const struct cavs__exchange *x, int rank, int table, int *n)
{
    const int32_t *from = x->theirs;
    int start = 1 + x->ntables;

    for (int i = 0; i < rank; i++)
        from += x->lengths[i];
    *n = from[1 + table];
    for (int i = 0; i < table; i++)
        start += from[1 + i];
    return from + start;
}

/* Numbers the rows of all ranks: mark[id] - 1. */
static void number_rows(const struct cavs__exchange *x, int table, struct cavs__rows *k,
                        int32_t *mark)
{
    struct cavs__touched *all = &k->whole;

    all->n = k->old = k->upto = 0;
    for (int rank = 0; rank < cavs__ranks_count(x->ranks); rank++) {
        int n;
        const int32_t *ids = told(x, rank, table, &n);

        k->old = rank == cavs__rank(x->ranks) ? all->n : k->old;
        for (int i = 0; i < n; i++) {
            if (mark[ids[i]])
                continue;
            all->ids[all->n] = ids[i];
            mark[ids[i]] = ++all->n;
        }
        k->upto = rank == cavs__rank(x->ranks) ? all->n : k->upto;
    }
}

/* As the update reads them: every row has one gradient, which is where the row is. */
static void describe(struct cavs__touched *all)
{
    for (int i = 0; i < all->n; i++) {
        all->ptr[i] = all->row[i] = i;
        all->source[i] = 0;
    }
    all->ptr[all->n] = all->n;
}

static int make_blocks(const struct cavs__exchange *x, struct cavs__rows *k, int cols)
{
    bool last = cavs__place_of(x) == x->nsharing - 1;
    struct cavs__block *blocks[] = {&k->before, &k->sum, &k->all};
    int n[] = {k->old, last ? 0 : k->upto, k->whole.n}, rc = CAVS_OK;

    for (int i = 0; i < 3 && !rc; i++)
        rc = cavs__block_reserve(blocks[i], (size_t)n[i] * (size_t)cols + 1);
    for (int i = 0; i < 3 && !rc; i++)
        cavs__block_register(blocks[i], n[i] > 0 ? (size_t)n[i] * (size_t)cols : 1);
    return rc;
}

static int merge_table(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot,
                       struct cavs__tensor *lists, int32_t *mark)
{
    struct cavs__rows *k = &x->rows[table][slot];
    const struct cavs_param *p = x->tables[table];
    const struct cavs__touched *own = b->touched[p->number];
    struct cavs__touched *all = &k->whole;
    int64_t most = 0;
    int rc;

    for (int rank = 0; rank < cavs__ranks_count(x->ranks); rank++) {
        int n;

        told(x, rank, table, &n);
        most += n;
    }
    all->occurrences = (int)most;
    rc = cavs__reserve(x->e, lists, slot, cavs__touched_length(all));
    if (!rc)
        rc = grow(&k->place, &k->place_room, (size_t)own->n);
    if (rc)
        return rc;
    all->ids = (int32_t *)cavs__tensor_acquire(lists, slot, STARPU_W);
    all->ptr = all->ids + most;
    all->source = all->ptr + most + 1;
    all->row = all->source + most;
    number_rows(x, table, k, mark);
    describe(all);
    for (int i = 0; i < own->n; i++)
        k->place[i] = mark[own->ids[i]] - 1;
    for (int i = 0; i < all->n; i++)
        mark[all->ids[i]] = 0;
    cavs__tensor_release(lists, slot);
    return make_blocks(x, k, p->cols);
}

int cavs__rows_merge(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                     struct cavs__tensor *lists)
{
    int64_t sum = 0;
    int rc;

    for (int i = 0; i < cavs__ranks_count(x->ranks); i++)
        sum += x->lengths[i];
    rc = grow(&x->theirs, &x->theirs_room, (size_t)sum);
    if (!rc)
        rc = cavs__ranks_gather_lists(x->ranks, x->mine, x->lengths, x->theirs);
    for (int i = 0; i < x->ntables && !rc; i++)
        rc = merge_table(x, b, i, slot, &lists[x->tables[i]->number],
                         cavs__id_marks(b, x->tables[i]));
    return rc;
}

/* ---- tasks and messages ---- */

static int64_t tag(const struct cavs__exchange *x, int table, int slot, bool back)
{
    return 2 * (x->nparcels + (int64_t)table * CAVS__SLOTS + slot) + back;
}

static starpu_data_handle_t *gradients(const struct cavs__exchange *x, const struct cavs__batch *b,
                                       int table, int slot)
{
    const struct cavs__touched *t = b->touched[x->tables[table]->number];
    size_t bytes = ((size_t)t->nlookups + 1) * sizeof(starpu_data_handle_t);
    starpu_data_handle_t *handles = cavs__arena_alloc(&x->e->slots[slot].arena, bytes);

    if (!handles)
        cavs__fail_nomem("task", bytes);
    for (int i = 0; handles && i < t->nlookups; i++)
        handles[i] = x->e->tensors[t->lookups[i].tensor].chunks[t->lookups[i].shard].handle;
    return handles;
}

int cavs__rows_receive(struct cavs__exchange *x, int slot)
{
    int place = cavs__place_of(x), rc = CAVS_OK;

    for (int i = 0; i < x->ntables && place > 0 && !rc; i++) {
        struct cavs__rows *k = &x->rows[i][slot];

        if (k->old > 0)
            rc = cavs__carry(x, slot, k->before.handle, -1, x->sharing[place - 1],
                             tag(x, i, slot, false));
    }
    return rc;
}

static int sum_table(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot,
                     struct cavs__block *out)
{
    struct cavs__arena *arena = &x->e->slots[slot].arena;
    struct cavs__rows *k = &x->rows[table][slot];
    const struct cavs_param *p = x->tables[table];
    const struct cavs__touched *own = b->touched[p->number];
    struct cavs__sum_args *a = cavs__arena_alloc(arena, sizeof *a);
    const float **g = cavs__arena_alloc(arena, ((size_t)own->nlookups + 1) * sizeof *g);
    starpu_data_handle_t *handles = gradients(x, b, table, slot);
    struct starpu_task *t;

    if (!a || !g || !handles)
        return cavs__fail_nomem("task", sizeof *a);
    *a = (struct cavs__sum_args){.cols = p->cols,
                                 .ldg = own->ld,
                                 .ngrads = own->nlookups,
                                 .gradients = g,
                                 .sparse = true,
                                 .n = own->n,
                                 .old = k->old,
                                 .ptr = own->ptr,
                                 .source = own->source,
                                 .row = own->row,
                                 .place = k->place};
    t = cavs__task_create(x->e, slot, -1, &x->sum_codelet, a, own->nlookups + 2);
    if (!t)
        return CAVS_ENOMEM;
    cavs__task_buffer(t, out->handle, STARPU_W);
    if (k->old > 0)
        cavs__task_buffer(t, k->before.handle, STARPU_R);
    for (int i = 0; i < own->nlookups; i++)
        cavs__task_buffer(t, handles[i], STARPU_R);
    t->priority = 2;
    return cavs__task_submit(x->e, slot, t,
                             (double)own->occurrences * p->cols * x->e->rt->cost.rates.value);
}

int cavs__rows_sum(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    int place = cavs__place_of(x), rc = CAVS_OK;

    for (int i = 0; i < x->ntables && place >= 0 && !rc; i++) {
        struct cavs__rows *k = &x->rows[i][slot];

        if (k->upto > 0)
            rc = sum_table(x, b, i, slot, place == x->nsharing - 1 ? &k->all : &k->sum);
    }
    return rc;
}

int cavs__rows_send(struct cavs__exchange *x, int slot)
{
    int place = cavs__place_of(x), from, to, rc = CAVS_OK;

    cavs__way_back(x, &from, &to);
    for (int i = 0; i < x->ntables && !rc; i++) {
        struct cavs__rows *k = &x->rows[i][slot];

        if (place >= 0 && place + 1 < x->nsharing && k->upto > 0)
            rc = cavs__carry(x, slot, k->sum.handle, x->sharing[place + 1], -1,
                             tag(x, i, slot, false));
        if (!rc && k->whole.n > 0)
            rc = cavs__carry(x, slot, k->all.handle, -1, from, tag(x, i, slot, true));
        if (!rc && k->whole.n > 0)
            rc = cavs__carry(x, slot, k->all.handle, to, -1, tag(x, i, slot, true));
    }
    return rc;
}

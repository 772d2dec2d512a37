/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_lists.c - which rows of looked-up parameters the ranks touch; see exchange.h.
 *
 * Before a batch is submitted every rank tells the others which rows its shards touch, so each
 * knows what goes where.  A row is numbered where it occurs first, by ranks and then as one rank
 * lists them; that is its place in the lists of the update.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/run/exchange.h"

int cavs__numbers_reserve(int32_t **p, size_t *room, size_t n)
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
    struct cavs__table_rows *k = &x->rows[table][slot];
    const struct cavs_param *p = x->tables[table];
    struct cavs__touched *touched = b->touched[p->number];
    size_t room = (size_t)k->list_room;
    int rc;

    if (touched->ids) /* a tape has listed them */
        return CAVS_OK;
    rc = cavs__numbers_reserve(&k->lists, &room, (size_t)cavs__touched_length(touched));
    k->list_room = (int64_t)room;
    if (!rc)
        cavs__list_touched(b, p, k->lists);
    return rc;
}

/* Do ranks tell how many gradients a row has?  Not where there are two of them: the first sends a
 * sum, however many gradients are in it, and of the second it only matters whether it has more than
 * one. */
static bool is_counted(const struct cavs__exchange *x)
{
    return cavs__ranks_count(x->ranks) > 2;
}

static int32_t *write_list(const struct cavs__exchange *x, const struct cavs__touched *t,
                           int32_t *to)
{
    bool counted = is_counted(x);

    for (int i = 0; i < t->n; i++) {
        int gradients = t->ptr[i + 1] - t->ptr[i];

        *to++ = gradients != 1 ? ~t->ids[i] : t->ids[i];
        if (counted && gradients != 1)
            *to++ = gradients;
    }
    return to;
}

/* Fills x->mine: how many numbers there are, how many of them each table has, and these. */
int cavs__rows_list(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    size_t n = (size_t)x->ntables + 1;
    int32_t *to;
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && !rc; i++) {
        rc = list_table(x, b, i, slot);
        n += 2 * (size_t)b->touched[x->tables[i]->number]->n;
    }
    if (!rc)
        rc = cavs__numbers_reserve(&x->mine, &x->mine_room, n);
    if (!rc)
        rc = cavs__numbers_reserve(&x->theirs, &x->theirs_room,
                                   (size_t)cavs__ranks_count(x->ranks) * CAVS__SHORT_LIST);
    if (rc)
        return rc;
    to = x->mine + 1 + x->ntables;
    for (int i = 0; i < x->ntables; i++) {
        int32_t *end = write_list(x, b->touched[x->tables[i]->number], to);

        x->mine[1 + i] = (int32_t)(end - to);
        to = end;
    }
    x->mine[0] = (int32_t)(to - x->mine);
    return CAVS_OK;
}

struct cavs__told cavs__told(const struct cavs__exchange *x, int rank, int table)
{
    const int32_t *from = x->theirs;
    int start = 1 + x->ntables;

    for (int i = 0; i < rank; i++)
        from += x->lengths[i];
    for (int i = 0; i < table; i++)
        start += from[1 + i];
    return (struct cavs__told){
        .at = from + start, .end = from + start + from[1 + table], .counted = is_counted(x)};
}

bool cavs__next_told(struct cavs__told *t)
{
    if (t->at == t->end)
        return false;
    t->id = *t->at++;
    t->gradients = t->id >= 0 ? 1 : t->counted ? *t->at++ : 2;
    t->id = t->id < 0 ? ~t->id : t->id;
    return true;
}

static void touch(struct cavs__exchange *x, int rank, const struct cavs__told *t,
                  struct cavs__touched *all, int32_t *mark)
{
    struct cavs__way *w;

    if (!mark[t->id]) {
        x->ways[all->n] = (struct cavs__way){.first = rank, .own = -1};
        all->ids[all->n] = t->id;
        mark[t->id] = ++all->n;
    }
    w = &x->ways[mark[t->id] - 1];
    w->last = rank;
    w->later += w->ranks++ > 0 ? t->gradients : 0;
}

/* Numbers the touched rows of all ranks: mark[id] becomes 1 + the number. */
static void number_rows(struct cavs__exchange *x, int table, struct cavs__touched *all,
                        int32_t *mark)
{
    all->n = 0;
    for (int rank = 0; rank < cavs__ranks_count(x->ranks); rank++) {
        for (struct cavs__told t = cavs__told(x, rank, table); cavs__next_told(&t);)
            touch(x, rank, &t, all, mark);
    }
}

static int resize_blocks(const struct cavs__exchange *x, struct cavs__table_rows *k, int cols)
{
    const struct cavs__block *end = k->final + 4 * cavs__ranks_count(x->ranks);
    const bool devices = x->e->devices;
    int rc = cavs__block_resize(&k->came, (size_t)k->ncame * (size_t)cols, devices), *n = k->nfinal;

    if (!rc)
        rc = cavs__block_resize(&k->onward, (size_t)k->nonward * (size_t)cols, devices);
    for (struct cavs__block *b = k->final; b < end && !rc; b++) /* all arrays of blocks */
        rc = cavs__block_resize(b, (size_t)*n++ * (size_t)cols, devices);
    return rc;
}

static int merge_table(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot,
                       struct cavs__tensor *lists, int32_t *mark)
{
    struct cavs__table_rows *k = &x->rows[table][slot];
    const struct cavs_param *p = x->tables[table];
    struct cavs__touched *all = &k->whole;
    int64_t most = 0;
    int rc;

    for (int rank = 0; rank < cavs__ranks_count(x->ranks); rank++) {
        struct cavs__told t = cavs__told(x, rank, table);

        most += t.end - t.at;
    }
    all->occurrences = (int)most;
    if (!cavs__array_reserve(&x->ways, &x->nways, (size_t)most + 1, sizeof *x->ways))
        return cavs__fail_nomem("touched rows", (size_t)most * sizeof *x->ways);
    rc = cavs__reserve(x->e, lists, slot, cavs__touched_length(all));
    if (rc)
        return rc;
    all->ids = (int32_t *)cavs__tensor_acquire(lists, slot, STARPU_W);
    all->ptr = all->ids + most;
    all->source = all->ptr + most + 1;
    all->row = all->source + most;
    number_rows(x, table, all, mark);
    rc = cavs__rows_route(x, b->touched[p->number], table, k, mark);
    for (int i = 0; i < all->n; i++)
        mark[all->ids[i]] = 0;
    cavs__tensor_release(lists, slot);
    return rc ? rc : resize_blocks(x, k, p->cols);
}

int cavs__rows_merge(struct cavs__exchange *x, struct cavs__batch *b, int slot,
                     struct cavs__tensor *lists)
{
    int64_t sum = 0, longest = 0;
    int rc = CAVS_OK;

    for (int i = 0; i < cavs__ranks_count(x->ranks); i++) {
        sum += x->lengths[i];
        longest = x->lengths[i] > longest ? x->lengths[i] : longest;
    }
    if (longest > CAVS__SHORT_LIST) {
        rc = cavs__numbers_reserve(&x->theirs, &x->theirs_room, (size_t)sum);
        if (!rc)
            rc = cavs__ranks_gather_lists(x->ranks, x->mine, x->lengths, x->theirs);
    }
    for (int i = 0; i < x->ntables && !rc; i++)
        rc = merge_table(x, b, i, slot, &lists[x->tables[i]->number],
                         cavs__id_marks(b, x->tables[i]));
    return rc;
}

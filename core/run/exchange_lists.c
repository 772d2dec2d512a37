/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_lists.c - which rows of looked-up parameters the ranks touch, and the way of each; see
 * exchange.h.
 *
 * Before a batch is submitted every rank tells the others which rows its shards touch, so each
 * knows what goes where.  A row is numbered where it occurs first, by ranks and then as one rank
 * lists them; that is its place in the lists of the update.  It is final at the rank that touches
 * it last; before that it goes on from each rank to the next.
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/exchange.h"

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
    struct cavs__touched *touched = b->touched[p->number];
    size_t room = (size_t)k->list_room;
    int rc;

    if (touched->ids) /* a tape has listed them */
        return CAVS_OK;
    rc = grow(&k->lists, &room, (size_t)cavs__touched_length(touched));
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
    if (!rc)
        rc = grow(&x->theirs, &x->theirs_room,
                  (size_t)cavs__ranks_count(x->ranks) * CAVS__SHORT_LIST);
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

/* Numbers the rows of all ranks, mark[id] - 1, and sets x->last[number] to the rank that touches it
 * last. */
static void number_rows(const struct cavs__exchange *x, int table, struct cavs__touched *all,
                        int32_t *mark)
{
    all->n = 0;
    for (int rank = 0; rank < cavs__ranks_count(x->ranks); rank++) {
        int n;
        const int32_t *ids = told(x, rank, table, &n);

        for (int i = 0; i < n; i++) {
            if (!mark[ids[i]]) {
                all->ids[all->n] = ids[i];
                mark[ids[i]] = ++all->n;
            }
            x->last[mark[ids[i]] - 1] = rank;
        }
    }
}

/* As the update reads them: every row has one gradient, where it is final.  Sources are the ranks
 * that have final rows. */
static void describe(const struct cavs__exchange *x, struct cavs__rows *k)
{
    struct cavs__touched *all = &k->whole;
    int ranks = cavs__ranks_count(x->ranks), source = 0;

    memset(k->nfinal, 0, (size_t)ranks * sizeof *k->nfinal);
    for (int i = 0; i < all->n; i++) {
        all->ptr[i] = i;
        all->row[i] = k->nfinal[x->last[i]]++;
    }
    all->ptr[all->n] = all->n;
    for (int rank = 0; rank < ranks; rank++) {
        for (int i = 0; i < all->n && k->nfinal[rank] > 0; i++) {
            if (x->last[i] == rank)
                all->source[i] = source;
        }
        source += k->nfinal[rank] > 0;
    }
}

/* The rows that have been touched by ranks up to `rank` and will be by others after it get
 * numbers, x->opened[row], by rows; the others -1.  Returns how many. */
static int number_open(const struct cavs__exchange *x, int table, const int32_t *mark, int rows,
                       int rank)
{
    int open = 0;

    memset(x->opened, 0, (size_t)rows * sizeof *x->opened);
    for (int i = 0; i <= rank; i++) {
        int n;
        const int32_t *ids = told(x, i, table, &n);

        for (int k = 0; k < n; k++)
            x->opened[mark[ids[k]] - 1] = 1;
    }
    for (int i = 0; i < rows; i++)
        x->opened[i] = x->opened[i] && x->last[i] > rank ? open++ : -1;
    return open;
}

/* Where this rank's sums come from and go to, and what only passes. */
static void route(struct cavs__exchange *x, const struct cavs__touched *own, int table,
                  struct cavs__rows *k, const int32_t *mark)
{
    const struct cavs__touched *all = &k->whole;
    int rank = cavs__rank(x->ranks), n = own->n;

    k->ncame = number_open(x, table, mark, all->n, rank - 1);
    for (int i = 0; i < own->n; i++)
        k->from[i] = x->opened[mark[own->ids[i]] - 1];
    for (int i = 0; i < own->n; i++) /* those left are not this rank's */
        x->opened[mark[own->ids[i]] - 1] = -1;
    for (int i = 0; i < all->n; i++) {
        if (x->opened[i] >= 0) {
            k->from[n] = x->opened[i];
            k->to[n++] = i;
        }
    }
    k->passing = n - own->n;
    k->nonward = number_open(x, table, mark, all->n, rank);
    for (int i = 0; i < n; i++) {
        int row = i < own->n ? mark[own->ids[i]] - 1 : k->to[i];

        k->to[i] = x->last[row] == rank ? all->row[row] : ~x->opened[row];
    }
}

static int make_block(struct cavs__block *k, int rows, int cols)
{
    int rc = rows > 0 ? cavs__block_reserve(k, (size_t)rows * (size_t)cols) : CAVS_OK;

    if (!rc && rows > 0)
        cavs__block_register(k, (size_t)rows * (size_t)cols);
    return rc;
}

static int make_blocks(const struct cavs__exchange *x, struct cavs__rows *k, int cols)
{
    int rc = make_block(&k->came, k->ncame, cols);

    if (!rc)
        rc = make_block(&k->onward, k->nonward, cols);
    for (int rank = 0; rank < cavs__ranks_count(x->ranks) && !rc; rank++)
        rc = make_block(&k->final[rank], k->nfinal[rank], cols);
    return rc;
}

/* Room for so many rows. */
static int reserve_scratch(struct cavs__exchange *x, struct cavs__rows *k, size_t rows)
{
    int rc = grow(&x->last, &x->last_room, rows);

    if (!rc)
        rc = grow(&x->opened, &x->opened_room, rows);
    if (!rc)
        rc = grow(&k->from, &k->from_room, rows);
    return rc ? rc : grow(&k->to, &k->to_room, rows);
}

static int merge_table(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot,
                       struct cavs__tensor *lists, int32_t *mark)
{
    struct cavs__rows *k = &x->rows[table][slot];
    const struct cavs_param *p = x->tables[table];
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
        rc = reserve_scratch(x, k, (size_t)most);
    if (rc)
        return rc;
    all->ids = (int32_t *)cavs__tensor_acquire(lists, slot, STARPU_W);
    all->ptr = all->ids + most;
    all->source = all->ptr + most + 1;
    all->row = all->source + most;
    number_rows(x, table, all, mark);
    describe(x, k);
    route(x, b->touched[p->number], table, k, mark);
    for (int i = 0; i < all->n; i++)
        mark[all->ids[i]] = 0;
    cavs__tensor_release(lists, slot);
    return make_blocks(x, k, p->cols);
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
        rc = grow(&x->theirs, &x->theirs_room, (size_t)sum);
        if (!rc)
            rc = cavs__ranks_gather_lists(x->ranks, x->mine, x->lengths, x->theirs);
    }
    for (int i = 0; i < x->ntables && !rc; i++)
        rc = merge_table(x, b, i, slot, &lists[x->tables[i]->number],
                         cavs__id_marks(b, x->tables[i]));
    return rc;
}

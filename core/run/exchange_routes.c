/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exchange_routes.c - where the gradients of touched rows are added up, and what of them goes from
 * which rank to which; see exchange.h.
 *
 * All ranks come to the same from the same lists.  Owners take turns, so that none has to add up
 * and to send to all much more than others.  The first rank that touches a row is not its owner: it
 * alone has a sum already, one row, of whatever many gradients.
 */
#include <string.h>

#include "core/run/exchange.h"

/* The routes of one table, as one rank sees them. */
struct routing {
    struct cavs__exchange *x;
    struct cavs__table_rows *k;
    const struct cavs__touched *own;
    const int32_t *mark;
    int table, rank, ranks;
};

static struct cavs__way *way_of(const struct routing *r, const struct cavs__told *t)
{
    return &r->x->ways[r->mark[t->id] - 1];
}

/* ---- who has the sum ---- */

/* What the owner receives is shared out among all links; a sum that goes from rank to rank holds up
 * the last one as often as it is sent. */
static bool goes_on(const struct cavs__exchange *x, const struct cavs__way *w)
{
    int64_t others = w->ranks > 1 ? w->later - w->later / (w->ranks - 1) + 1 : 0;

    return others > (int64_t)x->nsharing * (w->last - w->first);
}

/* Of two ranks each sends one number for each of the other's, whether one of them adds up and sends
 * the sum back or both do. */
static bool is_everyones(const struct routing *r, const struct cavs__way *w)
{
    return r->ranks == 2 && w->ranks == 2 && w->later == 1;
}

static void choose_owners(const struct routing *r)
{
    for (int i = 0; i < r->k->whole.n; i++) {
        struct cavs__way *w = &r->x->ways[i];

        w->chained = goes_on(r->x, w);
        w->turn = is_everyones(r, w) ? CAVS__EVERYONE
                  : w->chained       ? w->ranks - 1
                  : w->ranks > 1     ? 1 + i % (w->ranks - 1)
                                     : 0;
        w->owner = CAVS__EVERYONE;
    }
    for (int rank = 0; rank < r->ranks; rank++) {
        for (struct cavs__told t = cavs__told(r->x, rank, r->table); cavs__next_told(&t);) {
            struct cavs__way *w = way_of(r, &t);

            if (w->turn-- == 0)
                w->owner = rank;
        }
    }
}

/* Describes the touched rows as the update reads them: every row has one gradient, where its sum
 * is, or what everyone has of it.  Blocks are those of exchange.h, by numbers. */
static void describe(const struct routing *r)
{
    struct cavs__touched *all = &r->k->whole;
    int *n = r->k->nfinal;
    int32_t end = 0;

    memset(n, 0, 2 * (size_t)r->ranks * sizeof *n);
    for (int i = 0; i < all->n; i++) {
        struct cavs__way *w = &r->x->ways[i];
        int first = w->owner + w->chained * r->ranks, last = first;

        if (w->owner == CAVS__EVERYONE) {
            first = 0;
            last = r->ranks - 1;
        }
        all->ptr[i] = end;
        for (int block = first; block <= last; block++) {
            all->source[end] = block;
            all->row[end++] = n[block];
            w->place = first == last || block == r->rank ? n[block] : w->place;
            n[block]++;
        }
    }
    all->ptr[all->n] = end;
}

/* Numbers the sources of the update: the blocks that have rows. */
static void number_sources(const struct routing *r)
{
    struct cavs__touched *all = &r->k->whole;
    int source[2 * r->ranks], sources = 0;

    for (int i = 0; i < 2 * r->ranks; i++) {
        source[i] = sources;
        sources += r->k->nfinal[i] > 0;
    }
    for (int i = 0; i < all->ptr[all->n]; i++)
        all->source[i] = source[all->source[i]];
}

/* ---- sums of this rank ---- */

static int reserve(struct cavs__row_sums *s, size_t n)
{
    int rc = cavs__numbers_reserve(&s->numbers, &s->room, 5 * n + 1);

    if (rc)
        return rc;
    s->n = 0;
    s->ptr = s->numbers;
    s->source = s->ptr + n + 1;
    s->row = s->source + n;
    s->to = s->row + n;
    s->at = s->to + n;
    s->ptr[0] = 0;
    return CAVS_OK;
}

static void begin_sum(struct cavs__row_sums *s, int to, int at)
{
    s->to[s->n] = to;
    s->at[s->n] = at;
    s->ptr[s->n + 1] = s->ptr[s->n];
    s->n++;
}

/* Adds a gradient to the sum that ends at *end. */
static void add(struct cavs__row_sums *s, int32_t *end, int source, int row)
{
    s->source[*end] = source;
    s->row[(*end)++] = row;
}

static void add_own(const struct routing *r, struct cavs__row_sums *s, int32_t *end, int row)
{
    for (int e = r->own->ptr[row]; e < r->own->ptr[row + 1]; e++)
        add(s, end, r->ranks + r->own->source[e], r->own->row[e]);
}

/* Gives the gradients of a row to the rank that owns it. */
static void give(const struct routing *r, const struct cavs__way *w)
{
    struct cavs__row_sums *s = &r->k->sums[CAVS__GIVEN];
    int *n = &r->k->ngiven[w->owner];

    if (w->first == r->rank) {
        begin_sum(s, w->owner, (*n)++);
        add_own(r, s, &s->ptr[s->n], w->own);
        return;
    }
    for (int e = r->own->ptr[w->own]; e < r->own->ptr[w->own + 1]; e++) {
        begin_sum(s, w->owner, (*n)++);
        add(s, &s->ptr[s->n], r->ranks + r->own->source[e], r->own->row[e]);
    }
}

static bool is_kept(const struct routing *r, const struct cavs__way *w)
{
    return w->owner == r->rank || w->owner == CAVS__EVERYONE;
}

/* Finds where the gradients of each row begin that this rank owns.  What the first rank sends
 * counts as one. */
static void begin_kept(const struct routing *r)
{
    struct cavs__row_sums *s = &r->k->sums[CAVS__KEPT];

    for (int i = 0; i < r->k->whole.n; i++) {
        const struct cavs__way *w = &r->x->ways[i];
        bool others = w->ranks > 1 && w->owner != CAVS__EVERYONE;

        if (!is_kept(r, w) || w->chained)
            continue;
        begin_sum(s, r->rank, w->place);
        s->ptr[s->n] += others ? w->later + 1 : r->own->ptr[w->own + 1] - r->own->ptr[w->own];
    }
}

static void take(const struct routing *r, int rank, const struct cavs__told *t)
{
    const struct cavs__way *w = way_of(r, t);
    struct cavs__row_sums *s = &r->k->sums[CAVS__KEPT];
    int n = w->first == rank ? 1 : t->gradients;

    if (w->chained || (rank != r->rank && w->owner != r->rank))
        return;
    if (rank == r->rank && is_kept(r, w))
        add_own(r, s, &s->ptr[w->place], w->own);
    else if (rank == r->rank)
        give(r, w);
    else
        for (int i = 0; i < n; i++)
            add(s, &s->ptr[w->place], rank, r->k->ntaken[rank]++);
}

/* Numbers the rows of this rank.  How many gradients it has of each it knows itself, since that is
 * not always told. */
static void number_own(const struct routing *r)
{
    int n = 0;

    for (struct cavs__told t = cavs__told(r->x, r->rank, r->table); cavs__next_told(&t); n++) {
        struct cavs__way *w = way_of(r, &t);

        w->own = n;
        w->later += w->first < r->rank ? r->own->ptr[n + 1] - r->own->ptr[n] - t.gradients : 0;
    }
}

static void give_and_take(const struct routing *r)
{
    struct cavs__row_sums *s = &r->k->sums[CAVS__KEPT];

    begin_kept(r);
    for (int rank = 0; rank < r->ranks; rank++) {
        for (struct cavs__told t = cavs__told(r->x, rank, r->table); cavs__next_told(&t);)
            take(r, rank, &t);
    }
    /* adding has moved every start to the next one's */
    memmove(s->ptr + 1, s->ptr, (size_t)s->n * sizeof *s->ptr);
    s->ptr[0] = 0;
}

/* Adds this rank's gradients to the sums that come from the rank before and go on to the next. */
static void pass(const struct routing *r)
{
    struct cavs__row_sums *s = &r->k->sums[CAVS__PASSED];

    for (int i = 0; i < r->k->whole.n; i++) {
        const struct cavs__way *w = &r->x->ways[i];
        bool ends = w->last == r->rank;

        if (!w->chained || w->first > r->rank || w->last < r->rank)
            continue;
        begin_sum(s, !ends, ends ? w->place : r->k->nonward++);
        if (w->first < r->rank)
            add(s, &s->ptr[s->n], 0, r->k->ncame++);
        if (w->own >= 0)
            add_own(r, s, &s->ptr[s->n], w->own);
    }
}

/* Makes room for what this rank adds up, not for what all of them do. */
static int reserve_sums(const struct routing *r)
{
    size_t own = (size_t)r->own->occurrences, most[CAVS__ROW_TASKS] = {own, own, own};
    int rc = CAVS_OK;

    for (int i = 0; i < r->k->whole.n; i++) {
        const struct cavs__way *w = &r->x->ways[i];

        if (w->chained)
            most[CAVS__PASSED] += w->first <= r->rank && w->last >= r->rank;
        else if (is_kept(r, w))
            most[CAVS__KEPT] += (size_t)w->later + 1;
    }
    for (int i = 0; i < CAVS__ROW_TASKS && !rc; i++)
        rc = reserve(&r->k->sums[i], most[i]);
    return rc;
}

int cavs__rows_route(struct cavs__exchange *x, const struct cavs__touched *own, int table,
                     struct cavs__table_rows *k, const int32_t *mark)
{
    struct routing r = {.x = x,
                        .k = k,
                        .own = own,
                        .mark = mark,
                        .table = table,
                        .rank = cavs__rank(x->ranks),
                        .ranks = cavs__ranks_count(x->ranks)};
    int rc;

    choose_owners(&r);
    rc = reserve_sums(&r);
    if (rc)
        return rc;
    memset(k->ngiven, 0, (size_t)r.ranks * sizeof *k->ngiven);
    memset(k->ntaken, 0, (size_t)r.ranks * sizeof *k->ntaken);
    k->ncame = k->nonward = 0;
    describe(&r);
    number_sources(&r);
    number_own(&r);
    give_and_take(&r);
    if (cavs__place_of(x) >= 0)
        pass(&r);
    return CAVS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_shares.c - which rank updates which rows of which parameter; see exchange.h. */
#include "core/base/array.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/run/exchange.h"
#include "core/run/optimizer.h"

static bool is_dense(const struct cavs__exchange *x, const struct cavs_param *p)
{
    return cavs__is_trained(x->e->plan, p) && x->e->plan->grad[p->number] >= 0;
}

static size_t floats_of(const struct cavs_param *p)
{
    return (size_t)p->rows * (size_t)p->cols;
}

size_t cavs__floats_in(const struct cavs__share *s)
{
    return (size_t)s->rows * (size_t)s->p->cols;
}

bool cavs__is_whole(const struct cavs__share *s)
{
    return s->rows == s->p->rows;
}

/* ---- cutting ---- */

/* How many floats each rank updates if all have as many. */
static size_t even_load(const struct cavs__exchange *x)
{
    const struct cavs_model *m = x->e->plan->model;
    size_t sum = 0;

    for (int i = 0; i < m->nstored; i++)
        sum += is_dense(x, m->params[i]) ? floats_of(m->params[i]) : 0;
    return sum / (size_t)cavs__ranks_count(x->ranks);
}

/* How many shares a parameter is cut into.  If one rank had all of a large one, it would receive it
 * from all others and send it to all, while their links have less to do; shares of half of what
 * each rank has on average even that out.  Of two ranks each sends what the other receives anyway,
 * and more messages would only cost time.  A share has whole blocks of rows that an update takes at
 * once, and is not small.  With clipping nothing is cut: one rank adds up the squares of a
 * parameter from its first row to its last. */
static int shares_of(const struct cavs__exchange *x, const struct cavs_param *p)
{
    size_t even = even_load(x), block = (size_t)CAVS__UPDATE_ROWS * (size_t)p->cols,
           blocks = (size_t)p->rows / CAVS__UPDATE_ROWS, least = CAVS__SMALL_SHARE / block + 1,
           n = 2 * floats_of(p) / (even > 0 ? even : 1);

    if (x->e->options->clip > 0 || cavs__ranks_count(x->ranks) < 3 || 4 * floats_of(p) <= 5 * even)
        return 1;
    n = n < blocks / least ? n : blocks / least;
    return n > 1 ? (int)n : 1;
}

static int add_shares(struct cavs__exchange *x, const struct cavs_param *p)
{
    int n = shares_of(x, p), blocks = p->rows / CAVS__UPDATE_ROWS;

    if (!cavs__array_reserve(&x->shares, &x->shares_room, (size_t)(x->nshares + n),
                             sizeof *x->shares))
        return cavs__fail_nomem("exchange", (size_t)n * sizeof *x->shares);
    x->share_of[p->number] = x->nshares;
    x->shares_of[p->number] = n;
    for (int i = 0; i < n; i++) {
        int first = blocks * i / n * CAVS__UPDATE_ROWS,
            end = i + 1 < n ? blocks * (i + 1) / n * CAVS__UPDATE_ROWS : p->rows;

        x->shares[x->nshares++] =
            (struct cavs__share){.p = p, .first = first, .rows = end - first, .parcel = -1};
    }
    return CAVS_OK;
}

int cavs__shares_add(struct cavs__exchange *x)
{
    const struct cavs_model *m = x->e->plan->model;
    int rc = CAVS_OK;

    for (int i = 0; i < m->nstored && !rc; i++) {
        if (is_dense(x, m->params[i]) && x->shares_of[i] == 0)
            rc = add_shares(x, m->params[i]);
    }
    return rc;
}

/* ---- owners ---- */

/* The largest share that nobody has yet; -1: there is none. */
static int next_share(const struct cavs__exchange *x, const int *owner)
{
    int next = -1;

    for (int i = 0; i < x->nshares; i++) {
        if (owner[i] < 0 &&
            (next < 0 || cavs__floats_in(&x->shares[i]) > cavs__floats_in(&x->shares[next])))
            next = i;
    }
    return next;
}

void cavs__shares_deal(const struct cavs__exchange *x, size_t *load, int *owner)
{
    int ranks = cavs__ranks_count(x->ranks);

    for (int i = 0; i < x->nshares; i++) {
        owner[i] = x->shares[i].parcel < 0 ? -1 : x->parcels[x->shares[i].parcel].owner;
        if (owner[i] >= 0)
            load[owner[i]] += cavs__floats_in(&x->shares[i]);
    }
    for (int i; (i = next_share(x, owner)) >= 0;) {
        owner[i] = 0;
        for (int rank = 1; rank < ranks; rank++) {
            if (load[rank] < load[owner[i]])
                owner[i] = rank;
        }
        load[owner[i]] += cavs__floats_in(&x->shares[i]);
    }
}

/* ---- questions ---- */

const struct cavs__share *cavs__own_share(const struct cavs__exchange *x,
                                          const struct cavs_param *p, int i)
{
    int first = x->share_of[p->number];

    for (int k = first; k < first + x->shares_of[p->number]; k++) {
        if (cavs__owns_parcel(x, x->shares[k].parcel) && i-- == 0)
            return &x->shares[k];
    }
    return NULL;
}

bool cavs__owns(const struct cavs__exchange *x, const struct cavs_param *p)
{
    return x->shares_of[p->number] == 0 || cavs__own_share(x, p, 0);
}

void cavs__own_rows(const struct cavs__exchange *x, const struct cavs_param *p, int *first,
                    int *end)
{
    const struct cavs__share *s = cavs__own_share(x, p, 0);

    *first = s ? s->first : 0;
    *end = cavs__owns(x, p) ? p->rows : 0;
    for (int i = 0; s; s = cavs__own_share(x, p, ++i))
        *end = s->first + s->rows;
}

uint64_t cavs__layout_of_shares(const struct cavs__exchange *x, const struct cavs_param *p)
{
    int first = x->share_of[p->number];
    uint64_t h = CAVS__HASH_START;

    for (int i = first; i < first + x->shares_of[p->number]; i++) {
        const struct cavs__share *s = &x->shares[i];
        const int words[] = {s->first, s->rows, x->parcels[s->parcel].owner};

        h = cavs__hash(h, words, sizeof words);
    }
    return h | 1;
}

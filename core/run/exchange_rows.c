/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_rows.c - the gradients of touched rows of looked-up parameters are added up, rank by
 * rank, and go to all; see exchange.h. */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/run/exchange.h"
#include "core/run/optimizer.h"

/* ---- life ---- */

static bool is_table(const struct cavs__exchange *x, const struct cavs_param *p)
{
    return cavs__has_row_gradient(x->e->plan, p) && cavs__is_trained(p);
}

int cavs__rows_create(struct cavs__exchange *x)
{
    const struct cavs_model *m = x->e->plan->model;
    size_t n = (size_t)m->nstored + 1, ranks = (size_t)cavs__ranks_count(x->ranks);

    x->tables = calloc(n, sizeof(*x->tables));
    x->rows = calloc(n, sizeof *x->rows);
    if (!x->tables || !x->rows)
        return cavs__fail_nomem("exchange", n * sizeof *x->rows);
    for (int i = 0; i < m->nstored; i++) {
        if (is_table(x, m->params[i]))
            x->tables[x->ntables++] = m->params[i];
    }
    for (int i = 0; i < x->ntables; i++) {
        for (int slot = 0; slot < CAVS__SLOTS; slot++) {
            struct cavs__rows *k = &x->rows[i][slot];

            k->final = calloc(ranks, sizeof *k->final);
            k->nfinal = calloc(ranks, sizeof *k->nfinal);
            if (!k->final || !k->nfinal)
                return cavs__fail_nomem("exchange", ranks * sizeof *k->final);
        }
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
        struct cavs__rows *k = &x->rows[i][slot];

        forget(&k->came);
        forget(&k->onward);
        for (int rank = 0; rank < cavs__ranks_count(x->ranks); rank++)
            forget(&k->final[rank]);
    }
}

static void free_rows(struct cavs__rows *k, int ranks)
{
    cavs__block_free(&k->came);
    cavs__block_free(&k->onward);
    for (int rank = 0; k->final && rank < ranks; rank++)
        cavs__block_free(&k->final[rank]);
    free(k->final);
    free(k->nfinal);
    free(k->lists);
    free(k->from);
    free(k->to);
}

void cavs__rows_free(struct cavs__exchange *x)
{
    for (int i = 0; x->rows && i < x->ntables; i++) {
        for (int slot = 0; slot < CAVS__SLOTS; slot++)
            free_rows(&x->rows[i][slot], cavs__ranks_count(x->ranks));
    }
    free(x->rows);
    free(x->tables);
    x->rows = NULL;
    x->tables = NULL;
    x->ntables = 0;
}

/* A table may be looked up for the first time, or be multiplied now, too, and be one no more. */
int cavs__rows_follow_plan(struct cavs__exchange *x)
{
    const struct cavs_model *m = x->e->plan->model;
    int n = 0;
    bool same = true;

    for (int i = 0; i < m->nstored; i++) {
        if (!is_table(x, m->params[i]))
            continue;
        same &= n < x->ntables && x->tables[n] == m->params[i];
        n++;
    }
    if (same && n == x->ntables)
        return CAVS_OK;
    cavs__wait_slots(x->e);
    cavs__rows_free(x);
    return cavs__rows_create(x);
}

/* ---- tasks and messages ---- */

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

/* The rank with shards before or after this one, which has some.  Others touch nothing. */
static int neighbour(const struct cavs__exchange *x, int step)
{
    int place = cavs__place_of(x) + step;

    return place >= 0 && place < x->nsharing ? x->sharing[place] : -1;
}

int cavs__rows_receive(struct cavs__exchange *x, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && cavs__place_of(x) > 0 && !rc; i++) {
        struct cavs__rows *k = &x->rows[i][slot];

        if (k->ncame > 0)
            rc = cavs__receive(x, slot, k->came.handle, neighbour(x, -1),
                               cavs__rows_tag(x, i, slot, false));
    }
    return rc;
}

static int fill_args(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot,
                     struct cavs__sum_rows_args *a)
{
    struct cavs__arena *arena = &x->e->slots[slot].arena;
    const struct cavs__rows *k = &x->rows[table][slot];
    const struct cavs_param *p = x->tables[table];
    const struct cavs__touched *own = b->touched[p->number];
    size_t n = (size_t)own->n + (size_t)k->passing + 1;
    size_t bytes = (2 * n + (size_t)own->nlookups) * sizeof(float *);
    const float **sources = cavs__arena_alloc(arena, n * sizeof *sources),
                **gradients =
                    cavs__arena_alloc(arena, ((size_t)own->nlookups + 1) * sizeof *gradients);
    float **places = cavs__arena_alloc(arena, n * sizeof *places);

    if (!sources || !gradients || !places)
        return cavs__fail_nomem("task", bytes);
    *a = (struct cavs__sum_rows_args){.n = own->n,
                                      .cols = p->cols,
                                      .ends = k->nfinal[cavs__rank(x->ranks)] > 0,
                                      .goes = k->nonward > 0,
                                      .came = k->ncame > 0,
                                      .ptr = own->ptr,
                                      .source = own->source,
                                      .row = own->row,
                                      .from = k->from,
                                      .to = k->to,
                                      .passing = k->passing,
                                      .ngrads = own->nlookups,
                                      .ldg = own->ld,
                                      .gradients = gradients,
                                      .sources = sources,
                                      .places = places};
    return CAVS_OK;
}

static int sum_table(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot)
{
    const struct cavs__rows *k = &x->rows[table][slot];
    const struct cavs__touched *own = b->touched[x->tables[table]->number];
    struct cavs__sum_rows_args *a = cavs__arena_alloc(&x->e->slots[slot].arena, sizeof *a);
    starpu_data_handle_t *handles = gradients(x, b, table, slot);
    struct starpu_task *t;
    int rc = a && handles ? fill_args(x, b, table, slot, a) : CAVS_ENOMEM;

    t = rc ? NULL : cavs__task_create(x->e, slot, -1, &x->sum_rows, a, own->nlookups + 3);
    if (!t)
        return cavs__fail_nomem("task", sizeof *a);
    if (a->ends)
        cavs__task_buffer(t, k->final[cavs__rank(x->ranks)].handle, STARPU_W);
    if (a->goes)
        cavs__task_buffer(t, k->onward.handle, STARPU_W);
    if (a->came)
        cavs__task_buffer(t, k->came.handle, STARPU_R);
    for (int i = 0; i < own->nlookups; i++)
        cavs__task_buffer(t, handles[i], STARPU_R);
    t->priority = 2;
    return cavs__task_submit(x->e, slot, t,
                             (double)own->occurrences * a->cols * x->e->rt->cost.rates.value);
}

int cavs__rows_sum(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && cavs__place_of(x) >= 0 && !rc; i++) {
        const struct cavs__rows *k = &x->rows[i][slot];

        if (b->touched[x->tables[i]->number]->n + k->passing > 0)
            rc = sum_table(x, b, i, slot);
    }
    return rc;
}

int cavs__rows_send(struct cavs__exchange *x, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && !rc; i++) {
        struct cavs__rows *k = &x->rows[i][slot];

        if (cavs__place_of(x) >= 0 && k->nonward > 0)
            rc = cavs__send(x, slot, k->onward.handle, neighbour(x, 1),
                            cavs__rows_tag(x, i, slot, false));
        for (int rank = 0; rank < cavs__ranks_count(x->ranks) && !rc; rank++) {
            if (k->nfinal[rank] > 0)
                rc = cavs__spread(x, slot, k->final[rank].handle, rank,
                                  cavs__rows_tag(x, i, slot, true));
        }
    }
    return rc;
}

/* ---- what comes of it ---- */

static const struct cavs__rows *rows_of(const struct cavs__exchange *x, const struct cavs_param *p,
                                        int slot)
{
    int table = 0;

    while (x->tables[table] != p)
        table++;
    return &x->rows[table][slot];
}

const struct cavs__touched *cavs__exchanged_rows(const struct cavs__exchange *x,
                                                 const struct cavs_param *p, int slot)
{
    return &rows_of(x, p, slot)->whole;
}

int cavs__exchanged_blocks(const struct cavs__exchange *x, const struct cavs_param *p, int slot,
                           const struct cavs__block **blocks)
{
    const struct cavs__rows *k = rows_of(x, p, slot);
    int n = 0;

    for (int rank = 0; rank < cavs__ranks_count(x->ranks); rank++) {
        if (k->nfinal[rank] > 0)
            blocks[n++] = &k->final[rank];
    }
    return n;
}

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
    return cavs__has_row_gradient(x->e->plan, p) && cavs__is_trained(x->e->plan, p);
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
            struct cavs__table_rows *k = &x->rows[i][slot];

            k->final = calloc(4 * ranks, sizeof *k->final);
            k->nfinal = calloc(4 * ranks, sizeof *k->nfinal);
            if (!k->final || !k->nfinal)
                return cavs__fail_nomem("exchange", 4 * ranks * sizeof *k->final);
            k->given = k->final + 2 * ranks;
            k->taken = k->given + ranks;
            k->ngiven = k->nfinal + 2 * ranks;
            k->ntaken = k->ngiven + ranks;
        }
    }
    return CAVS_OK;
}

static void free_rows(struct cavs__table_rows *k, int ranks)
{
    cavs__block_free(&k->came);
    cavs__block_free(&k->onward);
    for (int i = 0; k->final && i < 4 * ranks; i++) /* all arrays of blocks */
        cavs__block_free(&k->final[i]);
    for (int i = 0; i < CAVS__ROW_TASKS; i++)
        free(k->sums[i].numbers);
    free(k->final);
    free(k->nfinal);
    free(k->lists);
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

/* ---- messages ---- */

/* The next rank before or after this one, which has shards, that has some, too.  Ranks without
 * shards touch nothing. */
static int neighbour(const struct cavs__exchange *x, int step)
{
    int place = cavs__place_of(x) + step;

    return place >= 0 && place < x->nsharing ? x->sharing[place] : -1;
}

static int receive_table(struct cavs__exchange *x, int table, int slot)
{
    const struct cavs__table_rows *k = &x->rows[table][slot];
    int rc = CAVS_OK;

    for (int rank = 0; rank < cavs__ranks_count(x->ranks) && !rc; rank++) {
        if (k->ntaken[rank] > 0)
            rc = cavs__receive(x, slot, k->taken[rank].handle, rank,
                               cavs__rows_tag(table, slot, CAVS__TAG_GIVEN));
    }
    if (k->ncame > 0 && !rc)
        rc = cavs__receive(x, slot, k->came.handle, neighbour(x, -1),
                           cavs__rows_tag(table, slot, CAVS__TAG_ONWARD));
    return rc;
}

int cavs__rows_receive(struct cavs__exchange *x, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && !rc; i++)
        rc = receive_table(x, i, slot);
    return rc;
}

/* Sends to the rank after this one first, so that not all send to the same rank at the same
 * time. */
static int send_table(struct cavs__exchange *x, int table, int slot)
{
    const struct cavs__table_rows *k = &x->rows[table][slot];
    int ranks = cavs__ranks_count(x->ranks), rc = CAVS_OK;

    for (int i = 1; i < ranks && !rc; i++) {
        int to = (cavs__rank(x->ranks) + i) % ranks;

        if (k->ngiven[to] > 0)
            rc = cavs__send(x, slot, k->given[to].handle, to,
                            cavs__rows_tag(table, slot, CAVS__TAG_GIVEN));
    }
    if (k->nonward > 0 && !rc)
        rc = cavs__send(x, slot, k->onward.handle, neighbour(x, 1),
                        cavs__rows_tag(table, slot, CAVS__TAG_ONWARD));
    for (int i = 0; i < 2 * ranks && !rc; i++) {
        if (k->nfinal[i] > 0)
            rc = cavs__spread(
                x, slot, k->final[i].handle, i % ranks,
                cavs__rows_tag(table, slot, i < ranks ? CAVS__TAG_FINAL : CAVS__TAG_LAST));
    }
    return rc;
}

int cavs__rows_send(struct cavs__exchange *x, int slot)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && !rc; i++)
        rc = send_table(x, i, slot);
    return rc;
}

/* ---- what comes of it ---- */

static const struct cavs__table_rows *rows_of(const struct cavs__exchange *x,
                                              const struct cavs_param *p, int slot)
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
    const struct cavs__table_rows *k = rows_of(x, p, slot);
    int n = 0;

    for (int i = 0; i < 2 * cavs__ranks_count(x->ranks); i++) {
        if (k->nfinal[i] > 0)
            blocks[n++] = &k->final[i];
    }
    return n;
}

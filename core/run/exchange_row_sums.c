/* SPDX-License-Identifier: Apache-2.0 */
/* exchange_row_sums.c - the gradients of touched rows of looked-up parameters are added up; see
 * exchange.h. */
#include "core/base/error.h"
#include "core/run/exchange.h"

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

/* The blocks that a task reads and writes, and the number of each in the sums. */
struct blocks {
    int nwritten, nread;
    int32_t *number;
    starpu_data_handle_t *handles;
};

static void write_block(struct blocks *s, const struct cavs__block *k, int rows, int number)
{
    if (rows == 0)
        return;
    s->number[s->nwritten] = number;
    s->handles[s->nwritten++] = k->handle;
}

static void read_block(struct blocks *s, const struct cavs__block *k, int rows, int number)
{
    if (rows == 0)
        return;
    s->number[s->nwritten + s->nread] = number;
    s->handles[s->nwritten + s->nread++] = k->handle;
}

/* Lists the blocks by the numbers that exchange_routes.c gives them. */
static void find_blocks(const struct cavs__exchange *x, const struct cavs__table_rows *k,
                        enum cavs__row_task task, struct blocks *s)
{
    int ranks = cavs__ranks_count(x->ranks), rank = cavs__rank(x->ranks);

    if (task == CAVS__KEPT)
        write_block(s, &k->final[rank], k->nfinal[rank], rank);
    if (task == CAVS__PASSED) {
        write_block(s, &k->final[ranks + rank], k->nfinal[ranks + rank], 0);
        write_block(s, &k->onward, k->nonward, 1);
        read_block(s, &k->came, k->ncame, 0);
    }
    for (int i = 0; i < ranks && task != CAVS__PASSED; i++) {
        if (task == CAVS__GIVEN)
            write_block(s, &k->given[i], k->ngiven[i], i);
        else
            read_block(s, &k->taken[i], k->ntaken[i], i);
    }
}

static int fill_args(const struct cavs__exchange *x, const struct cavs__touched *own, int slot,
                     const struct cavs__row_sums *s, struct cavs__sum_rows_args *a)
{
    struct cavs__arena *arena = &x->e->slots[slot].arena;
    size_t blocks = (size_t)cavs__ranks_count(x->ranks), sources = blocks + (size_t)own->nlookups;

    *a = (struct cavs__sum_rows_args){
        .n = s->n,
        .ptr = s->ptr,
        .source = s->source,
        .row = s->row,
        .to = s->to,
        .at = s->at,
        .nblocks = (int)blocks,
        .ngrads = own->nlookups,
        .ldg = own->ld,
        .blocks = cavs__arena_alloc(arena, blocks * sizeof *a->blocks),
        .places = cavs__arena_alloc(arena, (size_t)s->n * sizeof *a->places),
        .sources = cavs__arena_alloc(arena, sources * sizeof *a->sources),
        .ld = cavs__arena_alloc(arena, sources * sizeof *a->ld)};
    return a->blocks && a->places && a->sources && a->ld
               ? CAVS_OK
               : cavs__fail_nomem("task", (size_t)s->n * sizeof *a->places);
}

static int sum_table(struct cavs__exchange *x, const struct cavs__batch *b, int table, int slot,
                     enum cavs__row_task task)
{
    const struct cavs__table_rows *k = &x->rows[table][slot];
    const struct cavs__touched *own = b->touched[x->tables[table]->number];
    const struct cavs__row_sums *sums = &k->sums[task];
    struct cavs__arena *arena = &x->e->slots[slot].arena;
    struct cavs__sum_rows_args *a = cavs__arena_alloc(arena, sizeof *a);
    size_t most = (size_t)cavs__ranks_count(x->ranks) + 3;
    int32_t *number = cavs__arena_alloc(arena, most * sizeof *number);
    starpu_data_handle_t *handles = gradients(x, b, table, slot), of_blocks[most];
    struct blocks s = {.number = number, .handles = of_blocks};
    struct starpu_task *t;
    int rc = a && number && handles ? fill_args(x, own, slot, sums, a) : CAVS_ENOMEM;

    if (rc)
        return cavs__fail_nomem("task", sizeof *a);
    t = cavs__task_create(x->e, slot, -1, &x->sum_rows, a);
    find_blocks(x, k, task, &s);
    a->cols = x->tables[table]->cols;
    a->number = number;
    a->nwritten = s.nwritten;
    a->nread = s.nread;
    for (int i = 0; i < s.nwritten + s.nread; i++)
        cavs__task_buffer(t, of_blocks[i], i < s.nwritten ? STARPU_W : STARPU_R);
    for (int i = 0; i < own->nlookups; i++)
        cavs__task_buffer(t, handles[i], STARPU_R);
    t->priority = 2;
    return cavs__task_submit(x->e, slot, t,
                             (double)sums->ptr[sums->n] * a->cols * x->e->rt->cost.rates.value);
}

static int sum_tables(struct cavs__exchange *x, const struct cavs__batch *b, int slot,
                      enum cavs__row_task task)
{
    int rc = CAVS_OK;

    for (int i = 0; i < x->ntables && !rc; i++) {
        if (x->rows[i][slot].sums[task].n > 0)
            rc = sum_table(x, b, i, slot, task);
    }
    return rc;
}

int cavs__rows_give(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    return sum_tables(x, b, slot, CAVS__GIVEN);
}

/* What others wait for is not joined with what waits for them. */
int cavs__rows_sum(struct cavs__exchange *x, const struct cavs__batch *b, int slot)
{
    int rc = sum_tables(x, b, slot, CAVS__PASSED);

    if (!rc)
        rc = cavs__join_flush(x->e, slot);
    if (!rc)
        rc = sum_tables(x, b, slot, CAVS__KEPT);
    return rc ? rc : cavs__join_flush(x->e, slot);
}

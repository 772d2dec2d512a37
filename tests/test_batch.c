/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_batch.c - batches as core/prepare makes them, without a runtime: shards, rows, index
 * sections, blocks and touched rows of every model of the zoo, and of two more, compared
 * with the samples as they were made.
 */
#include <stdlib.h>
#include <string.h>

#include "core/prepare/prepare.h"
#include "tests/sample.h"
#include "tests/trial.h"

/* A batch with the memory that a session would give it: of exactly the length asked for. */
struct prepared {
    struct trial t;
    struct cavs__plan *plan;
    struct cavs__batch b;
    struct cavs__arena arena;
    int nstages;
    int32_t **index; /* [shard * nstages + stage]; NULL: the shard has no samples */
    int32_t **lists; /* [nstored] of touched rows, or NULL */
};

enum { MOST_SHARDS = 5, MOST_VERTICES = 64 };

static void open_plan(struct prepared *p, const struct zoo_entry *z)
{
    struct cavs__plan_options o = {.training = true, .l2_bytes = 1 << 20, .l3_bytes = 16 << 20};
    *p = (struct prepared){0};
    trial_note("%s", z->name);
    trial_open_zoo(&p->t, z);
    p->nstages = p->t.model->nstages;
    o.rates.gemm[0] = o.rates.gemm[1] = o.rates.gemm[2] = o.rates.gemm[3] = 1e-11;
    o.rates.value = 1e-9;
    check_ok(cavs__plan_create(p->t.model, &o, &p->plan));
}

/* Blocks are worth next to nothing, so that there are as many as there can be. */
static void open_batch(struct prepared *p, enum cavs_policy policy, bool apart)
{
    struct cavs__preparing how = {.policy = &cavs__policies[policy],
                                  .apart = apart,
                                  .block_seconds = 1e-9,
                                  .most_shards = MOST_SHARDS};
    check_ok(cavs__batch_init(&p->b, p->plan, &how));
    p->index = calloc((size_t)(MOST_SHARDS * p->nstages), sizeof *p->index);
    p->lists = calloc((size_t)p->t.model->nstored + 1, sizeof *p->lists);
    assert_true(p->index && p->lists);
}

static void forget(struct prepared *p)
{
    for (int i = 0; i < MOST_SHARDS * p->nstages; i++) {
        free(p->index[i]);
        p->index[i] = NULL;
    }
    for (int i = 0; i < p->t.model->nstored; i++) {
        free(p->lists[i]);
        p->lists[i] = NULL;
    }
    cavs__arena_reset(&p->arena);
}

static void close_batch(struct prepared *p)
{
    forget(p);
    free(p->index);
    free(p->lists);
    cavs__batch_free(&p->b);
    p->b = (struct cavs__batch){0};
}

static void close_plan(struct prepared *p)
{
    cavs__arena_free(&p->arena);
    cavs__plan_destroy(p->plan);
    trial_close(&p->t);
}

static void prepare(struct prepared *p, const int *samples, int n, int nshards, enum cavs__run run)
{
    struct cavs__request r = {.data = p->t.data,
                              .samples = samples,
                              .n = n,
                              .run = run,
                              .seed = 7,
                              .updates = 3,
                              .nshards = nshards};
    forget(p);
    check_ok(cavs__batch_split(&p->b, &r));
    for (int i = 0; i < nshards; i++)
        check_ok(cavs__schedule_shard(&p->b, i));
    check_ok(cavs__batch_lay_out(&p->b, &p->arena));
    for (int i = 0; i < nshards * p->nstages; i++) {
        int shard = i / p->nstages, stage = i % p->nstages;
        if (p->b.shards[shard].nsamples == 0)
            continue;
        /* zeros: of consumers there may be fewer than there is room for */
        p->index[i] = calloc((size_t)cavs__index_length(&p->b, shard, stage) + 1, sizeof(int32_t));
        assert_non_null(p->index[i]);
        cavs__write_index(&p->b, shard, stage, p->index[i]);
    }
    for (int i = 0; i < p->t.model->nstored; i++) {
        if (!p->b.touched[i])
            continue;
        p->lists[i] = malloc((size_t)cavs__touched_length(p->b.touched[i]) * sizeof(int32_t));
        assert_non_null(p->lists[i]);
        cavs__list_touched(&p->b, p->t.model->params[i], p->lists[i]);
    }
}

/* ---- what the samples say ---- */

/* One stage of a shard, and its vertices as the test made them. */
struct view {
    const struct prepared *p;
    const struct cavs__shard *shard;
    const struct cavs__shard_stage *t;
    const struct cavs__stage_plan *sp;
    const int32_t *index;
};

static struct view view_of(const struct prepared *p, int shard, int stage)
{
    return (struct view){.p = p,
                         .shard = &p->b.shards[shard],
                         .t = &p->b.shards[shard].stages[stage],
                         .sp = &p->plan->stages[stage],
                         .index = p->index[shard * p->nstages + stage]};
}

static const struct sample_stage *made(const struct view *w, int v)
{
    int number = w->shard->samples[w->t->sample_of[v]];
    return &w->p->t.samples[number]->stages[w->sp->stage->number];
}

/* A vertex's number in its own sample. */
static int local(const struct view *w, int v)
{
    return v - w->t->start[w->t->sample_of[v]];
}

/* The row in `stage` of a vertex of the sample that v is of; -1: of none. */
static int row_in(const struct view *w, const struct cavs_stage *stage, int v, int vertex)
{
    const struct cavs__shard_stage *t = &w->shard->stages[stage->number];
    return vertex < 0 ? -1 : t->schedule.row_of[t->start[w->t->sample_of[v]] + vertex];
}

static int children_of(const struct view *w, int v)
{
    const int *ptr = made(w, v)->graph->child_ptr + local(w, v);
    return ptr[1] - ptr[0];
}

static int child_row(const struct view *w, int v, int k)
{
    const struct graph *g = made(w, v)->graph;
    return k < children_of(w, v)
               ? row_in(w, w->sp->stage, v, g->children[g->child_ptr[local(w, v)] + k])
               : -1;
}

static int length_of(const struct view *w, const struct cavs__list *list, int v)
{
    const struct sample_stage *s = made(w, v);
    int k = local(w, v);
    if (list->children)
        return children_of(w, v);
    if (list->input)
        return s->ptr[list->input->number][k + 1] - s->ptr[list->input->number][k];
    return w->p->t.samples[w->shard->samples[w->t->sample_of[v]]]->stages[list->whole->number].n;
}

/* Value e of an input of ids. */
static int id_of(const struct view *w, const struct cavs__input *in, int v, int e)
{
    const struct sample_stage *s = made(w, v);
    int first = in->per == CAVS__PER_VERTEX ? local(w, v)
                : in->per == CAVS__PER_EDGE ? s->graph->child_ptr[local(w, v)]
                                            : s->ptr[in->number][local(w, v)];
    return s->ids[in->number][first + e];
}

static int fetched_row(const struct view *w, const struct cavs_symbol *fetch, int v, int e)
{
    int vertex = fetch->ninputs > 0  ? id_of(w, fetch->inputs[0]->input, v, e)
                 : fetch->domain > 0 ? e
                 : made(w, v)->under ? made(w, v)->under[local(w, v)]
                                     : local(w, v);
    return row_in(w, fetch->channel->stage, v, vertex);
}

/* ---- sections ---- */

static const int32_t *section(const struct view *w, int i)
{
    return w->index + w->t->offsets[i];
}

/* By pointers and rows: everything that values[] says, once, in order, and nothing else. */
static void check_inverse(const int32_t *ptr, const int32_t *rows, const int32_t *values, int n,
                          int nvalues)
{
    int listed = 0;
    assert_int_equal(ptr[0], 0);
    for (int v = 0; v < nvalues; v++) {
        assert_true(ptr[v] <= ptr[v + 1]);
        for (int e = ptr[v]; e < ptr[v + 1]; e++) {
            assert_in_range(rows[e], 0, n - 1);
            assert_int_equal(values[rows[e]], v);
            assert_true(e == ptr[v] || rows[e - 1] < rows[e]);
        }
    }
    for (int i = 0; i < n; i++)
        listed += values[i] >= 0;
    assert_int_equal(ptr[nvalues], listed);
}

/* The value that a vertex has in a section of a value a row. */
static int32_t wanted(const struct view *w, const struct cavs__section *s, int v)
{
    switch (s->kind) {
    case CAVS__S_IDS: return id_of(w, w->sp->stage->inputs[s->number], v, 0);
    case CAVS__S_CHILD: return child_row(w, v, s->number);
    default: return fetched_row(w, s->fetch, v, 0);
    }
}

/* The function row of a row. */
static int frow_of(const struct cavs__schedule *s, int row)
{
    const struct cavs__vt *vt = s->vt;

    while (row >= vt->row0 + vt->n)
        vt++;
    return vt->frow0 + row - vt->row0;
}

static void check_row_section(const struct view *w, const struct cavs__section *s,
                              const int32_t *got)
{
    const struct cavs__schedule *sch = &w->t->schedule;
    for (int v = 0; v < w->t->n; v++) {
        if (w->t->function[v] == s->function->number)
            assert_int_equal(got[frow_of(sch, sch->row_of[v])], wanted(w, s, v));
    }
}

/* The value that entry e of a vertex has; frow: its function row. */
static int32_t wanted_entry(const struct view *w, const struct cavs__section *s, int v, int e,
                            int frow)
{
    switch (s->kind) {
    case CAVS__S_IDS: return id_of(w, w->sp->stage->inputs[s->number], v, e);
    case CAVS__S_LIST_OWNER: return frow;
    case CAVS__S_LIST_CHILD: return child_row(w, v, e);
    case CAVS__S_LIST_NTH: return e == s->number ? 0 : -1;
    default: return fetched_row(w, s->fetch, v, e);
    }
}

static void check_list_section(const struct view *w, const struct cavs__section *s,
                               const int32_t *got)
{
    const struct cavs__schedule *sch = &w->t->schedule;
    const struct cavs__list *list = s->function->lists[s->list - 1];
    int at = 0, longest = 0;
    for (int i = 0; i < sch->rows; i++) {
        int row = i, v = sch->vertex_of[row], frow = frow_of(sch, row);
        if (w->t->function[v] != s->function->number)
            continue;
        int n = length_of(w, list, v); /* function rows ascend with rows in what follows */
        longest = n > longest ? n : longest;
        if (s->kind == CAVS__S_LIST_PTR) {
            assert_int_equal(got[frow], at);
            assert_int_equal(got[frow + 1], at + n);
        }
        for (int e = 0; e < n && s->kind != CAVS__S_LIST_PTR; e++)
            assert_int_equal(got[at + e], wanted_entry(w, s, v, e, frow));
        at += n;
    }
    assert_int_equal(w->t->entries[list->number], at);
    assert_int_equal(w->t->longest[list->number], longest);
}

static void check_parents(const struct view *w, const int32_t *ptr, const int32_t *edges)
{
    const struct cavs__schedule *sch = &w->t->schedule;
    for (int v = 0; v < w->t->n; v++) {
        int row = sch->row_of[v];
        for (int k = 0; k < sch->edge_ptr[row + 1] - sch->edge_ptr[row]; k++)
            assert_int_equal(sch->edge_child[sch->edge_ptr[row] + k], child_row(w, v, k));
    }
    check_inverse(ptr, edges, sch->edge_child, sch->edges, sch->rows);
}

/* Who fetched which row, gathered from the fetching stage. */
static void check_consumers(const struct view *w, const struct cavs__section *s, const int32_t *ptr,
                            const int32_t *rows)
{
    const struct cavs_function *f = s->fetch->function;
    struct view of = view_of(w->p, (int)(w->shard - w->p->b.shards), f->stage->number);
    const struct cavs__schedule *sch = &of.t->schedule;
    int n = s->fetch->domain > 0 ? of.t->entries[f->lists[s->fetch->domain - 1]->number]
                                 : sch->function_rows[f->number],
        at = 0;
    int32_t *fetched = calloc((size_t)n + 1, sizeof *fetched);
    assert_non_null(fetched);
    for (int row = 0; row < sch->rows; row++) {
        int v = sch->vertex_of[row];
        int each = of.t->function[v] != f->number ? 0
                   : s->fetch->domain > 0 ? length_of(&of, f->lists[s->fetch->domain - 1], v)
                                          : 1;
        for (int e = 0; e < each; e++)
            fetched[at++] = fetched_row(&of, s->fetch, v, e);
    }
    assert_int_equal(at, n);
    check_inverse(ptr, rows, fetched, n, w->t->schedule.rows);
    free(fetched);
}

static bool same_input(const struct view *w, const struct cavs__input *in, int v, int u)
{
    size_t width = (size_t)in->width;
    if (in->ids)
        return id_of(w, in, v, 0) == id_of(w, in, u, 0);
    return memcmp(made(w, v)->rows[in->number] + (size_t)local(w, v) * width,
                  made(w, u)->rows[in->number] + (size_t)local(w, u) * width,
                  width * sizeof(float)) == 0;
}

/* Rows have one number if and only if they have the same inputs. */
static void check_distinct(const struct view *w, const struct cavs_function *f,
                           const int32_t *number)
{
    const struct cavs__schedule *sch = &w->t->schedule;
    const bool *shared = w->sp->shared_inputs[f->number];
    for (int a = 0; a < sch->rows; a++) {
        for (int b = 0; b < a; b++) {
            int v = sch->vertex_of[a], u = sch->vertex_of[b];
            bool same = true;
            if (w->t->function[v] != f->number || w->t->function[u] != f->number)
                continue;
            for (int k = 0; k < w->sp->stage->ninputs; k++)
                same &= !shared[k] || same_input(w, w->sp->stage->inputs[k], v, u);
            assert_int_equal(number[frow_of(sch, a)] == number[frow_of(sch, b)], same);
        }
    }
}

static void check_sharers(const struct view *w, const struct cavs__section *s, const int32_t *got)
{
    const struct cavs__schedule *sch = &w->t->schedule;
    const struct cavs_function *f = s->function;
    int nd = w->t->distinct.n[f->number];
    const int32_t *number = w->t->distinct.number + w->t->distinct.start[f->number];
    for (int d = 0; d < nd && s->kind == CAVS__S_DISTINCT_ROW; d++)
        assert_int_equal(number[frow_of(sch, got[d])], d);
    for (int v = 0; v < w->t->n && s->kind == CAVS__S_DISTINCT_IDS; v++) {
        if (w->t->function[v] == f->number)
            assert_int_equal(got[number[frow_of(sch, sch->row_of[v])]],
                             id_of(w, w->sp->stage->inputs[s->number], v, 0));
    }
    if (s->kind == CAVS__S_SHARER) {
        assert_memory_equal(got, number, (size_t)sch->function_rows[f->number] * sizeof *got);
        check_distinct(w, f, got);
    }
    if (s->kind == CAVS__S_SHARER_PTR)
        check_inverse(got, section(w, s->partner), number, sch->function_rows[f->number], nd);
}

/* Keys of dropout: none in an evaluation, else a vertex's own, whatever the shard. */
static void check_noise(const struct view *w, const struct cavs__section *s, const int32_t *got)
{
    const struct cavs__schedule *sch = &w->t->schedule;
    int n = s->list ? w->t->entries[s->function->lists[s->list - 1]->number]
                    : sch->function_rows[s->function->number];
    bool drops = w->p->b.request.run != CAVS__RUN_EVALUATE;
    for (int i = 0; i < n && s->kind == CAVS__S_NOISE_LOW; i++) {
        assert_int_equal(got[i] != 0, drops);
        for (int j = 0; j < i && drops; j++)
            assert_int_not_equal(got[i], got[j]);
    }
    for (int i = 0; i < n && !drops; i++)
        assert_int_equal(got[i], 0);
}

static void check_section(const struct view *w, int i)
{
    const struct cavs__section *s = &w->sp->sections[i];
    const int32_t *got = section(w, i);
    switch (s->kind) {
    case CAVS__S_PARENT_PTR: check_parents(w, got, section(w, s->partner)); break;
    case CAVS__S_CONSUMER_PTR: check_consumers(w, s, got, section(w, s->partner)); break;
    case CAVS__S_PARENT_EDGE:
    case CAVS__S_CONSUMER_ROW:
    case CAVS__S_SHARER_ROW: break; /* with the pointers to them */
    case CAVS__S_SHARER:
    case CAVS__S_SHARER_PTR:
    case CAVS__S_DISTINCT_ROW:
    case CAVS__S_DISTINCT_IDS: check_sharers(w, s, got); break;
    case CAVS__S_NOISE_LOW:
    case CAVS__S_NOISE_HIGH: check_noise(w, s, got); break;
    default:
        if (s->list > 0)
            check_list_section(w, s, got);
        else
            check_row_section(w, s, got);
    }
}

/* ---- all ---- */

static void check_shards(const struct prepared *p, const int *samples, int n)
{
    bool seen[ZOO_SAMPLES * 2] = {false};
    int sum = 0;
    for (int i = 0; i < p->b.nshards; i++) {
        const struct cavs__shard *shard = &p->b.shards[i];
        for (int k = 0; k < shard->nsamples; k++) {
            int at = shard->positions[k];
            assert_in_range(at, 0, n - 1);
            assert_false(seen[at]);
            assert_true(k == 0 || shard->positions[k - 1] < at);
            assert_int_equal(shard->samples[k], samples[at]);
            seen[at] = true;
        }
        assert_int_equal(shard->work > 0, shard->nsamples > 0);
        sum += shard->nsamples;
    }
    assert_int_equal(sum, n);
}

static void check_vertices(const struct view *w)
{
    int n = 0;
    for (int i = 0; i < w->shard->nsamples; i++) {
        assert_int_equal(w->t->start[i], n);
        n += w->p->t.samples[w->shard->samples[i]]->stages[w->sp->stage->number].n;
    }
    assert_int_equal(w->t->start[w->shard->nsamples], n);
    assert_int_equal(w->t->n, n);
    for (int v = 0; v < n; v++) {
        const struct graph *g = made(w, v)->graph;
        assert_int_equal(w->t->function[v], g->functions[local(w, v)]);
    }
}

/* Blocks follow one another, and begin at the function rows that the V_t before them have
 * filled. */
static void check_blocks(const struct view *w)
{
    int nf = w->sp->stage->nfunctions, rows[nf];
    memset(rows, 0, sizeof rows);
    assert_in_range(w->t->nblocks, 1, CAVS__MAX_BLOCKS);
    assert_int_equal(w->t->cut[0], 0);
    assert_int_equal(w->t->cut[w->t->nblocks], w->t->schedule.nvt);
    for (int b = 0; b < w->t->nblocks; b++) {
        assert_memory_equal(w->t->block_frow + b * nf, rows, sizeof rows);
        for (int i = w->t->cut[b]; i < w->t->cut[b + 1]; i++)
            rows[w->t->schedule.vt[i].function] += w->t->schedule.vt[i].n;
    }
    assert_memory_equal(w->t->schedule.function_rows, rows, sizeof rows);
}

/* Row e of what a vertex brings of an input of rows. */
static void check_row(const struct view *w, const struct cavs__input *in, int v, int e,
                      const float *row)
{
    const struct sample_stage *s = made(w, v);
    int first = in->per == CAVS__PER_EDGE ? s->graph->child_ptr[local(w, v)] : local(w, v);
    assert_memory_equal(row, s->rows[in->number] + (size_t)(first + e) * (size_t)in->width,
                        (size_t)in->width * sizeof *row);
}

static void check_pulled(const struct view *w, const struct cavs__input *in)
{
    const struct cavs__schedule *sch = &w->t->schedule;
    const struct cavs_stage *stage = w->sp->stage;
    int rows = cavs__pulled_rows(w->shard, stage, in->number), ld = in->width + 3;
    float *table = calloc((size_t)rows * (size_t)ld + 1, sizeof *table);
    assert_non_null(table);
    cavs__write_pulled(&w->p->b, w->shard, stage, in->number, table, ld);
    for (int v = 0; v < w->t->n; v++) {
        int row = sch->row_of[v], at = in->per == CAVS__PER_EDGE ? sch->edge_ptr[row] : row;
        int n = in->per == CAVS__PER_EDGE ? sch->edge_ptr[row + 1] - at : 1;
        if (!in->pulled[w->t->function[v]])
            continue;
        if (in->per == CAVS__PER_EDGE && children_of(w, v) < n)
            n = children_of(w, v);
        for (int e = 0; e < n; e++)
            check_row(w, in, v, e, table + (at + e) * ld);
    }
    free(table);
}

static void check_counts(const struct prepared *p, int n)
{
    struct cavs_stats stats = {0};
    long long vertices = 0;
    cavs__batch_count(&p->b, &stats);
    for (int i = 0; i < p->b.nshards; i++)
        for (int j = 0; j < p->nstages; j++)
            if (!p->t.model->stages[j]->base)
                vertices += p->b.shards[i].stages[j].n;
    assert_int_equal(stats.samples, n);
    assert_int_equal(stats.vertices, vertices);
    assert_true(stats.evaluated <= stats.vertices);
    assert_true(stats.batching_tasks <= stats.evaluated);
}

/* What blocks hold of a tensor is what the function has. */
static void check_sizes(const struct prepared *p, const struct cavs__shard *shard)
{
    for (int i = 0; i < p->plan->ntensors; i++) {
        const struct cavs__tensor_desc *d = &p->plan->tensors[i];
        int64_t rows = 0;
        if (d->space != CAVS__BROWS && d->space != CAVS__BENTRIES)
            continue;
        const struct cavs__shard_stage *t = &shard->stages[d->stage->number];
        for (int b = 0; b < cavs__blocks_of(shard, d); b++)
            rows += cavs__rows_needed(shard, d, b);
        assert_int_equal(rows, d->space == CAVS__BROWS
                                   ? t->schedule.function_rows[d->function->number]
                                   : t->entries[d->list->number]);
    }
}

/* The entries of a lookup's row: one, or all those of a vertex whose sum has one gradient. */
struct looked_up {
    struct view w;
    int v, first, n;
};

static struct looked_up looked_up(const struct prepared *p, const struct cavs__lookup *l, int at)
{
    const struct cavs_function *f = l->grad->function;
    struct looked_up r = {.w = view_of(p, l->shard, f->stage->number), .n = 1};
    const struct cavs__schedule *sch = &r.w.t->schedule;
    int d = l->grad->inputs[0]->domain, number = 0;

    if (p->plan->tensors[l->tensor].space == CAVS__DISTINCT) {
        r.v = sch->vertex_of[r.w.t->distinct.first[r.w.t->distinct.start[f->number] + at]];
        return r;
    }
    for (int row = 0; row < sch->rows; row++) {
        r.v = sch->vertex_of[row];
        if (r.w.t->function[r.v] != f->number)
            continue;
        int n = d ? length_of(&r.w, f->lists[d - 1], r.v) : 1;
        int rows = l->grad->domain ? n : 1;
        if (at < number + rows) {
            r.first = at - number;
            r.n = l->grad->domain ? 1 : n;
            return r;
        }
        number += rows;
    }
    fail_msg("row %d of a lookup of %d rows", at, number);
    return r;
}

/* How often a lookup's row has the id; any: how many ids it has. */
static int times(const struct prepared *p, const struct cavs__lookup *l, int at, int id, bool any)
{
    struct looked_up r = looked_up(p, l, at);
    int found = 0;

    for (int i = r.first; i < r.first + r.n; i++) {
        int has = id_of(&r.w, l->grad->inputs[0]->input, r.v, i);

        found += any ? has >= 0 : has == id;
    }
    return found;
}

/* Each occurrence that is listed is one, in order; there are no others. */
static void check_touched(const struct prepared *p, const struct cavs_param *param)
{
    const struct cavs__touched *t = p->b.touched[param->number];
    int found = 0;
    for (int i = 0; i < t->n; i++) {
        assert_in_range(t->ids[i], 0, param->rows - 1);
        for (int j = 0; j < i; j++)
            assert_int_not_equal(t->ids[i], t->ids[j]);
        assert_true(t->ptr[i] < t->ptr[i + 1]);
        for (int e = t->ptr[i], n; e < t->ptr[i + 1]; e += n) {
            assert_in_range(t->source[e], 0, t->nlookups - 1);
            n = times(p, &t->lookups[t->source[e]], t->row[e], t->ids[i], false);
            assert_in_range(n, 1, t->ptr[i + 1] - e);
            for (int k = 1; k < n; k++)
                assert_true(t->source[e + k] == t->source[e] && t->row[e + k] == t->row[e]);
            if (e > t->ptr[i])
                assert_true(t->source[e - 1] < t->source[e] ||
                            (t->source[e - 1] == t->source[e] && t->row[e - 1] < t->row[e]));
        }
    }
    for (int l = 0; l < t->nlookups; l++) {
        const struct cavs__tensor_desc *d = &p->plan->tensors[t->lookups[l].tensor];
        int64_t rows = cavs__rows_needed(&p->b.shards[t->lookups[l].shard], d, 0);
        for (int row = 0; row < rows; row++)
            found += times(p, &t->lookups[l], row, 0, true);
    }
    assert_int_equal(t->n > 0 ? t->ptr[t->n] : 0, found);
    assert_true(found <= t->occurrences);
}

static void check_batch(const struct prepared *p, const int *samples, int n)
{
    check_shards(p, samples, n);
    check_counts(p, n);
    for (int i = 0; i < p->b.nshards; i++) {
        if (p->b.shards[i].nsamples == 0)
            continue;
        for (int j = 0; j < p->nstages; j++) {
            struct view w = view_of(p, i, j);
            check_vertices(&w);
            check_blocks(&w);
            for (int k = 0; k < w.sp->nsections; k++)
                check_section(&w, k);
            for (int k = 0; k < w.sp->stage->ninputs; k++) {
                if (!w.sp->stage->inputs[k]->ids)
                    check_pulled(&w, w.sp->stage->inputs[k]);
            }
        }
        check_sizes(p, &p->b.shards[i]);
    }
    for (int i = 0; i < p->t.model->nstored; i++) {
        if (p->b.touched[i])
            check_touched(p, p->t.model->params[i]);
    }
}

/* ---- tests ---- */

/* A dropped state, and dropped states of the children. */
static void build_dropout(struct cavs_model *m)
{
    struct cavs_stage *s = cavs_stage_create(m, "s", 3);
    struct cavs_function *f = cavs_function_create(s, "f");
    struct cavs_symbol *x = cavs_dropout(cavs_pull(f, "x", 3), 0.5f),
                       *children = cavs_dropout(cavs_each_child(f), 0.5f);
    cavs_scatter(f, cavs_tanh(cavs_add(x, cavs_sum_children(children))));
    cavs_push(f, "state", x);
    zoo_classify(m, s, "state", 3, 4);
}

static const struct zoo_entry dropout = {
    "dropout",
    build_dropout,
    {"dag:25,slots=4,parents=3,seed=3", "star:12", "single", "chain:6", "empty", "flat:3"}};

/* Vertices that are equal if they name vertices of another stage that have one row. */
static void build_pointers(struct cavs_model *m)
{
    struct cavs_stage *a = cavs_stage_create(m, "a", 0), *b = cavs_stage_create(m, "b", 4);
    struct cavs_function *f = cavs_function_create(a, "f"), *g = cavs_function_create(b, "g");
    cavs_push(f, "word", cavs_lookup(zoo_weight(m, "table", 3, 4), cavs_pull_ids(f, "word")));
    struct cavs_symbol *word = cavs_pull_from(g, a, "word", "which");
    cavs_scatter(g, cavs_tanh(cavs_add(word, cavs_gather(g, 0))));
    cavs_push(g, "state", word);
    zoo_classify(m, b, "state", 4, 3);
}

static const struct zoo_entry pointers = {
    "pointers",
    build_pointers,
    {"flat:7|chain:5", "flat:3|flat:9", "single|chain:4", "flat:5|flat:5"}};

/* The zoo, and what it lacks. */
static const struct zoo_entry *const others[] = {&dropout, &pointers};

static int model_count(void)
{
    return zoo_count() + (int)(sizeof others / sizeof *others);
}

static const struct zoo_entry *model_at(int i)
{
    return i < zoo_count() ? zoo_at(i) : others[i - zoo_count()];
}

/* All samples of the model, the last ones twice. */
static int all_samples(const struct prepared *p, int *samples)
{
    int n = p->t.nsamples;
    for (int i = 0; i < n; i++)
        samples[i] = i;
    samples[n] = n - 1;
    samples[n + 1] = 0;
    return n + 2;
}

static void every_model_is_prepared_as_its_samples_say(void **state)
{
    (void)state;
    for (int i = 0; i < model_count(); i++) {
        struct prepared p;
        int samples[2 * ZOO_SAMPLES], n;
        open_plan(&p, model_at(i));
        n = all_samples(&p, samples);
        for (int policy = 0; policy < CAVS_POLICIES; policy++) {
            open_batch(&p, (enum cavs_policy)policy, policy == CAVS_POLICY_DEPTH);
            prepare(&p, samples, n, 1, CAVS__RUN_TRAIN);
            check_batch(&p, samples, n);
            prepare(&p, samples, n, 3, CAVS__RUN_GRADIENT);
            check_batch(&p, samples, n);
            prepare(&p, samples, n, 2, CAVS__RUN_EVALUATE);
            check_batch(&p, samples, n);
            close_batch(&p);
        }
        close_plan(&p);
    }
}

/* Single samples: among them are some without vertices, of one vertex, with many children, with
 * many parents. */
static void each_sample_alone_is_prepared(void **state)
{
    (void)state;
    for (int i = 0; i < model_count(); i++) {
        struct prepared p;
        open_plan(&p, model_at(i));
        open_batch(&p, CAVS_POLICY_FRONTIER, false);
        for (int k = 0; k < p.t.nsamples; k++) {
            prepare(&p, &k, 1, 1, CAVS__RUN_TRAIN);
            check_batch(&p, &k, 1);
        }
        close_batch(&p);
        close_plan(&p);
    }
}

/* The last batch of an epoch has few samples: some shards have none. */
static void shards_without_samples_have_nothing(void **state)
{
    (void)state;
    struct prepared p;
    int samples[2] = {1, 0};
    open_plan(&p, zoo_find("tree_lstm_nary"));
    open_batch(&p, CAVS_POLICY_FRONTIER, false);
    prepare(&p, samples, 2, MOST_SHARDS, CAVS__RUN_TRAIN);
    check_batch(&p, samples, 2);
    int empty = 0;
    for (int i = 0; i < MOST_SHARDS; i++) {
        empty += p.b.shards[i].nsamples == 0;
        for (int j = 0; j < p.nstages && p.b.shards[i].nsamples == 0; j++)
            assert_int_equal(p.b.shards[i].stages[j].schedule.nvt, 0);
    }
    assert_int_equal(empty, MOST_SHARDS - 2);
    close_batch(&p);
    close_plan(&p);
}

/* Everything that was written for a batch, in one array. */
static int32_t *written(const struct prepared *p, size_t *n)
{
    size_t at = 0;
    int32_t *all;
    *n = 0;
    for (int i = 0; i < p->b.nshards * p->nstages; i++)
        *n += p->index[i] ? (size_t)cavs__index_length(&p->b, i / p->nstages, i % p->nstages) : 0;
    all = malloc(*n * sizeof *all + 1);
    assert_non_null(all);
    for (int i = 0; i < p->b.nshards * p->nstages; i++) {
        int length = p->index[i] ? cavs__index_length(&p->b, i / p->nstages, i % p->nstages) : 0;
        if (length > 0)
            memcpy(all + at, p->index[i], (size_t)length * sizeof *all);
        at += (size_t)length;
    }
    return all;
}

/* Arrays are used again: what a large batch has left in them must not show in a small one, nor the
 * other way round. */
static void a_batch_does_not_depend_on_the_one_before(void **state)
{
    (void)state;
    for (int i = 0; i < model_count(); i++) {
        struct prepared p;
        int samples[2 * ZOO_SAMPLES], n;
        open_plan(&p, model_at(i));
        n = all_samples(&p, samples);
        int sizes[] = {n, 1, n, 2};
        for (int k = 1; k < 4; k++) {
            size_t fresh_n, used_n;
            open_batch(&p, CAVS_POLICY_FRONTIER, false);
            prepare(&p, samples, sizes[k], 2, CAVS__RUN_TRAIN);
            int32_t *fresh = written(&p, &fresh_n);
            prepare(&p, samples, sizes[k - 1], 1, CAVS__RUN_TRAIN);
            prepare(&p, samples, sizes[k], 2, CAVS__RUN_TRAIN);
            check_batch(&p, samples, sizes[k]);
            int32_t *used = written(&p, &used_n);
            assert_int_equal(fresh_n, used_n);
            assert_memory_equal(fresh, used, fresh_n * sizeof *fresh);
            free(fresh);
            free(used);
            close_batch(&p);
        }
        close_plan(&p);
    }
}

/* The keys of the vertices of a stage, by sample of the batch and vertex of the sample. */
static void collect_keys(const struct prepared *p, int stage, int number,
                         int32_t keys[2 * ZOO_SAMPLES][MOST_VERTICES])
{
    for (int s = 0; s < p->b.nshards; s++) {
        struct view w = view_of(p, s, stage);
        for (int v = 0; v < w.t->n && w.index; v++) {
            const struct cavs__schedule *sch = &w.t->schedule;
            assert_in_range(local(&w, v), 0, MOST_VERTICES - 1);
            keys[w.shard->positions[w.t->sample_of[v]]][local(&w, v)] =
                section(&w, number)[frow_of(sch, sch->row_of[v])];
        }
    }
}

/* A vertex keeps its key of dropout when the batch is cut otherwise. */
static void dropout_does_not_depend_on_shards(void **state)
{
    (void)state;
    static int32_t keys[2][2 * ZOO_SAMPLES][MOST_VERTICES];
    struct prepared p;
    int samples[2 * ZOO_SAMPLES], n, sections = 0;
    open_plan(&p, &dropout);
    n = all_samples(&p, samples);
    open_batch(&p, CAVS_POLICY_FRONTIER, false);
    for (int k = 0; k < p.plan->stages[0].nsections; k++) {
        const struct cavs__section *s = &p.plan->stages[0].sections[k];
        if ((s->kind != CAVS__S_NOISE_LOW && s->kind != CAVS__S_NOISE_HIGH) || s->list)
            continue;
        memset(keys, 0, sizeof keys);
        for (int cut = 0; cut < 2; cut++) {
            prepare(&p, samples, n, cut ? 3 : 1, CAVS__RUN_TRAIN);
            collect_keys(&p, 0, k, keys[cut]);
        }
        assert_memory_equal(keys[0], keys[1], sizeof keys[0]);
        sections++;
    }
    assert_int_equal(sections, 2);
    close_batch(&p);
    close_plan(&p);
}

/* Each vertex of "asks" reads three channels of all vertices of "words", and drops some of one. */
static void asking(struct cavs_model *m)
{
    struct cavs_stage *words = cavs_stage_create(m, "words", 0),
                      *asks = cavs_stage_create(m, "asks", 0);
    struct cavs_function *f = cavs_function_create(words, "f");
    struct cavs_symbol *x = cavs_lookup(zoo_weight(m, "E", 5, 1), cavs_pull_ids(f, "word"));
    cavs_push(f, "key", x);
    cavs_push(f, "value", cavs_tanh(x));
    cavs_push(f, "weight", cavs_sigmoid(x));
    f = cavs_function_create(asks, "f");
    x = cavs_dropout(cavs_pull_from_each(f, words, "key", NULL), 0.5f);
    x = cavs_mul(x, cavs_pull_from_each(f, words, "value", NULL));
    x = cavs_mul(x, cavs_pull_from_each(f, words, "weight", NULL));
    cavs_loss(f, "loss", cavs_sum_children(x), NULL);
}

/* The entries of each list can be numbered, but not those of all sections. */
static void more_numbers_than_a_section_can_begin_at_are_refused(void **state)
{
    enum { N = 23000 };
    static int32_t words[N];
    struct prepared p;
    int sample = 0;
    (void)state;
    open_plan(&p, &(struct zoo_entry){.name = "asking", .build = asking});
    check_ok(cavs_data_begin(p.t.data));
    for (int i = 0; i < 2; i++)
        check_ok(cavs_data_graph(p.t.data, p.t.model->stages[i], N, NULL, NULL, NULL));
    check_ok(cavs_data_ids(p.t.data, p.t.model->stages[0], "word", N, words));
    check_ok(cavs_data_end(p.t.data));
    sample = cavs_data_size(p.t.data) - 1;
    open_batch(&p, CAVS_POLICY_FRONTIER, true);
    check_ok(cavs__batch_split(
        &p.b, &(struct cavs__request){.data = p.t.data, .samples = &sample, .n = 1, .nshards = 1}));
    check_ok(cavs__schedule_shard(&p.b, 0));
    check_refused(cavs__batch_lay_out(&p.b, &p.arena), CAVS_EINVAL, "stage asks", "too many");
    close_batch(&p);
    close_plan(&p);
}

/* The models have what these tests are about. */
static void every_kind_of_section_was_seen(void **state)
{
    (void)state;
    bool seen[CAVS__S_NOISE_HIGH + 1] = {false};
    for (int i = 0; i < model_count(); i++) {
        struct prepared p;
        open_plan(&p, model_at(i));
        for (int j = 0; j < p.nstages; j++)
            for (int k = 0; k < p.plan->stages[j].nsections; k++)
                seen[p.plan->stages[j].sections[k].kind] = true;
        close_plan(&p);
    }
    for (int k = 0; k <= CAVS__S_NOISE_HIGH; k++) {
        if (!seen[k])
            fail_msg("no model has a section of kind %d", k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_prepared_as_its_samples_say),
        cmocka_unit_test(each_sample_alone_is_prepared),
        cmocka_unit_test(shards_without_samples_have_nothing),
        cmocka_unit_test(a_batch_does_not_depend_on_the_one_before),
        cmocka_unit_test(dropout_does_not_depend_on_shards),
        cmocka_unit_test(more_numbers_than_a_section_can_begin_at_are_refused),
        cmocka_unit_test(every_kind_of_section_was_seen),
    };
    trial_compile(false);
    return cmocka_run_group_tests_name("batch", tests, NULL, NULL);
}

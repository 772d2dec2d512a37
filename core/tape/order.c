/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - see order.h. */
#include "core/tape/order.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/tape/order_parts.h"

/* ---- life ---- */

int cavs__order_init(struct cavs__order *o, int nshards, enum cavs_policy policy)
{
    *o = (struct cavs__order){.policy = &cavs__policies[policy], .nshards = nshards};
    o->shards = calloc((size_t)nshards, sizeof *o->shards);
    if (!o->shards)
        return cavs__fail_nomem("order of a tape", (size_t)nshards * sizeof *o->shards);
    for (int i = 0; i < nshards; i++)
        cavs__schedule_init(&o->shards[i].schedule);
    return CAVS_OK;
}

static void free_shard(struct cavs__shard_order *s)
{
    cavs__schedule_free(&s->schedule);
    cavs__arena_free(&s->arena);
    free(s->signature);
    free(s->slots);
    free(s->number);
    free(s->function);
    free(s->child_ptr);
    free(s->child);
    free(s->vertex);
    free(s->read[0]);
    free(s->read[1]);
    for (int i = 0; i < CAVS__MOST_IDS; i++) {
        free(s->ids[i]);
        free(s->has_id[i]);
    }
}

void cavs__order_free(struct cavs__order *o)
{
    for (int i = 0; i < o->nshards && o->shards; i++)
        free_shard(&o->shards[i]);
    cavs__shard_scratch_free(&o->split);
    free(o->shards);
    free(o->list);
    free(o->found);
    free(o->shard);
    free(o->work);
    free(o->bytes);
    free(o->chosen);
    free(o->groups);
    free(o->spans);
}

void cavs__order_begin(struct cavs__order *o)
{
    o->known = 0;
    for (int i = 0; i < o->nshards; i++)
        cavs__arena_reset(&o->shards[i].arena);
}

void cavs__order_rewind(struct cavs__order *o, int samples)
{
    o->known = samples < o->known ? samples : o->known;
}

/* ---- increments ---- */

/* Copies the V_t of the schedule, with signatures in place of functions, and how many rows each
 * has. */
static void copy_schedule(const struct cavs__shard_order *o, struct cavs__increment *d)
{
    const struct cavs__schedule *s = &o->schedule;

    memcpy(d->vt, s->vt, (size_t)s->nvt * sizeof *d->vt);
    for (int i = 0; i < d->nvt; i++)
        d->vt[i].function = o->signature[d->vt[i].function];
    memset(d->function_rows, 0, (size_t)d->nfunctions * sizeof *d->function_rows);
    for (int i = 0; i < o->nfunctions; i++)
        d->function_rows[o->signature[i]] = s->function_rows[i];
}

/* Notes that the vertex is evaluated, in its own row or, where `by` is another vertex that is
 * equal, in the row of that.  Returns how many symbols are not computed for that reason. */
static int set_evaluated(struct cavs__recording *r, int32_t vertex, int32_t by)
{
    struct cavs__vertex *v = &r->vertices[vertex];
    const struct cavs__signature *s = r->signatures.all[v->as];

    v->number = CAVS__EVALUATED;
    if (by == vertex)
        return 0;
    r->vertices[by].shared = true;
    r->places[v->symbol].vertex = by;
    for (int i = 0; i < s->nresults; i++)
        r->places[r->reads[v->operands + s->n + i].of].vertex = by;
    return s->nmembers;
}

/* Makes an increment of what has to be kept of the shard's schedule.  NULL: out of memory. */
static struct cavs__increment *keep(struct cavs__shard_order *o, struct cavs__recording *r,
                                    int vertices)
{
    const struct cavs__schedule *s = &o->schedule;
    struct cavs__arena *arena = &o->arena;
    int nf = r->signatures.n;
    struct cavs__increment *d = cavs__arena_alloc(arena, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct cavs__increment){.n = s->rows, .nvt = s->nvt, .nfunctions = nf};
    d->vt = cavs__arena_alloc(arena, (size_t)s->nvt * sizeof *d->vt);
    d->vertex = cavs__arena_alloc(arena, (size_t)s->rows * sizeof *d->vertex);
    d->operands = cavs__arena_alloc(arena, (size_t)s->rows * sizeof *d->operands);
    d->function_rows = cavs__arena_alloc(arena, (size_t)nf * sizeof *d->function_rows);
    if (!d->vt || !d->vertex || !d->operands || !d->function_rows)
        return NULL;
    copy_schedule(o, d);
    for (int i = 0; i < s->rows; i++) {
        const struct cavs__vertex *v;

        d->vertex[i] = o->vertex[s->vertex_of[i]];
        v = &r->vertices[d->vertex[i]];
        d->operands[i] = v->operands;
        d->highest = v->symbol > d->highest ? v->symbol : d->highest;
    }
    for (int v = 0; v < vertices; v++)
        d->repeated += set_evaluated(r, o->vertex[v], d->vertex[s->row_of[v]]);
    return d;
}

void cavs__take_rows_back(const struct cavs__recording *r, struct cavs__increment *d, int symbols)
{
    if (d->highest < symbols)
        return;
    for (int i = 0; i < d->n; i++) {
        if (d->vertex[i] >= 0 && r->vertices[d->vertex[i]].symbol >= symbols)
            d->vertex[i] = d->operands[i] = -1;
    }
    d->highest = symbols - 1;
}

static int order_some(const struct cavs__order *o, struct cavs__recording *r, int shard,
                      bool waited_for, struct cavs__increment **out)
{
    struct cavs__shard_order *s = &o->shards[shard];
    struct cavs__graph g = cavs__graph_of(o, r, shard, waited_for);

    *out = NULL;
    if (g.n == 0)
        return CAVS_OK;
    if (cavs__schedule_make(&s->schedule, &g, o->policy, o->shares && s->repeats) != 0 ||
        !(*out = keep(s, r, g.n)))
        return cavs__fail_nomem("schedule of a tape", (size_t)g.n * sizeof(int32_t));
    return CAVS_OK;
}

int cavs__order_shard(const struct cavs__order *o, struct cavs__recording *r, int shard,
                      struct cavs__increment **out)
{
    struct cavs__increment *later = NULL;
    int rc;

    *out = NULL;
    if (o->nvertices == 0)
        return CAVS_OK;
    if (!cavs__reserve_graph(o, shard, r->signatures.n))
        return cavs__fail_nomem("graph of a tape", (size_t)o->nvertices * sizeof(int32_t));
    rc = order_some(o, r, shard, true, out);
    if (!rc)
        rc = order_some(o, r, shard, false, &later);
    if (*out)
        (*out)->after = later;
    else
        *out = later;
    return rc;
}

/* Adds the vertices that are needed for what is wanted.  0 or a code. */
static int find_vertices(struct cavs__order *o, struct cavs__recording *r, struct cavs__blocks *b,
                         const struct cavs__wanted *wanted)
{
    struct cavs__needed d = {
        .o = o, .r = r, .cut = b->after > 0 ? b : NULL, .run = r->nruns, .lo = INT32_MAX, .hi = -1};
    int symbols = cavs__symbols_of(r);

    b->ntaken = 0; /* drops what an attempt left that failed */
    if (!cavs__reserve_needed(&d, (size_t)symbols))
        return cavs__fail_nomem("order of a tape", (size_t)symbols * sizeof(int32_t));
    cavs__find_needed(&d, wanted, symbols);
    if (d.n > 0 && !cavs__find_vertices(b, r, d.n, o->list + symbols - d.n))
        return cavs__fail_nomem("vertices of a tape", (size_t)d.n * sizeof *r->vertices);
    return CAVS_OK;
}

static void take_foreseen(struct cavs__recording *r, int vertices)
{
    r->nvertices += vertices;
    r->block_reads = r->nreads;
}

int cavs__order(struct cavs__order *o, struct cavs__recording *r, struct cavs__blocks *b,
                const struct cavs__wanted *wanted)
{
    int first = r->nvertices, rc = CAVS_OK;

    o->nvertices = 0;
    o->shares = b->after > 0 && b->used && !b->apart;
    if (wanted->foreseen > 0)
        take_foreseen(r, wanted->foreseen);
    else
        rc = find_vertices(o, r, b, wanted);
    if (rc || r->nvertices == first)
        return rc;
    if (!cavs__reserve_samples(o, r->nsamples))
        return cavs__fail_nomem("samples of a tape", (size_t)r->nsamples * sizeof(int32_t));
    o->nvertices = r->nvertices - first;
    return cavs__choose_shards(o, r, first, wanted->e);
}

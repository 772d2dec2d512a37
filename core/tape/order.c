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
    o->schedules = calloc((size_t)nshards, sizeof *o->schedules);
    if (!o->schedules)
        return cavs__fail_nomem("schedules of a tape", (size_t)nshards * sizeof *o->schedules);
    for (int i = 0; i < nshards; i++)
        cavs__schedule_init(&o->schedules[i]);
    return CAVS_OK;
}

void cavs__order_free(struct cavs__order *o)
{
    for (int i = 0; i < o->nshards && o->schedules; i++)
        cavs__schedule_free(&o->schedules[i]);
    cavs__shard_scratch_free(&o->split);
    free(o->schedules);
    free(o->list);
    free(o->found);
    free(o->shard);
    free(o->work);
    free(o->bytes);
    free(o->chosen);
    free(o->groups);
    free(o->signature);
    free(o->slots);
    free(o->number);
    free(o->function);
    free(o->child_ptr);
    free(o->child);
    free(o->vertex);
    free(o->read[0]);
    free(o->read[1]);
    for (int i = 0; i < CAVS__MOST_IDS; i++)
        free(o->ids[i]);
}

void cavs__order_begin(struct cavs__order *o)
{
    o->known = 0;
}

/* ---- increments ---- */

/* V_t and rows of functions, by signature. */
static void copy_schedule(const struct cavs__order *o, const struct cavs__schedule *s,
                          struct cavs__increment *d)
{
    memcpy(d->vt, s->vt, (size_t)s->nvt * sizeof *d->vt);
    for (int i = 0; i < d->nvt; i++)
        d->vt[i].function = o->signature[d->vt[i].function];
    memset(d->function_rows, 0, (size_t)d->nfunctions * sizeof *d->function_rows);
    for (int i = 0; i < o->nfunctions; i++)
        d->function_rows[o->signature[i]] = s->function_rows[i];
}

/* The vertex is evaluated, by itself or in the row of another, which is equal: as many symbols are
 * there already. */
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

/* What is kept of a schedule. */
static struct cavs__increment *keep(const struct cavs__order *o, struct cavs__recording *r,
                                    const struct cavs__schedule *s, int vertices)
{
    struct cavs__arena *arena = &r->nodes[r->generation & 1].arena;
    int nf = r->signatures.n;
    struct cavs__increment *d = cavs__arena_alloc(arena, sizeof *d);

    if (!d)
        return NULL;
    *d = (struct cavs__increment){.n = s->rows, .nvt = s->nvt, .nfunctions = nf};
    d->vt = cavs__arena_alloc(arena, (size_t)s->nvt * sizeof *d->vt);
    d->vertex = cavs__arena_alloc(arena, (size_t)s->rows * sizeof *d->vertex);
    d->function_rows = cavs__arena_alloc(arena, (size_t)nf * sizeof *d->function_rows);
    if (!d->vt || !d->vertex || !d->function_rows)
        return NULL;
    copy_schedule(o, s, d);
    for (int i = 0; i < s->rows; i++) {
        int32_t symbol;

        d->vertex[i] = o->vertex[s->vertex_of[i]];
        symbol = r->vertices[d->vertex[i]].symbol;
        d->highest = symbol > d->highest ? symbol : d->highest;
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
            d->vertex[i] = -1;
    }
    d->highest = symbols - 1;
}

static int order_some(struct cavs__order *o, struct cavs__recording *r, int first, int shard,
                      bool waited_for, struct cavs__increment **out)
{
    struct cavs__graph g = cavs__graph_of(o, r, first, shard, waited_for);

    *out = NULL;
    if (g.n == 0)
        return CAVS_OK;
    if (cavs__schedule_make(&o->schedules[shard], &g, o->policy, o->shares) != 0 ||
        !(*out = keep(o, r, &o->schedules[shard], g.n)))
        return cavs__fail_nomem("schedule of a tape", (size_t)g.n * sizeof(int32_t));
    return CAVS_OK;
}

static int order_shard(struct cavs__order *o, struct cavs__recording *r, int first, int shard,
                       struct cavs__increment **out)
{
    struct cavs__increment *later = NULL;
    int rc = order_some(o, r, first, shard, true, out);

    if (!rc)
        rc = order_some(o, r, first, shard, false, &later);
    if (*out)
        (*out)->after = later;
    else
        *out = later;
    return rc;
}

int cavs__order(struct cavs__order *o, struct cavs__recording *r, struct cavs__blocks *b,
                const struct cavs__wanted *wanted, struct cavs__increment **out)
{
    struct cavs__needed d = {
        .o = o, .r = r, .cut = b->after > 0 ? b : NULL, .run = r->nruns, .lo = INT32_MAX, .hi = -1};
    int rc = CAVS_OK, symbols = cavs__symbols_of(r), first = r->nvertices, n;

    memset(out, 0, (size_t)o->nshards * sizeof(*out));
    o->shares = d.cut && b->used && !b->apart;
    if (!cavs__reserve_needed(&d, (size_t)symbols))
        return cavs__fail_nomem("order of a tape", (size_t)symbols * sizeof *o->list);
    cavs__find_needed(&d, wanted, symbols);
    if (d.n == 0)
        return CAVS_OK;
    if (!cavs__find_vertices(b, r, d.n, o->list + symbols - d.n) ||
        !cavs__reserve_samples(o, r->nsamples))
        return cavs__fail_nomem("order of a tape", 0);
    n = r->nvertices - first;
    rc = cavs__choose_shards(o, r, first, wanted->e);
    if (!rc && !cavs__reserve_graph(o, n, d.rows, r->signatures.n))
        rc = cavs__fail_nomem("graph of a tape", (size_t)n * 3 * sizeof(int32_t));
    for (int i = 0; i < o->nshards && !rc; i++)
        rc = order_shard(o, r, first, i, &out[i]);
    return rc;
}

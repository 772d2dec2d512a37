/* SPDX-License-Identifier: Apache-2.0 */
/* lookups.c - which rows of tables a recording has looked up, and where their gradients are: in
 * those of the symbols that did.  As core/prepare/touched.c does it for declared batches. */
#include <string.h>

#include "codelets/part.h"
#include "core/base/error.h"
#include "core/tape/tape.h"

/* A walk over all rows of a table that were looked up and have a gradient, in a fixed order. */
struct visiting {
    struct cavs_tape *t;
    struct cavs__touched *touched;
    int32_t *mark; /* [rows] 0, or 1 + the place in the list */
    int pass;      /* 0 counts, 1 lists */
};

static void visit(struct visiting *v, int shard, const struct cavs__vertex *looked_up)
{
    struct cavs__touched *t = v->touched;
    const bool reached = looked_up && looked_up->reached;
    int32_t id = reached ? v->t->recording.reads[looked_up->operands].of : -1, at;

    if (id < 0)
        return;
    if (v->pass == 0 && !v->mark[id]) {
        t->ids[t->n] = id;
        v->mark[id] = ++t->n;
        t->ptr[t->n - 1] = 0;
    }
    at = t->ptr[v->mark[id] - 1]++;
    if (v->pass == 0)
        return;
    t->source[at] = v->t->shards[shard].source;
    t->row[at] = looked_up->line;
}

static bool looks_up(const struct cavs__signature *s, const struct cavs_param *p)
{
    return s->like.op == CAVS__OP_LOOKUP && s->like.param == p;
}

static int64_t visit_shard(struct visiting *v, int shard, const struct cavs_param *p)
{
    int64_t rows = 0;

    for (struct cavs__increment *d = v->t->shards[shard].first; d; d = d->after) {
        for (int i = 0; i < d->nvt; i++) {
            const struct cavs__vt *vt = &d->vt[i];

            if (!d->reached[i] || !looks_up(cavs__signature_of(v->t, vt), p))
                continue;
            rows += vt->n;
            for (int r = 0; r < vt->n && v->touched; r++)
                visit(v, shard, cavs__vertex_of_row(&v->t->recording, d, vt->row0 + r));
        }
    }
    return rows;
}

/* Visits the lookups by partial gradients, each of which belongs to one rank, as
 * core/prepare/touched.c does. */
static int64_t visit_all(struct visiting *v, const struct cavs_param *p, int pass)
{
    const struct cavs__engine *e = &v->t->session->engine;
    int64_t rows = 0;

    v->pass = pass;
    for (int partial = 0; partial < CAVS__MAX_PARTIALS; partial++) {
        for (int i = 0; i < v->t->order.nshards; i++) {
            if (cavs__partial_of(e, i, 0, 1) == partial)
                rows += visit_shard(v, i, p);
        }
    }
    return rows;
}

static void list(struct visiting *v, const struct cavs_param *p, int32_t *lists)
{
    struct cavs__touched *t = v->touched;
    int32_t sum = 0;

    t->ids = lists;
    t->ptr = t->ids + t->occurrences;
    t->source = t->ptr + t->occurrences + 1;
    t->row = t->source + t->occurrences;
    visit_all(v, p, 0);
    for (int i = 0; i < t->n; i++) {
        int32_t count = t->ptr[i];

        t->ptr[i] = sum;
        sum += count;
    }
    visit_all(v, p, 1);
    /* listing has moved every start to the next one's */
    memmove(t->ptr + 1, t->ptr, (size_t)t->n * sizeof *t->ptr);
    t->ptr[0] = 0;
    for (int i = 0; i < t->n; i++)
        v->mark[t->ids[i]] = 0;
}

/* Makes an empty list of touched rows in which each shard is a source of gradients. */
static struct cavs__touched *new_touched(struct cavs_tape *t, int slot)
{
    struct cavs__arena *arena = &t->session->engine.slots[slot].arena;
    int n = t->order.nshards;
    struct cavs__touched *touched = cavs__arena_alloc(arena, sizeof *touched);
    struct cavs__lookup *lookups = cavs__arena_alloc(arena, (size_t)n * sizeof *lookups);

    if (!touched || !lookups) {
        cavs__fail_nomem("touched rows", (size_t)n * sizeof *lookups);
        return NULL;
    }
    *touched = (struct cavs__touched){.ld = CAVS__LINE, .lookups = lookups, .stays = true};
    for (int i = 0; i < n; i++) {
        t->shards[i].source = touched->nlookups;
        if (t->shards[i].first)
            lookups[touched->nlookups++] =
                (struct cavs__lookup){.tensor = cavs__tape_plan(t)->push[0], .shard = i};
    }
    return touched;
}

/* Lists what this rank has looked up; where there are several ranks, the update goes by the lists
 * of all of them. */
static int list_own(struct visiting *v, const struct cavs_param *p, int slot)
{
    size_t bytes = (size_t)cavs__touched_length(v->touched) * sizeof(int32_t);
    int32_t *lists = cavs__arena_alloc(&v->t->session->engine.slots[slot].arena, bytes);

    if (!lists)
        return cavs__fail_nomem("touched rows", bytes);
    list(v, p, lists);
    return CAVS_OK;
}

static int list_lookups(struct cavs_tape *t, int slot, const struct cavs_param *p)
{
    struct cavs_session *s = t->session;
    struct cavs__tensor *lists = &s->optimizer.touched_lists[p->number];
    struct visiting v = {.t = t, .mark = cavs__id_marks(s->batch, p)};
    int64_t rows = visit_all(&v, p, 0);
    int rc;

    if (v.mark)
        v.touched = new_touched(t, slot);
    if (!v.touched)
        return CAVS_ENOMEM;
    v.touched->occurrences = (int)rows;
    s->batch->touched[p->number] = v.touched;
    if (s->optimizer.exchange && cavs__has_row_gradient(s->plan, p))
        return list_own(&v, p, slot);
    rc = cavs__reserve(&s->engine, lists, slot, cavs__touched_length(v.touched));
    if (rc)
        return rc;
    list(&v, p, (int32_t *)cavs__tensor_acquire(lists, slot, STARPU_W));
    cavs__tensor_release(lists, slot);
    cavs__send_home(&s->engine, -1, lists, slot);
    return CAVS_OK;
}

int cavs__list_tape_lookups(struct cavs_tape *t, int slot)
{
    const struct cavs_model *m = t->session->model;
    int rc = CAVS_OK;

    for (int i = 0; i < m->nstored; i++) {
        t->session->batch->touched[i] = NULL;
        if (m->params[i]->lookup_use && !m->params[i]->frozen && !rc)
            rc = list_lookups(t, slot, m->params[i]);
    }
    return rc;
}

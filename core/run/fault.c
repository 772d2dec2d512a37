/* SPDX-License-Identifier: Apache-2.0 */
/* fault.c - where a number that is not finite came from, in the user's terms. */
#include "core/base/error.h"
#include "core/run/session.h"

/* The user's operator that a bad number came from; NULL: it is one of a fused group, and cannot be
 * told. */
static const struct cavs_symbol *culprit(const struct cavs__fault *f)
{
    return f->node >= 0 ? f->step->origin[f->node] : NULL;
}

static bool has_part(const struct cavs__task_kind *k, const struct cavs__fault *f)
{
    return k->parts[0] == f->part ||
           (f->function < k->stage->nfunctions && k->parts[f->function] == f->part);
}

static const struct cavs__task_kind *kind_of(const struct cavs__plan *p,
                                             const struct cavs__fault *f)
{
    const struct cavs__task_kind *kind = NULL;

    for (int i = 0; i < p->model->nstages; i++) {
        for (int j = 0; j < p->stages[i].nkinds; j++) {
            if (has_part(p->stages[i].kinds[j], f))
                kind = p->stages[i].kinds[j];
        }
    }
    return kind;
}

/* The vertex, or one of the equal vertices, that a row of the function belongs to. */
static int32_t vertex_of(const struct cavs__schedule *s, int function, int32_t frow)
{
    const struct cavs__vt *vt = s->vt;

    while (vt->function != function || frow >= vt->frow0 + vt->n)
        vt++;
    return s->vertex_of[vt->row0 + frow - vt->frow0];
}

int cavs__report_fault(struct cavs_session *s)
{
    struct cavs__fault *f = &s->engine.fault;
    const struct cavs__shard *shard;
    const struct cavs__task_kind *kind;
    const struct cavs__shard_stage *t;
    const struct cavs_symbol *x;
    int rc, v, sample;

    if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != 2)
        return CAVS_OK;
    kind = kind_of(s->plan, f);
    x = culprit(f);
    f->state = 0;
    shard = &s->batch->shards[f->shard];
    t = &shard->stages[kind->stage->number];
    v = kind->shared
            ? t->schedule.vertex_of[t->distinct.first[t->distinct.start[f->function] + f->frow]]
            : vertex_of(&t->schedule, f->function, f->frow);
    sample = t->sample_of[v];
    rc = cavs__fail(CAVS_ENUMERIC,
                    "not a finite number: operator %s of function %s.%s (task %s), batch %ld, "
                    "sample %d, vertex %d",
                    x ? cavs__symbol_label(x) : f->step->label, kind->stage->name,
                    kind->stage->functions[f->function]->name, kind->name, f->batch,
                    shard->samples[sample], v - t->start[sample]);
    return x ? cavs__fail_in(rc, "%s:%d", x->at.file, x->at.line) : rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer.c - from gradients to updates: one task per parameter, dense or by touched rows.
 *
 * Partial gradients of the shards are added in the order of shards, and occurrences of an id in the
 * order of rows, so the result does not depend on which worker ran what.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/update_task.h"
#include "core/base/error.h"
#include "core/run/session.h"
#include "core/compile/work.h"

void cavs__optimizer_init(struct cavs_session *s)
{
    const struct cavs_session_options *o = &s->options;

    cavs__update_codelet(&s->update_codelet, o->clip > 0);
    cavs__norm_codelet(&s->norm_codelet);
    s->update_codelet.color = cavs__work_color(cavs__work_of(s->update_codelet.name));
    s->norm_codelet.color = cavs__work_color(cavs__work_of(s->norm_codelet.name));
    s->rule = (struct cavs__update){.rule = (enum cavs__rule)o->optimizer,
                                    .lr = o->lr,
                                    .momentum = o->momentum,
                                    .decay = o->decay,
                                    .beta1 = o->beta1,
                                    .beta2 = o->beta2,
                                    .epsilon = o->epsilon,
                                    .weight_decay = o->weight_decay};
}

/* ---- touched rows of looked-up parameters ---- */

/* Calls of one lookup in one shard. */
struct lookup {
    const struct cavs_symbol *grad;
    int tensor, shard;
};

/* The ids of a lookup: of vertices, children or entries, in the order in which the samples brought
 * them. */
static const int32_t *lookup_ids(const struct cavs_session *s, const struct lookup *l)
{
    const struct cavs_function *f = l->grad->function;
    const struct cavs__shard_stage *t = &s->shards[l->shard].stages[f->stage->number];

    return t->ids[l->grad->inputs[0]->input->number];
}

/* Has it a row per distinct input of the function? */
static bool is_distinct(const struct cavs_session *s, const struct lookup *l)
{
    return s->plan->tensors[l->tensor].space == CAVS__DISTINCT;
}

/* An occurrence of an id: pass 0 counts it, pass 1 lists it. */
static void touch(struct cavs__touched *t, int32_t *mark, int32_t id, int source, int row, int pass)
{
    int at;

    if (id < 0)
        return;
    if (pass == 0) {
        if (!mark[id]) {
            t->ids[t->n] = id;
            mark[id] = ++t->n;
            t->ptr[t->n - 1] = 0;
        }
        t->ptr[mark[id] - 1]++;
        return;
    }
    at = t->ptr[mark[id] - 1]++;
    t->source[at] = source;
    t->row[at] = row;
}

/* Visits the rows of a lookup in order, those of a list entry by entry: pass 0 counts occurrences per id, pass 1 lists them. */
static void visit(const struct cavs_session *s, const struct lookup *l, int source, int32_t *mark,
                  struct cavs__touched *t, int pass)
{
    const struct cavs_function *f = l->grad->function;
    const struct cavs__shard *shard = &s->shards[l->shard];
    const struct cavs__shard_stage *st = &shard->stages[f->stage->number];
    const struct cavs__list *list = l->grad->domain > 0 ? f->lists[l->grad->domain - 1] : NULL;
    const int32_t *ids = lookup_ids(s, l);
    int row = 0;

    if (is_distinct(s, l)) {
        const int32_t *first = st->distinct.first + st->distinct.start[f->number];

        for (; row < st->distinct.n[f->number]; row++)
            touch(t, mark, ids[st->schedule.vertex_of[first[row]]], source, row, pass);
        return;
    }

    for (int i = 0; i < st->schedule.nvt; i++) {
        const struct cavs__vt *vt = &st->schedule.vt[i];

        for (int r = 0; vt->function == f->number && r < vt->n; r++) {
            int v = st->schedule.vertex_of[vt->row0 + r];
            int from = list ? cavs__list_start(shard, st, list, v) : v;
            int n = list ? cavs__list_length(shard, st, list, v) : 1;

            for (int e = from; e < from + n; e++, row++)
                touch(t, mark, ids[e], source, row, pass);
        }
    }
}

/* The lists are in the slot's chunk of the parameter's tensor of lists, one after the other. */
static int touched_alloc(struct cavs_session *s, int slot, struct cavs__touched *t, int occurrences,
                         int nuses, struct cavs__tensor *lists)
{
    struct cavs__arena *a = &s->slots[slot].arena;
    int rc = cavs__reserve(s, lists, slot, 4 * (int64_t)occurrences + 1);

    if (rc)
        return rc;
    *t = (struct cavs__touched){.nuses = nuses, .occurrences = occurrences};
    t->use = cavs__arena_alloc(a, ((size_t)nuses + 1) * sizeof *t->use);
    t->chunk = cavs__arena_alloc(a, ((size_t)nuses + 1) * sizeof *t->chunk);
    if (!t->use || !t->chunk)
        return cavs__fail_nomem("touched rows", (size_t)nuses * sizeof *t->use);
    t->ids = (int32_t *)lists->chunks[slot].p;
    t->ptr = t->ids + occurrences;
    t->source = t->ptr + occurrences + 1;
    t->row = t->source + occurrences;
    return CAVS_OK;
}

static void list_touched(struct cavs_session *s, const struct lookup *uses, struct cavs__touched *t,
                         int32_t *mark)
{
    int sum = 0;

    for (int i = 0; i < t->nuses; i++)
        visit(s, &uses[i], i, mark, t, 0);
    for (int i = 0; i < t->n; i++) {
        int count = t->ptr[i];

        t->ptr[i] = sum;
        sum += count;
    }
    for (int i = 0; i < t->nuses; i++) {
        visit(s, &uses[i], i, mark, t, 1);
        t->use[i] = &s->tensors[uses[i].tensor];
        t->chunk[i] = uses[i].shard;
    }
    /* listing has moved every start to the next one's */
    memmove(t->ptr + 1, t->ptr, (size_t)t->n * sizeof *t->ptr);
    t->ptr[0] = 0;
    for (int i = 0; i < t->n; i++)
        mark[t->ids[i]] = 0;
}

/* Rows of a lookup in a shard. */
static int occurrences_in(const struct cavs__shard_stage *t, const struct cavs__tensor_desc *d)
{
    return d->list ? t->entries[d->list->number] : t->schedule.function_rows[d->function->number];
}

static int find_touched_rows(struct cavs_session *s, int slot, int nshards,
                             const struct cavs_param *p)
{
    size_t most = (size_t)s->plan->ntensors * (size_t)nshards + 1;
    struct cavs__touched *t = cavs__arena_alloc(&s->slots[slot].arena, sizeof *t);
    struct lookup *uses = cavs__arena_alloc(&s->slots[slot].arena, most * sizeof *uses);
    int n = 0, occurrences = 0, rc;

    s->touched[p->number] = NULL;
    if (!t || !uses)
        return cavs__fail_nomem("touched rows", most * sizeof *uses);
    for (int shard = 0; shard < nshards; shard++) {
        for (int i = 0; i < s->plan->ntensors && s->shards[shard].nsamples > 0; i++) {
            const struct cavs__tensor_desc *d = &s->plan->tensors[i];

            if (d->kind != CAVS__T_LOOKUP_GRAD || d->param != p)
                continue;
            uses[n++] = (struct lookup){d->symbol, i, shard};
            occurrences += occurrences_in(&s->shards[shard].stages[d->stage->number], d);
        }
    }
    if (!s->id_mark[p->number])
        s->id_mark[p->number] = calloc((size_t)p->rows, sizeof **s->id_mark);
    if (!s->id_mark[p->number])
        return cavs__fail_nomem("touched rows", (size_t)p->rows * sizeof **s->id_mark);
    rc = touched_alloc(s, slot, t, occurrences, n, &s->touched_lists[p->number]);
    if (rc)
        return rc;
    cavs__tensor_acquire(&s->touched_lists[p->number], slot, STARPU_W);
    list_touched(s, uses, t, s->id_mark[p->number]);
    cavs__tensor_release(&s->touched_lists[p->number], slot);
    s->touched[p->number] = t;
    return CAVS_OK;
}

int cavs__find_touched(struct cavs_session *s, int slot, int nshards)
{
    for (int i = 0; i < s->model->nstored; i++) {
        const struct cavs_param *p = s->model->params[i];
        int rc = p->lookup_use && !p->frozen ? find_touched_rows(s, slot, nshards, p) : CAVS_OK;

        if (rc)
            return rc;
    }
    return CAVS_OK;
}

/* ---- tasks ---- */

/* Adds the handles of the parameter's gradients to the task. */
static void add_gradients(struct cavs_session *s, struct starpu_task *task,
                          const struct cavs_param *p, struct cavs__update_args *a)
{
    int grad = s->plan->grad[p->number];

    if (p->lookup_use) {
        const struct cavs__touched *t = s->touched[p->number];

        a->sparse = true;
        a->n = t->n;
        a->ptr = t->occurrences; /* see touched_alloc() */
        a->source = 2 * t->occurrences + 1;
        a->row = 3 * t->occurrences + 1;
        a->ldg = cavs__tensor_ld(p->cols);
        for (int i = 0; i < t->nuses; i++)
            cavs__task_buffer(task, t->use[i]->chunks[t->chunk[i]].handle, STARPU_R);
        a->ngrads = t->nuses;
        return;
    }
    a->ldg = grad >= 0 ? s->tensors[grad].ld : 0;
    for (int i = 0; grad >= 0 && i < CAVS__MAX_PARTIALS; i++) {
        if (!s->grad_used[p->number][i])
            continue;
        cavs__task_buffer(task, s->tensors[grad].chunks[i].handle, STARPU_R);
        a->ngrads++;
    }
}

static int most_buffers(const struct cavs_session *s, const struct cavs_param *p)
{
    int n = 8 + CAVS__MAX_PARTIALS;

    /* Not `n + (lookup_use ? nuses : 0)`: gcc 14.2 makes that lookup_use * nuses, and reads nuses through the NULL of a
     * parameter that is not looked up. */
    if (p->lookup_use)
        n += s->touched[p->number]->nuses;
    return n;
}

static struct cavs__update_args *new_args(struct cavs_session *s, int slot,
                                          const struct cavs_param *p)
{
    struct cavs__arena *arena = &s->slots[slot].arena;
    struct cavs__update_args *a = cavs__arena_alloc(arena, sizeof *a);
    const float **gradients =
        cavs__arena_alloc(arena, (size_t)most_buffers(s, p) * sizeof *gradients);

    if (!a || !gradients)
        return NULL;
    *a = (struct cavs__update_args){.rule = s->rule,
                                    .clip = s->options.clip,
                                    .rows = p->rows,
                                    .cols = p->cols,
                                    .number = p->number,
                                    .nstates = cavs__update_states(s->rule.rule),
                                    .gradients = gradients,
                                    .ld = s->tensors[s->plan->param[p->number]].ld};
    return a;
}

/* What both tasks have last. */
static void add_lists_and_scratch(struct cavs_session *s, int slot, struct starpu_task *task,
                                  const struct cavs_param *p)
{
    if (p->lookup_use)
        cavs__task_buffer(task, s->touched_lists[p->number].chunks[slot].handle, STARPU_R);
    if (s->devices)
        cavs__task_buffer(task, s->scratch, STARPU_SCRATCH);
}

/* The tasks of an update, all made before the first is submitted: it happens to all parameters or none. */
struct updates {
    int n;
    struct starpu_task **tasks;
};

static int make_norm(struct cavs_session *s, int slot, const struct cavs_param *p,
                     struct updates *u)
{
    struct cavs__update_args *a = new_args(s, slot, p);
    struct starpu_task *t;

    if (!a)
        return cavs__fail_nomem("task", sizeof *a);
    t = cavs__task_create(s, slot, -1, &s->norm_codelet, a, most_buffers(s, p));
    if (!t)
        return CAVS_ENOMEM;
    cavs__task_buffer(t, s->norms.chunks[0].handle, STARPU_RW);
    add_gradients(s, t, p, a);
    add_lists_and_scratch(s, slot, t, p);
    u->tasks[u->n++] = t;
    return CAVS_OK;
}

static int make_update(struct cavs_session *s, int slot, const struct cavs_param *p,
                       struct updates *u)
{
    struct cavs__update_args *a = new_args(s, slot, p);
    int wt = s->plan->param_t[p->number];
    struct starpu_task *t;

    if (!a)
        return cavs__fail_nomem("task", sizeof *a);
    t = cavs__task_create(s, slot, -1, &s->update_codelet, a, most_buffers(s, p));
    if (!t)
        return CAVS_ENOMEM;
    cavs__task_buffer(t, s->tensors[s->plan->param[p->number]].chunks[0].handle, STARPU_RW);
    for (int i = 0; i < a->nstates; i++)
        cavs__task_buffer(t, s->state[i][p->number].chunks[0].handle, STARPU_RW);
    if (wt >= 0) {
        a->transposed = true;
        a->ldt = s->tensors[wt].ld;
        cavs__task_buffer(t, s->tensors[wt].chunks[0].handle, STARPU_RW);
    }
    add_gradients(s, t, p, a);
    if (a->clip > 0) {
        a->nnorms = s->model->nstored;
        cavs__task_buffer(t, s->norms.chunks[0].handle, STARPU_R);
    }
    add_lists_and_scratch(s, slot, t, p);
    t->priority = 2; /* the next batch waits for all of them */
    u->tasks[u->n++] = t;
    return CAVS_OK;
}

static bool is_trained(const struct cavs_param *p)
{
    return !p->frozen && !p->merged && (p->dense_use || p->lookup_use);
}

static int make_all(struct cavs_session *s, int slot, struct updates *u)
{
    size_t bytes = 2 * ((size_t)s->model->nstored + 1) * sizeof *u->tasks;
    int rc = CAVS_OK;

    u->tasks = cavs__arena_alloc(&s->slots[slot].arena, bytes);
    if (!u->tasks)
        return cavs__fail_nomem("update", bytes);
    for (int i = 0; i < s->model->nstored && s->options.clip > 0 && !rc; i++) {
        if (is_trained(s->model->params[i]))
            rc = make_norm(s, slot, s->model->params[i], u);
    }
    for (int i = 0; i < s->model->nstored && !rc; i++) {
        if (is_trained(s->model->params[i]))
            rc = make_update(s, slot, s->model->params[i], u);
    }
    return rc;
}

/* The number of updates that the next one's rule goes by. */
static void set_step(struct cavs_session *s, long step)
{
    s->step = step;
    s->rule.correction1 = (float)(1 - pow(s->rule.beta1, (double)step));
    s->rule.correction2 = (float)(1 - pow(s->rule.beta2, (double)step));
}

int cavs__submit_updates(struct cavs_session *s, int slot)
{
    struct updates u = {0};
    int done = 0, rc;

    set_step(s, s->step + 1);
    rc = make_all(s, slot, &u);
    if (rc)
        set_step(s, s->step - 1);
    while (done < u.n && !rc) {
        rc = cavs__task_submit(s, slot, u.tasks[done++]);
        s->lost |= rc != CAVS_OK;
    }
    for (; done < u.n; done++)
        cavs__task_drop(u.tasks[done]);
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - life of a session, its parameters' values and its metrics; see session.h for the
 * other files. */
#include "core/run/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codelets/device/device.h"
#include "core/base/error.h"

struct cavs_session_options cavs_session_defaults(void)
{
    return (struct cavs_session_options){.policy = CAVS_POLICY_FRONTIER,
                                         .optimizer = CAVS_SGD,
                                         .lr = 0.01f,
                                         .momentum = 0.9f,
                                         .decay = 0.9f,
                                         .beta1 = 0.9f,
                                         .beta2 = 0.999f,
                                         .epsilon = 1e-8f};
}

int cavs__reserve(struct cavs_session *s, struct cavs__tensor *t, int chunk, int64_t rows)
{
    size_t before = cavs__tensor_bytes(t);

    if (rows <= t->chunks[chunk].rows)
        return CAVS_OK;
    if (cavs__tensor_reserve(t, chunk, rows) != 0)
        return cavs__fail(CAVS_ENOMEM,
                          "out of memory: tensor %s wanted %lld rows of %d numbers (%.1f MB); %.1f "
                          "MB are in use by all "
                          "tensors; smaller batches or fewer shards need less",
                          t->name, (long long)rows, t->cols, (double)rows * (double)t->ld * 4e-6,
                          (double)s->stats.tensor_bytes * 1e-6);
    s->stats.tensor_bytes += cavs__tensor_bytes(t) - before;
    return CAVS_OK;
}

int cavs__reserve_scratch(struct cavs_session *s, size_t floats)
{
    if (s->scratch && floats <= s->scratch_floats)
        return CAVS_OK;
    floats += s->scratch ? floats / 4 + 16 : 16;
    if (floats > UINT32_MAX)
        return cavs__fail(CAVS_ENOMEM,
                          "out of memory: a vertex with very many children or entries of a list "
                          "wants %.1f MB of scratch",
                          (double)floats * 4e-6);
    if (s->scratch)
        starpu_data_unregister(s->scratch);
    starpu_matrix_data_register(&s->scratch, -1, 0, (uint32_t)floats, (uint32_t)floats, 1,
                                sizeof(float));
    s->scratch_floats = floats;
    return CAVS_OK;
}

/* ---- life ---- */

static bool is_share(float x)
{
    return x >= 0 && x < 1;
}

/* Also of what the optimizer in use does not look at: a NaN there is a mistake, too. */
static int check_rule(const struct cavs_session_options *o)
{
    if (!is_share(o->decay) || !is_share(o->beta1) || !is_share(o->beta2))
        return cavs__fail(CAVS_EINVAL,
                          "session options: decay %g, beta1 %g or beta2 %g is not from 0 up to 1",
                          (double)o->decay, (double)o->beta1, (double)o->beta2);
    if (!isfinite(o->momentum) || !isfinite(o->weight_decay) || !isfinite(o->epsilon) ||
        o->epsilon < 0)
        return cavs__fail(
            CAVS_EINVAL,
            "session options: momentum %g, weight decay %g or epsilon %g is out of range",
            (double)o->momentum, (double)o->weight_decay, (double)o->epsilon);
    return CAVS_OK;
}

static int check_options(const struct cavs_session_options *o)
{
    if (o->policy > CAVS_POLICY_AGENDA || o->optimizer > CAVS_ADAM)
        return cavs__fail(CAVS_EINVAL, "session options: unknown %s",
                          o->policy > CAVS_POLICY_AGENDA ? "policy" : "optimizer");
    if (o->shards < 0 || o->shards > CAVS__MAX_SHARDS)
        return cavs__fail(CAVS_EINVAL, "session options: %d shards: not in 0..%d (0: one per core)",
                          o->shards, CAVS__MAX_SHARDS);
    if (!isfinite(o->lr) || !(o->clip >= 0) || !isfinite(o->scale) || !(o->grain >= 0))
        return cavs__fail(CAVS_EINVAL,
                          "session options: lr %g, clip %g, scale %g or grain %g is out of range",
                          (double)o->lr, (double)o->clip, (double)o->scale, (double)o->grain);
    return check_rule(o);
}

static int create_tensors(struct cavs_session *s)
{
    s->tensors = calloc((size_t)s->plan->ntensors + 1, sizeof *s->tensors);
    if (!s->tensors)
        return cavs__fail_nomem("session", (size_t)s->plan->ntensors * sizeof *s->tensors);
    for (int i = 0; i < s->plan->ntensors; i++) {
        const struct cavs__tensor_desc *d = &s->plan->tensors[i];
        bool twice = d->kind == CAVS__T_INDEX || d->kind == CAVS__T_INPUT;
        bool once = d->kind == CAVS__T_PARAM || d->kind == CAVS__T_PARAM_T;
        int chunks = once ? 1 : twice ? CAVS__SLOTS * s->nshards : s->nshards;

        if (d->kind == CAVS__T_GRAD)
            chunks = CAVS__MAX_PARTIALS;
        if (d->kind == CAVS__T_BUNDLE)
            chunks = CAVS__MAX_BLOCKS * s->nshards;
        if (cavs__tensor_init(&s->tensors[i], d->name, d->cols, chunks) != 0)
            return cavs__fail_nomem(d->name, (size_t)chunks * sizeof(struct cavs__chunk));
    }
    for (int i = 0; i < s->nshards; i++) {
        int rc = cavs__reserve(s, &s->tensors[s->plan->metric], i, 1);

        if (rc)
            return rc;
        cavs__tensor_clear(&s->tensors[s->plan->metric], i);
    }
    if (cavs__tensor_init(&s->norms, "norms", 2 * s->model->nstored + 2, 1) != 0)
        return cavs__fail_nomem("norms", sizeof(struct cavs__chunk));
    if (cavs__reserve(s, &s->norms, 0, 1))
        return CAVS_ENOMEM;
    cavs__tensor_clear(&s->norms, 0);
    return CAVS_OK;
}

static void create_slots(struct cavs_session *s)
{
    for (int i = 0; i < CAVS__SLOTS; i++) {
        for (int k = 0; k <= CAVS__MAX_HOMES; k++)
            s->slots[i].laps[k].slot = &s->slots[i];
        pthread_mutex_init(&s->slots[i].lock, NULL);
        pthread_cond_init(&s->slots[i].done, NULL);
    }
}

static int create_arrays(struct cavs_session *s)
{
    size_t n = (size_t)s->model->nstored + 1;

    s->shards = calloc((size_t)s->nshards, sizeof *s->shards);
    s->state[0] = calloc(n, sizeof **s->state);
    s->state[1] = calloc(n, sizeof **s->state);
    s->grad_used = calloc(n, sizeof *s->grad_used);
    s->id_mark = calloc(n, sizeof *s->id_mark);
    s->touched = calloc(n, sizeof *s->touched);
    s->cuts = calloc((size_t)s->model->nstages + 1, sizeof *s->cuts);
    s->touched_lists = calloc(n, sizeof *s->touched_lists);
    if (!s->shards || !s->state[0] || !s->state[1] || !s->grad_used || !s->id_mark || !s->touched ||
        !s->cuts || !s->touched_lists)
        return cavs__fail_nomem("session", n * sizeof *s->grad_used);
    return CAVS_OK;
}

static int create_plan(struct cavs_session *s)
{
    struct cavs__plan_options o = {
        .no_lazy = s->options.no_lazy,
        .no_eager = s->options.no_eager,
        .no_fusion = s->options.no_fusion,
        .no_sharing = s->options.no_dedup || s->options.no_eager,
        .training = !s->options.inference,
        .require = s->rt->require,
        .cpu_only = s->options.check_finite ? "the check for finite numbers is there only" : NULL,
        .l2_bytes = s->rt->l2_bytes,
        .l3_bytes = s->rt->l3_bytes,
        .rates = cavs__nominal_rates};

    int rc = cavs__plan_create(s->model, &o, &s->plan);

    return rc ? rc : cavs__plan_devices(s->plan);
}

int cavs_session_create(struct cavs_runtime *rt, const struct cavs_model *m,
                        const struct cavs_session_options *options, struct cavs_session **out)
{
    struct cavs_session_options defaults = cavs_session_defaults();
    struct cavs_session *s;
    int rc;

    if (!rt || !m || !m->finished || !out)
        return cavs__fail(out ? CAVS_ESTATE : CAVS_EINVAL,
                          out ? "a session needs a runtime and a finished model (cavs_model_finish)"
                              : "nowhere to put the session (NULL)");
    if (!options)
        options = &defaults;
    rc = cavs__runtime_ready(rt, "cavs_session_create");
    if (!rc)
        rc = check_options(options);
    if (rc)
        return rc;
    s = calloc(1, sizeof *s);
    if (!s)
        return cavs__fail_nomem("session", sizeof *s);
    s->rt = rt;
    rt->sessions++;
    s->model = m;
    cavs__model_hold(m);
    s->options = *options;
    create_slots(s);
    s->devices = cavs__devices_count() > 0;
    s->launches_before = cavs__devices_launches();
    rc = cavs__homes_init(s);
    if (!rc)
        rc = create_arrays(s);
    if (!rc)
        rc = create_plan(s);
    if (!rc)
        rc = create_tensors(s);
    if (!rc)
        rc = cavs__create_params(s);
    if (rc) {
        cavs_session_destroy(s);
        return rc;
    }
    cavs__optimizer_init(s);
    rc = cavs__reserve_scratch(s, s->plan->scratch);
    if (rc) {
        cavs_session_destroy(s);
        return rc;
    }
    s->devices_failed = cavs__devices_failed();
    *out = s;
    return CAVS_OK;
}

void cavs__wait_slots(struct cavs_session *s)
{
    for (int i = 0; i < CAVS__SLOTS; i++)
        cavs__slot_wait(&s->slots[i]);
}

void cavs_session_destroy(struct cavs_session *s)
{
    if (!s || s->rt->pid != getpid()) /* a child has its parent's memory, but not its workers */
        return;
    cavs__wait_slots(s);
    if (s->scratch)
        starpu_data_unregister(s->scratch);
    for (int i = 0; s->tensors && i < s->plan->ntensors; i++)
        cavs__tensor_free(&s->tensors[i]);
    for (int i = 0; s->touched_lists && i < s->model->nstored; i++)
        cavs__tensor_free(&s->touched_lists[i]);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; s->state[k] && i < s->model->nstored; i++)
            cavs__tensor_free(&s->state[k][i]);
        free(s->state[k]);
    }
    cavs__tensor_free(&s->norms);
    cavs__shards_free(s);
    cavs__homes_free(s);
    for (int i = 0; s->id_mark && i < s->model->nstored; i++)
        free(s->id_mark[i]);
    for (int i = 0; i < CAVS__SLOTS; i++) {
        cavs__arena_free(&s->slots[i].arena);
        pthread_mutex_destroy(&s->slots[i].lock);
        pthread_cond_destroy(&s->slots[i].done);
    }
    cavs__plan_destroy(s->plan);
    free(s->tensors);
    free(s->grad_used);
    free(s->id_mark);
    free(s->touched);
    free(s->cuts);
    free(s->touched_lists);
    json_decref(s->notes);
    cavs__model_release(s->model);
    cavs__runtime_release(s->rt);
    free(s);
}

/* ---- batches ---- */

static int check_samples(const struct cavs_session *s, const struct cavs_data *d,
                         const int *samples, int n)
{
    int rc = cavs__session_ready(s, "batch");

    if (rc)
        return rc;
    if (!d || d->model != s->model || n < 0 || (n > 0 && !samples))
        return cavs__fail(CAVS_EINVAL, "batch: %s",
                          !d                     ? "no data"
                          : d->model != s->model ? "the data belong to another model"
                                                 : "no samples given");
    return cavs__data_check_samples(d, samples, n);
}

/* The operator of the user's that a bad number came from; NULL: one of a fused group, it cannot be told which. */
static const struct cavs_symbol *culprit(const struct cavs__fault *f)
{
    return f->node >= 0 ? f->step->origin[f->node] : NULL;
}

/* Where the first non-finite value came from, in the user's terms. */
static int report_fault(struct cavs_session *s)
{
    const struct cavs__fault *f = &s->fault;
    const struct cavs__task_kind *kind = NULL;
    const struct cavs__shard_stage *t;
    const struct cavs_stage *stage = NULL;
    const struct cavs_symbol *x;
    int rc;
    int v;

    if (__atomic_load_n(&f->state, __ATOMIC_ACQUIRE) != 2)
        return CAVS_OK;
    for (int i = 0; i < s->model->nstages; i++) {
        for (int j = 0; j < s->plan->stages[i].nkinds; j++) {
            if (s->plan->stages[i].kinds[j]->parts[0] == f->part ||
                (f->function < s->model->stages[i]->nfunctions &&
                 s->plan->stages[i].kinds[j]->parts[f->function] == f->part)) {
                kind = s->plan->stages[i].kinds[j];
                stage = s->model->stages[i];
            }
        }
    }
    x = culprit(f);
    s->fault.state = 0;
    t = &s->shards[f->shard].stages[stage->number];
    v = t->schedule
            .vertex_of[kind->shared ? t->distinct.first[t->distinct.start[f->function] + f->row]
                                    : f->row];
    rc = cavs__fail(CAVS_ENUMERIC,
                    "not a finite number: operator %s of function %s.%s (task %s), batch %ld, "
                    "sample %d, vertex %d",
                    x ? cavs__symbol_label(x) : f->step->label, stage->name,
                    stage->functions[f->function]->name, kind->name, f->batch,
                    s->shards[f->shard].samples[t->sample_of[v]], v - t->start[t->sample_of[v]]);
    return x ? cavs__fail_in(rc, "%s:%d", x->at.file, x->at.line) : rc;
}

/* Scheduling from start to end (microseconds) is hidden while another batch is being computed. */
static double exposed(struct cavs_session *s, int slot, double start, double end)
{
    for (int i = 0; i < CAVS__SLOTS; i++) {
        struct cavs__slot *other = &s->slots[i];

        if (i == slot)
            continue;
        pthread_mutex_lock(&other->lock);
        start = other->busy ? end : fmax(start, other->done_at);
        pthread_mutex_unlock(&other->lock);
    }
    return fmax(0, end - start) * 1e-6;
}

/* What the gradient of a batch of n samples is multiplied by. */
static float gradient_scale(const struct cavs_session_options *o, int n)
{
    float scale = o->scale == 0 ? 1 : o->scale;

    return o->mean ? scale / (float)n : scale;
}

static int check_batch(const struct cavs_session *s, const struct cavs_data *d, const int *samples,
                       int n, enum cavs__run run)
{
    int rc = check_samples(s, d, samples, n);

    if (!rc && run != CAVS__RUN_EVALUATE && s->options.inference)
        rc =
            cavs__fail(CAVS_ESTATE,
                       "this session was created for inference: it cannot train or give gradients");
    return rc ? rc : cavs__check_devices(s);
}

/* Everything the tasks read, and room for what they write: a batch that fails here leaves no trace. */
static int prepare(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n,
                   int slot, enum cavs__run run, int *nshards)
{
    int rc;

    s->dropping = run != CAVS__RUN_EVALUATE;
    rc = cavs__batch_prepare(s, d, samples, n, slot, run, nshards);
    if (!rc && run != CAVS__RUN_EVALUATE)
        rc = cavs__find_touched(s, slot, *nshards);
    if (!rc)
        rc = cavs__reserve_device_scratch(s, *nshards, run == CAVS__RUN_TRAIN);
    return rc;
}

/* A bad number keeps the update from the parameters. */
static int check_numbers(struct cavs_session *s)
{
    starpu_task_wait_for_all();
    return report_fault(s);
}

static int submit(struct cavs_session *s, int n, int slot, int nshards, enum cavs__run run)
{
    int rc = cavs__submit_batch(s, slot, nshards, run);

    if (!rc && s->options.check_finite)
        rc = check_numbers(s);
    if (!rc && run == CAVS__RUN_TRAIN) {
        s->rule.scale = gradient_scale(&s->options, n);
        rc = cavs__submit_updates(s, slot);
    }
    s->half_counted |= rc && rc != CAVS_ENUMERIC;
    return rc;
}

static int run_batch(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n,
                     enum cavs__run run)
{
    int rc = check_batch(s, d, samples, n, run), slot, nshards = 0;
    double t0, t1, t2;

    if (rc || n == 0)
        return rc;
    slot = (int)(s->batch % CAVS__SLOTS);
    t0 = starpu_timing_now();
    cavs__slot_wait(&s->slots[slot]);
    t1 = starpu_timing_now();
    s->stats.wait_s += (t1 - t0) * 1e-6;
    cavs__homes_observe(s, slot);
    cavs__homes_begin(s, slot, run);
    cavs__slot_open(&s->slots[slot]);
    starpu_iteration_push((unsigned long)s->batch); /* tells a trace which tasks are one batch */
    rc = prepare(s, d, samples, n, slot, run, &nshards);
    if (!rc)
        rc = submit(s, n, slot, nshards, run);
    starpu_iteration_pop();
    cavs__slot_close(&s->slots[slot]);
    s->batch++;
    s->stats.batches++;
    if (run == CAVS__RUN_GRADIENT && (!rc || rc == CAVS_ENUMERIC))
        s->gradient_batch = s->batch;
    t2 = starpu_timing_now();
    s->stats.schedule_s += (t2 - t1) * 1e-6;
    s->stats.exposed_s += exposed(s, slot, t1, t2);
    if (rc) /* tasks side by side may lack the fence that orders them before others */
        cavs__wait_slots(s);
    return rc;
}

int cavs_session_train(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n)
{
    return run_batch(s, d, samples, n, CAVS__RUN_TRAIN);
}

int cavs_session_gradient(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                          int n)
{
    return run_batch(s, d, samples, n, CAVS__RUN_GRADIENT);
}

int cavs_session_evaluate(struct cavs_session *s, const struct cavs_data *d, const int *samples,
                          int n)
{
    return run_batch(s, d, samples, n, CAVS__RUN_EVALUATE);
}

int cavs_session_wait(struct cavs_session *s)
{
    int rc = cavs__session_ready(s, "cavs_session_wait");

    return rc ? rc : cavs__settle(s);
}

int cavs_session_set_lr(struct cavs_session *s, float lr)
{
    if (!s || !isfinite(lr))
        return cavs__fail(CAVS_EINVAL, "learning rate %g", (double)lr);
    s->rule.lr = lr;
    return CAVS_OK;
}

/* ---- statistics ---- */

void cavs_session_stats(const struct cavs_session *s, struct cavs_stats *out)
{
    if (!s || !out)
        return;
    *out = s->stats;
    out->launches = cavs__devices_launches() - s->launches_before;
    out->product_s =
        (double)__atomic_load_n(&s->nanoseconds[CAVS__COST_PRODUCT], __ATOMIC_RELAXED) * 1e-9;
    out->memory_s =
        (double)__atomic_load_n(&s->nanoseconds[CAVS__COST_MEMORY], __ATOMIC_RELAXED) * 1e-9;
    out->other_s =
        (double)__atomic_load_n(&s->nanoseconds[CAVS__COST_OTHER], __ATOMIC_RELAXED) * 1e-9;
}

void cavs_session_reset_stats(struct cavs_session *s)
{
    size_t bytes = s ? s->stats.tensor_bytes : 0;

    if (!s)
        return;
    s->stats = (struct cavs_stats){.tensor_bytes = bytes};
    s->launches_before = cavs__devices_launches();
    for (int i = 0; i < CAVS__COSTS; i++)
        __atomic_store_n(&s->nanoseconds[i], 0, __ATOMIC_RELAXED);
}

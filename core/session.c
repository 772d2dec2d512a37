/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - life of a session, its parameters' values and its metrics; see session.h for the other files. */
#include "core/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"

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
                          "out of memory: tensor %s wanted %lld rows of %d numbers (%.1f MB); %.1f MB are in use by all "
                          "tensors; smaller batches or fewer shards need less",
                          t->name, (long long)rows, t->cols, (double)rows * (double)t->ld * 4e-6,
                          (double)s->stats.tensor_bytes * 1e-6);
    s->stats.tensor_bytes += cavs__tensor_bytes(t) - before;
    return CAVS_OK;
}

/* ---- initial values ----
 * A counter-based generator keyed by seed and parameter name: a parameter's values do not depend on the others. */

static uint64_t splitmix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t name_key(const char *name, uint64_t seed)
{
    uint64_t h = splitmix(seed ^ 0x632be59bd9b4e019u);

    for (; *name; name++)
        h = splitmix(h ^ (uint64_t)(unsigned char)*name);
    return h;
}

static double uniform01(uint64_t key, uint64_t i)
{
    return ((double)(splitmix(key ^ splitmix(i)) >> 11) + 0.5) * 0x1p-53;
}

static float initial_value(const struct cavs_init *init, uint64_t key, uint64_t i)
{
    double u = uniform01(key, 2 * i);

    switch (init->kind) {
    case CAVS_INIT_UNIFORM:
        return (float)(init->a + (init->b - init->a) * u);
    case CAVS_INIT_NORMAL: /* Box-Muller */
        return (float)(init->a + init->b * sqrt(-2 * log(u)) * cos(2 * M_PI * uniform01(key, 2 * i + 1)));
    default:
        return init->a;
    }
}

/* ---- parameters ----
 * A merged parameter holds its members' columns side by side: members are windows into its tensors. */

/* The numbers of a parameter in a tensor of its values: rows x cols from p, ld apart. */
struct window {
    struct cavs__tensor *tensor;
    float *p;
    int chunk;
};

static const struct cavs_param *stored(const struct cavs_param *p)
{
    return p->merged ? p->merged : p;
}

static struct cavs__tensor *param_tensor(const struct cavs_session *s, const struct cavs_param *p)
{
    return &s->tensors[s->plan->param[stored(p)->number]];
}

static struct window open_window(struct cavs__tensor *t, int chunk, const struct cavs_param *p,
                                 enum starpu_data_access_mode mode)
{
    struct window w = {.tensor = t, .chunk = chunk};

    w.p = cavs__tensor_acquire(t, chunk, mode) + p->merged_col;
    return w;
}

static void close_window(const struct window *w)
{
    cavs__tensor_release(w->tensor, w->chunk);
}

/* The transposed copy of what is in w; a member's columns are rows of it. */
static void write_transposed(struct cavs_session *s, const struct cavs_param *p, const struct window *w)
{
    int number = s->plan->param_t[stored(p)->number];
    struct cavs__tensor *t = number >= 0 ? &s->tensors[number] : NULL;

    if (!t)
        return;
    cavs__transpose(p->rows, p->cols, w->p, w->tensor->ld, cavs__tensor_acquire(t, 0, STARPU_RW) + p->merged_col * t->ld,
                    t->ld);
    cavs__tensor_release(t, 0);
}

static void init_param(struct cavs_session *s, const struct cavs_param *p)
{
    struct window w = open_window(param_tensor(s, p), 0, p, STARPU_RW);
    uint64_t key = name_key(p->name, s->options.seed);

    for (int r = 0; r < p->rows; r++) {
        for (int c = 0; c < p->cols; c++)
            w.p[r * w.tensor->ld + c] = initial_value(&p->init, key, (uint64_t)r * (uint64_t)p->cols + (uint64_t)c);
    }
    write_transposed(s, p, &w);
    close_window(&w);
}

static int create_params(struct cavs_session *s)
{
    int nstates = s->plan->options.training ? cavs__update_states((enum cavs__rule)s->options.optimizer) : 0, rc = CAVS_OK;

    for (int i = 0; i < s->model->nstored && !rc; i++) {
        const struct cavs_param *p = s->model->params[i];
        int grad = s->plan->grad[i], wt = s->plan->param_t[i];

        if (p->merged)
            continue;
        rc = cavs__reserve(s, param_tensor(s, p), 0, p->rows);
        if (!rc && wt >= 0)
            rc = cavs__reserve(s, &s->tensors[wt], 0, p->cols);
        for (int k = 0; grad >= 0 && k < s->nshards && k < CAVS__MAX_PARTIALS && !rc; k++)
            rc = cavs__reserve(s, &s->tensors[grad], k, p->rows);
        for (int k = 0; k < nstates && !p->frozen && !rc; k++) {
            if (cavs__tensor_init(&s->state[k][i], "optimizer state", p->cols, 1) != 0)
                rc = cavs__fail_nomem("optimizer state", sizeof(struct cavs__chunk));
            else
                rc = cavs__reserve(s, &s->state[k][i], 0, p->rows);
            if (!rc)
                cavs__tensor_clear(&s->state[k][i], 0);
        }
    }
    for (int i = 0; i < s->model->nparams && !rc; i++)
        init_param(s, s->model->params[i]);
    return rc;
}

/* ---- life ---- */

static int check_options(const struct cavs_session_options *o)
{
    if (o->policy > CAVS_POLICY_AGENDA || o->optimizer > CAVS_ADAM)
        return cavs__fail(CAVS_EINVAL, "session options: unknown %s",
                          o->policy > CAVS_POLICY_AGENDA ? "policy" : "optimizer");
    if (!isfinite(o->lr) || o->shards < 0 || !(o->clip >= 0) || !isfinite(o->scale))
        return cavs__fail(CAVS_EINVAL, "session options: lr %g, shards %d, clip %g or scale %g is out of range",
                          (double)o->lr, o->shards, (double)o->clip, (double)o->scale);
    return CAVS_OK;
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

static int create_arrays(struct cavs_session *s)
{
    size_t n = (size_t)s->model->nstored + 1;

    s->shards = calloc((size_t)s->nshards, sizeof *s->shards);
    s->state[0] = calloc(n, sizeof **s->state);
    s->state[1] = calloc(n, sizeof **s->state);
    s->grad_used = calloc(n, sizeof *s->grad_used);
    s->id_mark = calloc(n, sizeof *s->id_mark);
    s->touched = calloc(n, sizeof *s->touched);
    for (int i = 0; i < CAVS__SLOTS; i++) {
        pthread_mutex_init(&s->slots[i].lock, NULL);
        pthread_cond_init(&s->slots[i].done, NULL);
    }
    if (!s->shards || !s->state[0] || !s->state[1] || !s->grad_used || !s->id_mark || !s->touched)
        return cavs__fail_nomem("session", n * sizeof *s->grad_used);
    return CAVS_OK;
}

static int create_plan(struct cavs_session *s)
{
    struct cavs__plan_options o = {.no_lazy = s->options.no_lazy,
                                   .no_eager = s->options.no_eager,
                                   .no_fusion = s->options.no_fusion,
                                   .training = !s->options.inference,
                                   .l2_bytes = s->rt->l2_bytes};

    return cavs__plan_create(s->model, &o, &s->plan);
}

int cavs_session_create(struct cavs_runtime *rt, const struct cavs_model *m, const struct cavs_session_options *options,
                        struct cavs_session **out)
{
    struct cavs_session_options defaults = cavs_session_defaults();
    struct cavs_session *s;
    int rc;

    if (!rt || !m || !m->finished)
        return cavs__fail(CAVS_ESTATE, "a session needs a runtime and a finished model (cavs_model_finish)");
    if (!options)
        options = &defaults;
    rc = check_options(options);
    if (rc)
        return rc;
    s = calloc(1, sizeof *s);
    if (!s)
        return cavs__fail_nomem("session", sizeof *s);
    s->rt = rt;
    s->model = m;
    s->options = *options;
    s->nshards = options->shards > 0 ? options->shards : rt->cores;
    rc = create_arrays(s);
    if (!rc)
        rc = create_plan(s);
    if (!rc)
        rc = create_tensors(s);
    if (!rc)
        rc = create_params(s);
    if (rc) {
        cavs_session_destroy(s);
        return rc;
    }
    cavs__optimizer_init(s);
    starpu_matrix_data_register(&s->scratch, -1, 0, (uint32_t)s->plan->scratch + 16, (uint32_t)s->plan->scratch + 16, 1,
                                sizeof(float));
    *out = s;
    return CAVS_OK;
}

static void wait_slots(struct cavs_session *s)
{
    for (int i = 0; i < CAVS__SLOTS; i++)
        cavs__slot_wait(&s->slots[i]);
}

void cavs_session_destroy(struct cavs_session *s)
{
    if (!s)
        return;
    wait_slots(s);
    if (s->scratch)
        starpu_data_unregister(s->scratch);
    for (int i = 0; s->tensors && i < s->plan->ntensors; i++)
        cavs__tensor_free(&s->tensors[i]);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; s->state[k] && i < s->model->nstored; i++)
            cavs__tensor_free(&s->state[k][i]);
        free(s->state[k]);
    }
    cavs__tensor_free(&s->norms);
    cavs__shards_free(s);
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
    free(s);
}

/* ---- batches ---- */

static int check_samples(const struct cavs_session *s, const struct cavs_data *d, const int *samples, int n)
{
    if (!s || !d || d->model != s->model || n < 0 || (n > 0 && !samples))
        return cavs__fail(CAVS_EINVAL, "batch: %s", !s || !d            ? "no session or data"
                                                    : d->model != s->model ? "the data belong to another model"
                                                                           : "no samples given");
    for (int i = 0; i < n; i++) {
        if (samples[i] < 0 || samples[i] >= d->samples)
            return cavs__fail(CAVS_EINVAL, "batch: sample %d at position %d; the data have %d", samples[i], i, d->samples);
    }
    return CAVS_OK;
}

/* Where the first non-finite value came from, in the user's terms. */
static int report_fault(struct cavs_session *s)
{
    const struct cavs__fault *f = &s->fault;
    const struct cavs__task_kind *kind = NULL;
    const struct cavs__shard_stage *t;
    const struct cavs_stage *stage = NULL;
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
    s->fault.state = 0;
    t = &s->shards[f->shard].stages[stage->number];
    v = t->schedule.vertex_of[f->row];
    return cavs__fail(CAVS_ENUMERIC,
                      "not a finite number: operator %s of function %s.%s (task %s), batch %ld, sample %d, vertex %d",
                      f->step->label, stage->name, stage->functions[f->function]->name, kind->name, f->batch,
                      s->shards[f->shard].samples[t->sample_of[v]], v - t->start[t->sample_of[v]]);
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

static int run_batch(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n, enum cavs__run run)
{
    int rc = check_samples(s, d, samples, n), slot, nshards = 0;
    double t0, t1, t2;

    if (!rc && run != CAVS__RUN_EVALUATE && s->options.inference)
        rc = cavs__fail(CAVS_ESTATE, "this session was created for inference: it cannot train or give gradients");
    if (rc || n == 0)
        return rc;
    slot = (int)(s->batch % CAVS__SLOTS);
    t0 = starpu_timing_now();
    cavs__slot_wait(&s->slots[slot]);
    t1 = starpu_timing_now();
    s->stats.wait_s += (t1 - t0) * 1e-6;
    cavs__slot_open(&s->slots[slot]);
    rc = cavs__batch_prepare(s, d, samples, n, slot, run, &nshards);
    if (!rc && run != CAVS__RUN_EVALUATE)
        rc = cavs__find_touched(s, slot, nshards);
    if (!rc)
        rc = cavs__submit_batch(s, slot, nshards, run);
    if (!rc && run == CAVS__RUN_TRAIN)
        rc = cavs__submit_updates(s, slot);
    cavs__slot_close(&s->slots[slot]);
    s->batch++;
    s->stats.batches++;
    if (!rc && run == CAVS__RUN_GRADIENT)
        s->gradient_batch = s->batch;
    t2 = starpu_timing_now();
    s->stats.schedule_s += (t2 - t1) * 1e-6;
    s->stats.exposed_s += exposed(s, slot, t1, t2);
    if (!rc && s->options.check_finite) {
        wait_slots(s);
        rc = report_fault(s);
    }
    return rc;
}

int cavs_session_train(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n)
{
    return run_batch(s, d, samples, n, CAVS__RUN_TRAIN);
}

int cavs_session_gradient(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n)
{
    return run_batch(s, d, samples, n, CAVS__RUN_GRADIENT);
}

int cavs_session_evaluate(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n)
{
    return run_batch(s, d, samples, n, CAVS__RUN_EVALUATE);
}

int cavs_session_wait(struct cavs_session *s)
{
    if (!s)
        return cavs__fail(CAVS_EINVAL, "cavs_session_wait(NULL)");
    wait_slots(s);
    return CAVS_OK;
}

/* ---- outputs ---- */

static void copy_output(struct cavs_session *s, const struct cavs_stage *stage, int channel, int shard, const int64_t *at,
                        float *rows)
{
    const struct cavs__stage_plan *sp = &s->plan->stages[stage->number];
    const struct cavs__shard_stage *t = &s->shards[shard].stages[stage->number];
    struct cavs__tensor *tensor = &s->tensors[sp->push[channel]];
    int width = stage->channels[channel]->width;
    const float *values = cavs__tensor_acquire(tensor, shard, STARPU_R);

    for (int v = 0; v < t->n; v++) {
        int i = t->sample_of[v];

        memcpy(rows + (at[i] + v - t->start[i]) * width,
               values + t->schedule.row_of[v] * tensor->ld + sp->push_col[channel], (size_t)width * sizeof *rows);
    }
    cavs__tensor_release(tensor, shard);
}

/* Samples went to shards in the order of the batch: walk them again to find where each one's rows go. */
static int collect_output(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n,
                          const struct cavs_stage *stage, int channel, float *rows)
{
    const int64_t *start = cavs__starts(&d->stages[stage->number]);
    int nshards = n < s->nshards ? n : s->nshards;
    int64_t *at = malloc(((size_t)n + 1) * sizeof *at), *of_shard = malloc(((size_t)n + 1) * sizeof *of_shard), sum = 0;

    if (!at || !of_shard) {
        free(at);
        free(of_shard);
        return cavs__fail_nomem("output", (size_t)n * sizeof *at);
    }
    for (int i = 0; i < n; i++) {
        at[i] = sum;
        sum += start[samples[i] + 1] - start[samples[i]];
    }
    for (int shard = 0; shard < nshards; shard++) {
        int k = 0;

        for (int i = 0; i < n; i++) {
            if (s->sample_shard[i] == shard)
                of_shard[k++] = at[i];
        }
        copy_output(s, stage, channel, shard, of_shard, rows);
    }
    free(at);
    free(of_shard);
    return CAVS_OK;
}

int cavs_session_output(struct cavs_session *s, const struct cavs_data *d, const int *samples, int n,
                        const struct cavs_stage *stage, const char *channel, float *rows)
{
    int rc, number = -1;

    if (!s || !stage || stage->model != s->model || !channel || (n > 0 && !rows))
        return cavs__fail(CAVS_EINVAL, "cavs_session_output: no session, stage, channel or room for rows");
    for (int i = 0; i < stage->nchannels; i++) {
        if (strcmp(stage->channels[i]->name, channel) == 0)
            number = i;
    }
    if (number < 0)
        return cavs__fail(CAVS_EINVAL, "cavs_session_output: nothing is pushed on channel %s of stage %s", channel, stage->name);
    rc = cavs_session_evaluate(s, d, samples, n);
    if (rc || n == 0)
        return rc;
    wait_slots(s);
    return collect_output(s, d, samples, n, stage, number, rows);
}

/* ---- metrics ---- */

int cavs_session_metric(struct cavs_session *s, const char *name, double *sum, double *count)
{
    struct cavs__tensor *t;
    int number = -1;
    double total[2] = {0, 0};

    for (int i = 0; s && name && i < s->model->nmetrics; i++) {
        if (strcmp(s->model->metrics[i]->name, name) == 0)
            number = i;
    }
    if (number < 0)
        return cavs__fail(CAVS_EINVAL, "the model has no metric or loss named %s", name ? name : "(null)");
    t = &s->tensors[s->plan->metric];
    for (int i = 0; i < s->nshards; i++) {
        double part[2];

        memcpy(part, cavs__tensor_acquire(t, i, STARPU_R) + 4 * number, sizeof part);
        cavs__tensor_release(t, i);
        total[0] += part[0];
        total[1] += part[1];
    }
    if (sum)
        *sum = total[0];
    if (count)
        *count = total[1];
    return CAVS_OK;
}

int cavs_session_reset_metrics(struct cavs_session *s)
{
    struct cavs__tensor *t;

    if (!s)
        return cavs__fail(CAVS_EINVAL, "cavs_session_reset_metrics(NULL)");
    t = &s->tensors[s->plan->metric];
    for (int i = 0; i < s->nshards; i++)
        cavs__tensor_clear(t, i);
    return CAVS_OK;
}

/* ---- parameters and gradients for the user ---- */

static int check_param(const struct cavs_session *s, const struct cavs_param *p, const float *values)
{
    if (!s || !p || p->model != s->model || !values)
        return cavs__fail(CAVS_EINVAL, "%s", !p ? "no parameter" : "the parameter belongs to another model, or no values");
    return CAVS_OK;
}

int cavs_session_get_param(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    int rc = check_param(s, p, values);
    struct window w;

    if (rc)
        return rc;
    w = open_window(param_tensor(s, p), 0, p, STARPU_R);
    for (int r = 0; r < p->rows; r++)
        memcpy(values + (size_t)r * (size_t)p->cols, w.p + r * w.tensor->ld, (size_t)p->cols * sizeof *values);
    close_window(&w);
    return CAVS_OK;
}

int cavs_session_set_param(struct cavs_session *s, const struct cavs_param *p, const float *values)
{
    int rc = check_param(s, p, values);
    struct window w;

    if (rc)
        return rc;
    w = open_window(param_tensor(s, p), 0, p, STARPU_RW);
    for (int r = 0; r < p->rows; r++)
        memcpy(w.p + r * w.tensor->ld, values + (size_t)r * (size_t)p->cols, (size_t)p->cols * sizeof *values);
    write_transposed(s, p, &w);
    close_window(&w);
    return CAVS_OK;
}

static void add_dense(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    struct cavs__tensor *t = &s->tensors[s->plan->grad[stored(p)->number]];

    for (int k = 0; k < CAVS__MAX_PARTIALS; k++) {
        struct window g;

        if (!s->grad_used[stored(p)->number][k])
            continue;
        g = open_window(t, k, p, STARPU_R);
        for (int r = 0; r < p->rows; r++) {
            for (int c = 0; c < p->cols; c++)
                values[(size_t)r * (size_t)p->cols + (size_t)c] += g.p[r * t->ld + c];
        }
        close_window(&g);
    }
}

static void add_touched(const struct cavs_param *p, const struct cavs__touched *t, float *values)
{
    for (int i = 0; i < t->n; i++) {
        for (int e = t->ptr[i]; e < t->ptr[i + 1]; e++) {
            const struct cavs__tensor *g = t->use[t->source[e]];
            const float *row = g->chunks[t->chunk[t->source[e]]].p + t->row[e] * g->ld;

            for (int c = 0; c < p->cols; c++)
                values[(size_t)t->ids[i] * (size_t)p->cols + (size_t)c] += row[c];
        }
    }
}

int cavs_session_get_gradient(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    int rc = check_param(s, p, values);

    if (rc)
        return rc;
    if (s->batch == 0 || s->gradient_batch != s->batch)
        return cavs__fail(CAVS_ESTATE, "the last batch was not a cavs_session_gradient(): its gradient is gone");
    wait_slots(s);
    memset(values, 0, (size_t)p->rows * (size_t)p->cols * sizeof *values);
    if (s->plan->grad[stored(p)->number] >= 0)
        add_dense(s, p, values);
    else if (s->touched[p->number])
        add_touched(p, s->touched[p->number], values);
    return CAVS_OK;
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
    *out = s->stats;
    out->product_s = (double)__atomic_load_n(&s->nanoseconds[CAVS__COST_PRODUCT], __ATOMIC_RELAXED) * 1e-9;
    out->memory_s = (double)__atomic_load_n(&s->nanoseconds[CAVS__COST_MEMORY], __ATOMIC_RELAXED) * 1e-9;
    out->other_s = (double)__atomic_load_n(&s->nanoseconds[CAVS__COST_OTHER], __ATOMIC_RELAXED) * 1e-9;
}

void cavs_session_reset_stats(struct cavs_session *s)
{
    size_t bytes = s->stats.tensor_bytes;

    s->stats = (struct cavs_stats){.tensor_bytes = bytes};
    for (int i = 0; i < CAVS__COSTS; i++)
        __atomic_store_n(&s->nanoseconds[i], 0, __ATOMIC_RELAXED);
}

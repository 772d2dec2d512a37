/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - the numbers of parameters: how they start, and what a user reads and writes of them
 * and their gradients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/splitmix.h"
#include "core/run/session.h"

/* ---- initial values ----
 * A counter-based generator keyed by seed and parameter name: a parameter's values do not depend on
 * the others. */

static uint64_t name_key(const char *name, uint64_t seed)
{
    uint64_t h = cavs__splitmix(seed ^ 0x632be59bd9b4e019u);

    for (; *name; name++)
        h = cavs__splitmix(h ^ (uint64_t)(unsigned char)*name);
    return h;
}

static double uniform01(uint64_t key, uint64_t i)
{
    return ((double)(cavs__splitmix(key ^ cavs__splitmix(i)) >> 11) + 0.5) * 0x1p-53;
}

static float initial_value(const struct cavs_init *init, uint64_t key, uint64_t i)
{
    double u = uniform01(key, 2 * i);

    switch (init->kind) {
    case CAVS_INIT_UNIFORM: return (float)(init->a + (init->b - init->a) * u);
    case CAVS_INIT_NORMAL: /* Box-Muller */
        return (float)(init->a +
                       init->b * sqrt(-2 * log(u)) * cos(2 * M_PI * uniform01(key, 2 * i + 1)));
    default: return init->a;
    }
}

/* ---- windows ----
 * A merged parameter holds its members' columns side by side: members are windows into its tensors.
 */

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

static struct cavs__store_entry *stored_as(const struct cavs_session *s, const struct cavs_param *p)
{
    return s->optimizer.stored[stored(p)->number];
}

static struct cavs__tensor *param_tensor(const struct cavs_session *s, const struct cavs_param *p)
{
    return &stored_as(s, p)->value;
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

/* The copies of what is in w. */
static void write_copies(struct cavs_session *s, const struct cavs_param *p, const struct window *w)
{
    for (int l = 0; l < CAVS__LAYOUTS; l++) {
        struct cavs__tensor *t = &stored_as(s, p)->copies[l];
        struct cavs__copy copy = {.layout = (enum cavs__layout)l};

        if (!cavs__is_there(t))
            continue;
        copy.ld = t->ld;
        copy.p = cavs__tensor_acquire(t, 0, STARPU_RW);
        cavs__copy_block(&copy, 0, p->merged_col, p->rows, p->cols, w->p, w->tensor->ld);
        cavs__tensor_release(t, 0);
    }
}

static void init_param(struct cavs_session *s, const struct cavs_param *p)
{
    struct window w = open_window(param_tensor(s, p), 0, p, STARPU_RW);
    uint64_t key = name_key(p->name, s->options.seed);

    for (int r = 0; r < p->rows; r++) {
        for (int c = 0; c < p->cols; c++)
            w.p[r * w.tensor->ld + c] =
                initial_value(&p->init, key, (uint64_t)r * (uint64_t)p->cols + (uint64_t)c);
    }
    write_copies(s, p, &w);
    close_window(&w);
}

/* *made: it has to be written.  What no column of the parameter is copied to stays zero. */
static int take_copy(struct cavs_session *s, const struct cavs_param *p, enum cavs__layout layout,
                     bool *made)
{
    int number = s->plan->copies[p->number][layout], rc = CAVS_OK;
    struct cavs__store_entry *x = stored_as(s, p);
    struct cavs__tensor *t = &x->copies[layout];

    if (number < 0)
        return CAVS_OK;
    if (!t->chunks &&
        cavs__tensor_init(t, x->names, cavs__layout_cols(layout, p->rows, p->cols), 1) != 0)
        return cavs__fail_nomem(p->name, 2 * sizeof(struct cavs__chunk));
    if (!cavs__is_there(t)) {
        rc = cavs__reserve(&s->engine, t, 0, cavs__layout_rows(layout, p->rows, p->cols));
        if (rc)
            return rc;
        cavs__tensor_clear(t, 0);
        *made = true;
    }
    s->engine.tensors[number] = *t;
    return CAVS_OK;
}

/* The copies that the plan has of a parameter, by now. */
static int take_copies(struct cavs_session *s, const struct cavs_param *p)
{
    bool made = false;
    int rc = CAVS_OK;

    for (int l = 0; l < CAVS__LAYOUTS && !rc; l++)
        rc = take_copy(s, p, (enum cavs__layout)l, &made);
    if (made && stored_as(s, p)->filled) {
        struct window w = open_window(param_tensor(s, p), 0, p, STARPU_R);

        write_copies(s, p, &w);
        close_window(&w);
    }
    return rc;
}

static int create_gradient(struct cavs__engine *e, const struct cavs_param *p)
{
    int grad = e->plan->grad[p->number], rc = CAVS_OK;

    for (int k = 0; grad >= 0 && k < cavs__partials(e) && !rc; k++)
        rc = cavs__reserve(e, &e->tensors[grad], k, p->rows);
    return rc;
}

static int take_param(struct cavs_session *s, const struct cavs_param *p)
{
    struct cavs__store_entry **x = &s->optimizer.stored[p->number];
    int rc = cavs__store_take(s->optimizer.store, p, x);
    struct cavs__tensor *t = rc ? NULL : &(*x)->value;

    if (rc)
        return rc;
    if (!t->chunks && cavs__tensor_init(t, (*x)->names, p->cols, 1) != 0)
        return cavs__fail_nomem(p->name, 2 * sizeof(struct cavs__chunk));
    rc = cavs__reserve(&s->engine, t, 0, p->rows);
    s->engine.tensors[s->plan->param[p->number]] = *t;
    if (!rc)
        rc = take_copies(s, p);
    if (!rc)
        rc = create_gradient(&s->engine, p);
    return rc ? rc : cavs__optimizer_add(&s->optimizer, &s->engine, p);
}

/* The same for what the plan did not have of a parameter before. */
static int follow_param(struct cavs_session *s, const struct cavs_param *p)
{
    int rc = create_gradient(&s->engine, p);

    return rc ? rc : take_copies(s, p);
}

int cavs__session_follow_plan(struct cavs_session *s)
{
    int rc = cavs__engine_follow_plan(&s->engine);

    if (!rc && s->optimizer.exchange)
        rc = cavs__exchange_follow_plan(s->optimizer.exchange);
    for (int i = 0; i < s->model->nstored && !rc; i++) {
        if (!s->model->params[i]->merged)
            rc = follow_param(s, s->model->params[i]);
    }
    if (!rc)
        rc = cavs__plan_devices_anew(s->plan);
    return rc ? rc : cavs__reserve_scratch(&s->engine, s->plan->scratch);
}

/* What another session has keeps its numbers. */
int cavs__create_params(struct cavs_session *s)
{
    const struct cavs_model *m = s->model;
    int rc = CAVS_OK;

    for (int i = 0; i < m->nstored && !rc; i++) {
        if (!m->params[i]->merged)
            rc = take_param(s, m->params[i]);
    }
    for (int i = 0; i < m->nparams && !rc; i++) {
        if (!stored_as(s, m->params[i])->filled)
            init_param(s, m->params[i]);
    }
    for (int i = 0; i < m->nparams && !rc; i++)
        stored_as(s, m->params[i])->filled = true;
    return rc;
}

/* ---- parameters and gradients for the user ---- */

static int check_param(const struct cavs_session *s, const struct cavs_param *p,
                       const float *values)
{
    int rc = cavs__session_ready(s, "parameter");

    if (rc)
        return rc;
    if (!p || p->model != s->model || !values)
        return cavs__fail(CAVS_EINVAL, "%s",
                          !p ? "no parameter"
                             : "the parameter belongs to another model, or no values");
    return CAVS_OK;
}

static void copy_out(struct cavs__tensor *t, const struct cavs_param *p, float *values)
{
    struct window w = open_window(t, 0, p, STARPU_R);

    for (int r = 0; r < p->rows; r++)
        memcpy(values + (size_t)r * (size_t)p->cols, w.p + r * w.tensor->ld,
               (size_t)p->cols * sizeof *values);
    close_window(&w);
}

static struct window copy_in(struct cavs__tensor *t, const struct cavs_param *p,
                             const float *values)
{
    struct window w = open_window(t, 0, p, STARPU_RW);

    for (int r = 0; r < p->rows; r++)
        memcpy(w.p + r * w.tensor->ld, values + (size_t)r * (size_t)p->cols,
               (size_t)p->cols * sizeof *values);
    return w;
}

int cavs_session_get_param(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    int rc = check_param(s, p, values);

    if (!rc)
        rc = cavs__settle(s);
    if (!rc)
        copy_out(param_tensor(s, p), p, values);
    return rc;
}

int cavs_session_set_param(struct cavs_session *s, const struct cavs_param *p, const float *values)
{
    int rc = check_param(s, p, values);
    struct window w;

    if (rc)
        return rc;
    w = copy_in(param_tensor(s, p), p, values);
    write_copies(s, p, &w);
    close_window(&w);
    return CAVS_OK;
}

/* ---- what the optimizer keeps ---- */

bool cavs__shares_state(const struct cavs_session *s, const struct cavs_param *p)
{
    return s->optimizer.exchange && s->optimizer.exchange->shares_of[stored(p)->number] > 0;
}

int cavs__states_of(const struct cavs_session *s, const struct cavs_param *p)
{
    int n = 0;

    if (cavs__shares_state(s, p))
        return cavs__rules[s->optimizer.rule.rule].states;
    while (n < 2 && cavs__is_there(&stored_as(s, p)->state[n]))
        n++;
    return n;
}

static bool has_state(const struct cavs_session *s, const struct cavs_param *p)
{
    return !s->optimizer.exchange || cavs__owns(s->optimizer.exchange, stored(p));
}

/* The i-th range of rows of which this rank has the states; false: there are not so many. */
static bool next_own(const struct cavs_session *s, const struct cavs_param *p, int i, int *first,
                     int *end)
{
    const struct cavs__share *own =
        cavs__shares_state(s, p) ? cavs__own_share(s->optimizer.exchange, stored(p), i) : NULL;

    *first = own ? own->first : 0;
    *end = own ? own->first + own->rows : p->rows;
    return own || (i == 0 && !cavs__shares_state(s, p));
}

/* Between the states and numbers of all rows, of which those that this rank has are written to
 * `out`, or come from `in`. */
static int move_state(struct cavs_session *s, const struct cavs_param *p, int k, float *out,
                      const float *in)
{
    size_t cols = (size_t)p->cols;
    struct window w;

    if (!has_state(s, p))
        return CAVS_OK;
    w = open_window(&stored_as(s, p)->state[k], 0, p, in ? STARPU_RW : STARPU_R);
    for (int i = 0, r, end; next_own(s, p, i, &r, &end); i++) {
        for (; r < end; r++) {
            float *row = w.p + (r - stored_as(s, p)->states_from) * w.tensor->ld;
            size_t at = (size_t)r * cols;

            memcpy(in ? row : out + at, in ? in + at : row, cols * sizeof *row);
        }
    }
    close_window(&w);
    return CAVS_OK;
}

/* Others have the other rows: here they are zeros. */
int cavs__get_state(struct cavs_session *s, const struct cavs_param *p, int k, float *values)
{
    memset(values, 0, (size_t)p->rows * (size_t)p->cols * sizeof *values);
    return move_state(s, p, k, values, NULL);
}

int cavs__set_state(struct cavs_session *s, const struct cavs_param *p, int k, const float *values)
{
    return move_state(s, p, k, NULL, values);
}

static int last_slot(const struct cavs_session *s)
{
    return (int)((s->engine.batches - 1) % CAVS__SLOTS);
}

/* The gradient of all ranks. */
static void add_exchanged(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    const struct cavs__exchange *x = s->optimizer.exchange;
    const struct cavs__share *share = &x->shares[x->share_of[stored(p)->number]];

    for (int i = 0; i < x->shares_of[stored(p)->number]; i++, share++) {
        const float *from = cavs__exchanged_numbers(x, share) + p->merged_col;

        for (int r = 0; r < share->rows; r++)
            memcpy(values + (size_t)(share->first + r) * (size_t)p->cols,
                   from + (size_t)r * (size_t)stored(p)->cols, (size_t)p->cols * sizeof *values);
    }
}

static void add_exchanged_rows(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    const struct cavs__exchange *x = s->optimizer.exchange;
    const struct cavs__touched *t = cavs__exchanged_rows(x, p, last_slot(s));
    const struct cavs__block *from[2 * CAVS__MAX_PARTIALS];

    cavs__exchanged_blocks(x, p, last_slot(s), from);
    for (int i = 0; i < t->n; i++)
        memcpy(values + (size_t)t->ids[i] * (size_t)p->cols,
               from[t->source[i]]->p + (size_t)t->row[i] * (size_t)p->cols,
               (size_t)p->cols * sizeof *values);
}

static void add_dense(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    struct cavs__tensor *t = &s->engine.tensors[s->plan->grad[stored(p)->number]];
    const float *g[CAVS__PARTIALS] = {NULL};
    struct window window[CAVS__PARTIALS];
    ptrdiff_t ld[CAVS__PARTIALS];

    if (s->optimizer.exchange) {
        add_exchanged(s, p, values);
        return;
    }
    for (int k = 0; k < CAVS__PARTIALS; k++) {
        ld[k] = t->ld;
        if (!s->engine.grad_used[stored(p)->number][k])
            continue;
        window[k] = open_window(t, k, p, STARPU_R);
        g[k] = window[k].p;
    }
    cavs__sum_dense(p->rows, p->cols, values, g, ld);
    for (int k = 0; k < CAVS__PARTIALS; k++) {
        if (g[k])
            close_window(&window[k]);
    }
}

static void add_touched(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    const struct cavs__touched *t = s->batch->touched[p->number];
    const struct cavs__lookup *l = t->lookups;

    for (int u = 0; u < t->nlookups; u++) /* a device may have the newest copy */
        cavs__tensor_acquire(&s->engine.tensors[l[u].tensor], l[u].shard, STARPU_R);
    for (int i = 0; i < t->n; i++) {
        for (int k = t->ptr[i]; k < t->ptr[i + 1]; k++) {
            const struct cavs__tensor *g = &s->engine.tensors[l[t->source[k]].tensor];
            const float *row = g->chunks[l[t->source[k]].shard].p + t->row[k] * t->ld;

            for (int c = 0; c < p->cols; c++)
                values[(size_t)t->ids[i] * (size_t)p->cols + (size_t)c] += row[c];
        }
    }
    for (int u = 0; u < t->nlookups; u++)
        cavs__tensor_release(&s->engine.tensors[l[u].tensor], l[u].shard);
}

int cavs_session_get_gradient(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    int rc = check_param(s, p, values);

    if (rc)
        return rc;
    if (s->engine.batches == 0 || s->gradient_batch != s->engine.batches)
        return cavs__fail(CAVS_ESTATE,
                          "the last batch was not a cavs_session_gradient(): its gradient is gone");
    rc = cavs__settle(s);
    if (rc)
        return rc;
    memset(values, 0, (size_t)p->rows * (size_t)p->cols * sizeof *values);
    if (s->plan->grad[stored(p)->number] >= 0)
        add_dense(s, p, values);
    else if (s->optimizer.exchange && p->lookup_use && !p->frozen)
        add_exchanged_rows(s, p, values);
    else if (s->batch->touched[p->number])
        add_touched(s, p, values);
    return CAVS_OK;
}

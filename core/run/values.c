/* SPDX-License-Identifier: Apache-2.0 */
/* values.c - the numbers of parameters: where a session has them, and what a user reads and writes
 * of them. */
#include <string.h>

#include "core/base/error.h"
#include "core/run/simulated.h"
#include "core/run/window.h"

static struct cavs__tensor *param_tensor(const struct cavs_session *s, const struct cavs_param *p)
{
    return &cavs__stored_as(s, p)->value;
}

/* Writes the copies of the numbers that are in w. */
static void write_copies(struct cavs_session *s, const struct cavs_param *p,
                         const struct cavs__param_window *w)
{
    for (int l = 0; l < CAVS__LAYOUTS; l++) {
        struct cavs__tensor *t = &cavs__stored_as(s, p)->copies[l];
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
    struct cavs__param_window w = cavs__open_window(param_tensor(s, p), 0, p, STARPU_RW);

    cavs__draw_initial(p, s->options.seed, w.p, w.tensor->ld);
    write_copies(s, p, &w);
    cavs__close_window(&w);
}

/* Makes a copy that is not there yet; *made: it has to be written.  What no column of the parameter
 * is copied to stays zero. */
static int take_copy(struct cavs_session *s, const struct cavs_param *p, enum cavs__layout layout,
                     bool *made)
{
    int number = s->plan->copies[p->number][layout], rc = CAVS_OK;
    struct cavs__store_entry *x = cavs__stored_as(s, p);
    struct cavs__tensor *t = &x->copies[layout];

    if (number < 0)
        return CAVS_OK;
    if (!t->chunks &&
        cavs__tensor_init(t, x->names, cavs__layout_cols(layout, p->rows, p->cols), 1) != 0)
        return cavs__fail_nomem(p->name, 2 * sizeof(struct cavs__chunk));
    if (!cavs__is_there(t)) {
        rc = cavs__reserve_of_param(&s->engine, t, 0, cavs__layout_rows(layout, p->rows, p->cols));
        if (rc)
            return rc;
        cavs__tensor_clear(t, 0);
        *made = true;
    }
    s->engine.tensors[number] = *t;
    return CAVS_OK;
}

/* Makes all copies that the plan has of a parameter by now. */
static int take_copies(struct cavs_session *s, const struct cavs_param *p)
{
    bool made = false;
    int rc = CAVS_OK;

    for (int l = 0; l < CAVS__LAYOUTS && !rc; l++)
        rc = take_copy(s, p, (enum cavs__layout)l, &made);
    if (made && cavs__stored_as(s, p)->filled) {
        struct cavs__param_window w = cavs__open_window(param_tensor(s, p), 0, p, STARPU_R);

        write_copies(s, p, &w);
        cavs__close_window(&w);
    }
    return rc;
}

static int create_gradient(struct cavs__engine *e, const struct cavs_param *p)
{
    int grad = e->plan->grad[p->number], rc = CAVS_OK;

    for (int k = 0; grad >= 0 && k < cavs__partials(e) && !rc; k++)
        rc = cavs__reserve_of_param(e, &e->tensors[grad], k, p->rows);
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
    rc = cavs__reserve_of_param(&s->engine, t, 0, p->rows);
    s->engine.tensors[s->plan->param[p->number]] = *t;
    if (!rc)
        rc = take_copies(s, p);
    if (!rc)
        rc = create_gradient(&s->engine, p);
    return rc ? rc : cavs__optimizer_add(&s->optimizer, &s->engine, p);
}

/* Makes what the plan did not have of a parameter before. */
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

/* Makes all parameters; one that another session has, too, keeps its numbers. */
int cavs__create_params(struct cavs_session *s)
{
    const struct cavs_model *m = s->model;
    int rc = CAVS_OK;

    for (int i = 0; i < m->nstored && !rc; i++) {
        if (!m->params[i]->merged)
            rc = take_param(s, m->params[i]);
    }
    /* A simulation reads no numbers, and pages that nobody writes take no memory. */
    for (int i = 0; i < m->nparams && !rc && cavs__simulated_cores() == 0; i++) {
        if (!cavs__stored_as(s, m->params[i])->filled)
            init_param(s, m->params[i]);
    }
    for (int i = 0; i < m->nparams && !rc; i++)
        cavs__stored_as(s, m->params[i])->filled = true;
    return rc;
}

/* ---- for the user ---- */

int cavs__check_param(const struct cavs_session *s, const struct cavs_param *p, const float *values)
{
    int rc = cavs__session_ready(s, "parameter");

    if (rc)
        return rc;
    if (!p || !values)
        return cavs__fail(CAVS_EINVAL, "parameter: %s",
                          !p ? "there is none (NULL)" : "nowhere for its numbers (NULL)");
    if (p->model != s->model)
        return cavs__fail(CAVS_EINVAL, "parameter %s belongs to another model", p->name);
    return CAVS_OK;
}

static void copy_out(struct cavs__tensor *t, const struct cavs_param *p, float *values)
{
    struct cavs__param_window w = cavs__open_window(t, 0, p, STARPU_R);

    for (int r = 0; r < p->rows; r++)
        memcpy(values + (size_t)r * (size_t)p->cols, w.p + r * w.tensor->ld,
               (size_t)p->cols * sizeof *values);
    cavs__close_window(&w);
}

void cavs__note_given(struct cavs_session *s, const struct cavs_param *p, const float *values)
{
    cavs__exchange_given(s->optimizer.exchange, &p->number, sizeof p->number);
    cavs__exchange_given(s->optimizer.exchange, values,
                         (size_t)p->rows * (size_t)p->cols * sizeof *values);
}

static struct cavs__param_window copy_in(struct cavs__tensor *t, const struct cavs_param *p,
                                         const float *values)
{
    struct cavs__param_window w = cavs__open_window(t, 0, p, STARPU_RW);

    for (int r = 0; r < p->rows; r++)
        memcpy(w.p + r * w.tensor->ld, values + (size_t)r * (size_t)p->cols,
               (size_t)p->cols * sizeof *values);
    return w;
}

int cavs_session_get_param(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    int rc = cavs__check_param(s, p, values);

    if (!rc)
        rc = cavs__settle(s);
    if (!rc)
        copy_out(param_tensor(s, p), p, values);
    return rc;
}

int cavs_session_set_param(struct cavs_session *s, const struct cavs_param *p, const float *values)
{
    int rc = cavs__check_param(s, p, values);
    struct cavs__param_window w;

    if (rc)
        return rc;
    cavs__note_given(s, p, values);
    w = copy_in(param_tensor(s, p), p, values);
    write_copies(s, p, &w);
    cavs__close_window(&w);
    return CAVS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * optimizer.c - what a session keeps to update its parameters: the rule, its states, where
 * gradients of looked-up rows are listed.
 */
#include <stdlib.h>

#include "codelets/rows_task.h"
#include "codelets/update_task.h"
#include "core/base/error.h"
#include "core/run/optimizer.h"
#include "core/compile/work.h"

bool cavs__is_trained(const struct cavs__plan *plan, const struct cavs_param *p)
{
    return !p->frozen && !p->merged && (cavs__has_dense_gradient(plan, p) || p->lookup_use);
}

int cavs__optimizer_init(struct cavs__optimizer *o, struct cavs__engine *e,
                         const struct cavs__optimizer *other)
{
    const struct cavs_session_options *options = e->options;
    int nstored = e->plan->model->nstored;
    size_t n = (size_t)nstored + 1;
    int rc = cavs__store_open(other ? other->store : NULL, &o->store);

    if (!rc && e->plan->options.training)
        rc = cavs__store_check_rule(o->store, options->optimizer);
    if (rc)
        return rc;
    cavs__update_codelet(&o->update_codelet, options->clip > 0);
    cavs__norm_codelet(&o->norm_codelet);
    cavs__rows_codelet(&o->rows_codelet);
    o->update_codelet.color = cavs__work_color(cavs__work_of(o->update_codelet.name));
    o->norm_codelet.color = cavs__work_color(cavs__work_of(o->norm_codelet.name));
    o->rule = (struct cavs__update){.rule = options->optimizer, .lr = options->lr};
    for (const struct cavs__hyperparameter *h = cavs__hyperparameters; h->name; h++)
        *cavs__number_at(&o->rule, h->update) = *cavs__number_at(options, h->option);
    o->clip = options->clip;
    o->stored = calloc(n, sizeof *o->stored);
    o->touched_lists = calloc(n, sizeof *o->touched_lists);
    if (!o->stored || !o->touched_lists)
        return cavs__fail_nomem("optimizer", n * (sizeof *o->stored + sizeof *o->touched_lists));
    for (int i = 0; i < nstored; i++) { /* of all, since a tape may look rows up of any */
        if (cavs__tensor_init(&o->touched_lists[i], "touched rows", 1, CAVS__SLOTS) != 0)
            return cavs__fail_nomem("touched rows", (CAVS__SLOTS + 1) * sizeof(struct cavs__chunk));
    }
    if (cavs__tensor_init(&o->norms, "norms", 2 * nstored + 2, 1) != 0)
        return cavs__fail_nomem("norms", 2 * sizeof(struct cavs__chunk));
    if (cavs__reserve(e, &o->norms, 0, 1))
        return CAVS_ENOMEM;
    cavs__tensor_clear(&o->norms, 0);
    return CAVS_OK;
}

void cavs__optimizer_free(struct cavs__optimizer *o, const struct cavs_model *m)
{
    for (int i = 0; o->touched_lists && i < m->nstored; i++)
        cavs__tensor_free(&o->touched_lists[i]);
    for (int i = 0; o->stored && i < m->nstored; i++)
        cavs__store_give_back(o->store, o->stored[i]);
    cavs__store_close(o->store);
    free(o->stored);
    cavs__tensor_free(&o->norms);
    free(o->touched_lists);
}

/* Makes a state with room for so many rows: none where other ranks have them. */
static int create_state(struct cavs__engine *e, struct cavs__tensor *t, const struct cavs_param *p,
                        int rows)
{
    int rc = CAVS_OK;

    if (!t->chunks && cavs__tensor_init(t, "optimizer state", p->cols, 1) != 0)
        return cavs__fail_nomem("optimizer state", 2 * sizeof(struct cavs__chunk));
    if (t->chunks[0].rows > 0)
        return CAVS_OK; /* another session may have made it */
    if (rows > 0)
        rc = cavs__reserve_of_param(e, t, 0, rows);
    if (!rc && rows > 0)
        cavs__tensor_clear(t, 0);
    return rc;
}

/* Where sessions share a parameter, the same ranks have to keep the same rows of its states. */
static int check_layout(struct cavs__optimizer *o, const struct cavs_param *p)
{
    struct cavs__store_entry *x = o->stored[p->number];
    uint64_t layout = cavs__layout_of_shares(o->exchange, p);

    if (cavs__is_there(&x->state[0]) || x->layout)
        return layout == x->layout
                   ? CAVS_OK
                   : cavs__fail(CAVS_EINVAL,
                                "parameter %s: sessions that share it would update it at "
                                "different ranks: their models have other parameters",
                                x->names);
    x->layout = layout;
    return CAVS_OK;
}

int cavs__optimizer_add(struct cavs__optimizer *o, struct cavs__engine *e,
                        const struct cavs_param *p)
{
    int nstates = e->plan->options.training && !p->frozen ? cavs__rules[o->rule.rule].states : 0,
        rc = CAVS_OK;
    struct cavs__store_entry *x = o->stored[p->number];
    int first = 0, end = p->rows;

    if (nstates > 0 && o->exchange) {
        cavs__own_rows(o->exchange, p, &first, &end);
        rc = check_layout(o, p);
        x->states_from = rc ? x->states_from : first;
    }
    for (int k = 0; k < nstates && !rc; k++)
        rc = create_state(e, &x->state[k], p, end - first);
    return rc;
}

/* Makes room for the lists of a parameter.  Only the main thread writes to them, as it writes index
 * sections (room.c), when all tasks that read them are done. */
static int reserve_lists(struct cavs__engine *e, struct cavs__tensor *lists, int place, int64_t n)
{
    int rc;

    if (place < lists->nchunks && n <= lists->chunks[place].rows)
        return CAVS_OK;
    rc = cavs__reserve(e, lists, place, n);
    if (!rc)
        cavs__leave_unordered(e, lists, place);
    return rc;
}

int cavs__list_gradients(struct cavs__optimizer *o, struct cavs__engine *e,
                         const struct cavs__batch *b, int slot)
{
    int place = cavs__read_place(e, slot);

    for (int i = 0; i < e->plan->model->nstored; i++) {
        struct cavs__tensor *lists = &o->touched_lists[i];
        bool here = b->touched[i] &&
                    !(o->exchange && cavs__has_row_gradient(e->plan, e->plan->model->params[i]));
        int rc =
            here ? reserve_lists(e, lists, place, cavs__touched_length(b->touched[i])) : CAVS_OK;

        if (rc)
            return rc;
        if (!here)
            continue;
        if (!e->rt->one_memory)
            cavs__tensor_acquire(lists, place, STARPU_W);
        cavs__list_touched(b, e->plan->model->params[i], (int32_t *)lists->chunks[place].p);
        if (!e->rt->one_memory)
            cavs__tensor_release(lists, place);
        cavs__send_home(e, -1, lists, place);
    }
    return CAVS_OK;
}

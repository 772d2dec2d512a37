/* SPDX-License-Identifier: Apache-2.0 */
/* read_gradients.c - gradients of parameters for the user, added up from where tasks left them. */
#include <string.h>

#include "core/base/error.h"
#include "core/run/window.h"

static int last_slot(const struct cavs_session *s)
{
    return (int)((s->engine.batches - 1) % s->engine.nslots);
}

/* Adds the gradient of all ranks. */
static void add_exchanged(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    const struct cavs__exchange *x = s->optimizer.exchange;
    const struct cavs__share *share = &x->shares[x->share_of[cavs__stored(p)->number]];

    for (int i = 0; i < x->shares_of[cavs__stored(p)->number]; i++, share++) {
        const float *from = cavs__exchanged_numbers(x, share) + p->merged_col;

        for (int r = 0; r < share->rows; r++)
            memcpy(values + (size_t)(share->first + r) * (size_t)p->cols,
                   from + (size_t)r * (size_t)cavs__stored(p)->cols,
                   (size_t)p->cols * sizeof *values);
    }
}

static void add_exchanged_rows(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    const struct cavs__exchange *x = s->optimizer.exchange;
    const struct cavs__touched *t = cavs__exchanged_rows(x, p, last_slot(s));
    const struct cavs__block *from[2 * CAVS__MAX_PARTIALS];

    cavs__exchanged_blocks(x, p, last_slot(s), from);
    for (int i = 0; i < t->n; i++) {
        float *sum = values + (size_t)t->ids[i] * (size_t)p->cols;

        for (int k = t->ptr[i]; k < t->ptr[i + 1]; k++) {
            const float *row = from[t->source[k]]->p + (size_t)t->row[k] * (size_t)p->cols;

            for (int c = 0; c < p->cols; c++)
                sum[c] += row[c];
        }
    }
}

static void add_dense(struct cavs_session *s, const struct cavs_param *p, float *values)
{
    struct cavs__tensor *t = &s->engine.tensors[s->plan->grad[cavs__stored(p)->number]];
    const float *g[CAVS__PARTIALS] = {NULL};
    struct cavs__param_window window[CAVS__PARTIALS];
    ptrdiff_t ld[CAVS__PARTIALS];

    if (s->optimizer.exchange) {
        add_exchanged(s, p, values);
        return;
    }
    for (int k = 0; k < CAVS__PARTIALS; k++) {
        ld[k] = t->ld;
        if (!s->engine.grad_used[cavs__stored(p)->number][k])
            continue;
        window[k] = cavs__open_window(t, k, p, STARPU_R);
        g[k] = window[k].p;
    }
    cavs__sum_dense(p->rows, p->cols, values, g, ld);
    for (int k = 0; k < CAVS__PARTIALS; k++) {
        if (g[k])
            cavs__close_window(&window[k]);
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
    int rc = cavs__check_param(s, p, values);

    if (rc)
        return rc;
    if (s->engine.batches == 0 || s->gradient_batch != s->engine.batches)
        return cavs__fail(
            CAVS_ESTATE, "the gradient is not kept: the last batch was no cavs_session_gradient(), "
                         "and no recording of CAVS_TAPE_GRADIENT");
    rc = cavs__settle(s);
    if (rc)
        return rc;
    memset(values, 0, (size_t)p->rows * (size_t)p->cols * sizeof *values);
    if (cavs__has_dense_gradient(s->plan, p))
        add_dense(s, p, values);
    else if (s->optimizer.exchange && p->lookup_use && !p->frozen)
        add_exchanged_rows(s, p, values);
    else if (s->batch->touched[p->number])
        add_touched(s, p, values);
    return CAVS_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* answered_rows.c - see answered_rows.h. */
#include "core/tape/answered_rows.h"

#include <stdlib.h>
#include <string.h>

#include "codelets/part.h"
#include "core/base/error.h"

static int shard_of(struct cavs_tape *t, const struct cavs__entry *e)
{
    return t->order.shard[cavs__group_of(&t->recording, e->sample)];
}

/* Of what x is columns of. */
static struct cavs__entry *entry_of(const struct cavs_tape *t, struct cavs_symbol *x, int *from)
{
    return cavs__entry_of(&t->recording, &cavs__node_of(x, from)->x);
}

/* The rows, or their gradients, of all that are on the shard. */
static void copy_shard(struct cavs_tape *t, bool gradients, int shard, int n,
                       struct cavs_symbol *const *xs, float *const *rows)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    struct cavs__tensor *all = &t->session->engine.tensors[gradients ? sp->push[0] : sp->state];
    const float *from_shard = cavs__tensor_acquire(all, shard, STARPU_R);

    for (int i = 0; i < n; i++) {
        int from;
        const struct cavs__entry *e = entry_of(t, xs[i], &from);

        if (t->recording.signature[e - t->recording.entries] != CAVS__NOT_COMPUTED &&
            shard_of(t, e) == shard && (!gradients || e->reached))
            memcpy(rows[i],
                   from_shard + (ptrdiff_t)cavs__line_of(&t->recording, e) * CAVS__LINE + from,
                   (size_t)xs[i]->width * sizeof *rows[i]);
    }
    cavs__tensor_release(all, shard);
}

/* Rows that another rank has evaluated: each has zeros for them, or itself. */
static int complete_rows(struct cavs_tape *t, int n, struct cavs_symbol *const *xs,
                         float *const *rows)
{
    size_t sum = 0, at = 0;
    float *all;
    int rc;

    for (int i = 0; i < n; i++)
        sum += (size_t)xs[i]->width;
    all = malloc((sum + 1) * sizeof *all);
    for (int i = 0; i < n && all; at += (size_t)xs[i++]->width)
        memcpy(all + at, rows[i], (size_t)xs[i]->width * sizeof *all);
    rc = all ? CAVS_OK : cavs__fail_nomem("rows", (sum + 1) * sizeof *all);
    rc = cavs__ranks_agree(t->session->rt->ranks, rc);
    if (!rc)
        rc = cavs__ranks_complete(t->session->rt->ranks, all, sum);
    at = 0;
    for (int i = 0; i < n && !rc; at += (size_t)xs[i++]->width)
        memcpy(rows[i], all + at, (size_t)xs[i]->width * sizeof *all);
    free(all);
    return rc;
}

/* Zeros for what no gradient reaches. */
int cavs__copy_rows(struct cavs_tape *t, bool gradients, int n, struct cavs_symbol *const *xs,
                    float *const *rows)
{
    for (int i = 0; i < n; i++)
        memset(rows[i], 0, (size_t)xs[i]->width * sizeof *rows[i]);
    for (int i = 0; i < t->order.nshards; i++) {
        if (t->shards[i].first)
            copy_shard(t, gradients, i, n, xs, rows);
    }
    return t->session->rt->ranks ? complete_rows(t, n, xs, rows) : cavs__check_devices(t->session);
}

/* What is not computed is a constant, or a parameter. */
int cavs__copy_fixed(struct cavs_tape *t, const struct cavs_symbol *x, float *row)
{
    int from, rc;
    const struct cavs__node *node = cavs__node_of((struct cavs_symbol *)x, &from);
    float *whole;

    for (int i = 0; i < x->width && node->x.op == CAVS__OP_CONST; i++)
        row[i] = node->x.s;
    if (node->x.op != CAVS__OP_USE)
        return CAVS_OK;
    whole = malloc((size_t)node->x.width * sizeof *whole);
    if (!whole)
        return cavs__fail_nomem("parameter", (size_t)node->x.width * sizeof *whole);
    rc = cavs_session_get_param(t->session, node->x.param, whole);
    if (!rc)
        memcpy(row, whole + from, (size_t)x->width * sizeof *row);
    free(whole);
    return rc;
}

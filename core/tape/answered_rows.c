/* SPDX-License-Identifier: Apache-2.0 */
/* answered_rows.c - see answered_rows.h. */
#include "core/tape/answered_rows.h"

#include <stdlib.h>
#include <string.h>

#include "codelets/part.h"
#include "core/base/error.h"

/* The shard of an evaluated symbol.  It is not asked for by the group of the symbol's sample: that
 * group may have grown since by a sample that has no shard yet. */
static int shard_of(const struct cavs_tape *t, int symbol)
{
    return t->order.shard[t->recording.entries[symbol].sample];
}

static bool has_gradient(const struct cavs_tape *t, int symbol)
{
    return cavs__is_marked(&t->recording, symbol, CAVS__ORDERED) &&
           cavs__vertex_of(&t->recording, symbol)->reached;
}

/* Where the numbers of a symbol that is asked for are. */
struct asked {
    int32_t line;     /* the first line that has some of the numbers */
    int nlines, from; /* how many lines; where the numbers begin in the first */
};

/* Is the row of x, or its gradient, there, and on this shard?  Only samples of which something was
 * computed have a shard. */
static bool is_on(struct cavs_tape *t, bool gradients, int shard, struct cavs_symbol *x,
                  struct asked *to)
{
    int from;
    const struct cavs__node *node = cavs__node_of(x, &from); /* x is columns of it */
    int symbol = node->x.number;

    if (!cavs__is_computed(&t->recording, node) || (gradients && !has_gradient(t, symbol)) ||
        shard_of(t, symbol) != shard)
        return false;
    *to = (struct asked){.line = cavs__line_of(&t->recording, symbol) + from / CAVS__LINE,
                         .nlines = cavs__lines_of(from % CAVS__LINE + x->width),
                         .from = from % CAVS__LINE};
    return true;
}

static struct cavs__tensor *tensor_of(const struct cavs_tape *t, bool gradients)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);

    return &t->session->engine.tensors[gradients ? sp->push[0] : sp->state];
}

/* Has the device collect the lines of this shard that are asked for, of which there are nlines. */
static int collect_shard(struct cavs_tape *t, bool gradients, int shard, int n,
                         struct cavs_symbol *const *xs, int nlines)
{
    struct cavs__engine *e = &t->session->engine;
    int32_t *line = cavs__collecting_begin(&t->collecting, e, shard, nlines);
    struct asked a;

    if (!line)
        return CAVS_ENOMEM;
    for (int i = 0; i < n; i++) {
        if (!is_on(t, gradients, shard, xs[i], &a))
            continue;
        for (int k = 0; k < a.nlines; k++)
            *line++ = a.line + k;
    }
    return cavs__collect(&t->collecting, e, shard, tensor_of(t, gradients)->chunks[shard].handle);
}

/* Copies what is asked for of this shard, from its tensor or from the lines that were collected. */
static void copy_shard(struct cavs_tape *t, bool gradients, int shard, int n,
                       struct cavs_symbol *const *xs, float *const *rows, bool collected)
{
    struct cavs__tensor *all = collected ? &t->collecting.lines : tensor_of(t, gradients);
    const float *from = cavs__tensor_acquire(all, shard, STARPU_R);
    ptrdiff_t next = 0; /* collected line */
    struct asked a;

    for (int i = 0; i < n; i++) {
        if (!is_on(t, gradients, shard, xs[i], &a))
            continue;
        memcpy(rows[i], from + (collected ? next : a.line) * CAVS__LINE + a.from,
               (size_t)xs[i]->width * sizeof *rows[i]);
        next += a.nlines;
    }
    cavs__tensor_release(all, shard);
}

/* How many lines of this shard are asked for. */
static int count_lines(struct cavs_tape *t, bool gradients, int shard, int n,
                       struct cavs_symbol *const *xs)
{
    struct asked a;
    int nlines = 0;

    for (int i = 0; i < n; i++)
        nlines += is_on(t, gradients, shard, xs[i], &a) ? a.nlines : 0;
    return nlines;
}

/* All devices are told to collect before the first is waited for, so they do it at the same
 * time. */
static int copy_shards(struct cavs_tape *t, bool gradients, int n, struct cavs_symbol *const *xs,
                       float *const *rows)
{
    int nshards = t->order.nshards, rc = CAVS_OK;
    int nlines[nshards]; /* collected; -1: the shard is not a device's */

    for (int i = 0; i < nshards && !rc; i++) {
        nlines[i] = !t->shards[i].first ? 0
                    : cavs__is_collected(&t->session->engine, i)
                        ? count_lines(t, gradients, i, n, xs)
                        : -1;
        if (nlines[i] > 0)
            rc = collect_shard(t, gradients, i, n, xs, nlines[i]);
    }
    for (int i = 0; i < nshards && !rc; i++) {
        if (nlines[i] != 0)
            copy_shard(t, gradients, i, n, xs, rows, nlines[i] > 0);
    }
    return rc;
}

/* Rows that another rank has evaluated are fetched: of each row one rank has the numbers, and all
 * others have zeros, so their sum is the row. */
static int complete_rows(struct cavs_tape *t, int n, struct cavs_symbol *const *xs,
                         float *const *rows, int rc)
{
    size_t sum = 0, at = 0;
    float *all;

    for (int i = 0; i < n; i++)
        sum += (size_t)xs[i]->width;
    all = malloc((sum + 1) * sizeof *all);
    for (int i = 0; i < n && all; at += (size_t)xs[i++]->width)
        memcpy(all + at, rows[i], (size_t)xs[i]->width * sizeof *all);
    if (!all && !rc)
        rc = cavs__fail_nomem("rows", (sum + 1) * sizeof *all);
    rc = cavs__ranks_agree_on(t->session->rt->ranks, "rows", rc);
    if (!rc)
        rc = cavs__ranks_complete(t->session->rt->ranks, all, sum);
    at = 0;
    for (int i = 0; i < n && !rc; at += (size_t)xs[i++]->width)
        memcpy(rows[i], all + at, (size_t)xs[i]->width * sizeof *all);
    free(all);
    return rc;
}

/* What no gradient reaches stays zero. */
int cavs__copy_rows(struct cavs_tape *t, bool gradients, int n, struct cavs_symbol *const *xs,
                    float *const *rows)
{
    const bool devices = t->session->engine.homes != NULL; /* must be awake for what follows */
    int rc;

    for (int i = 0; i < n; i++)
        memset(rows[i], 0, (size_t)xs[i]->width * sizeof *rows[i]);
    if (devices) {
        cavs__workers_begin_batch();
        cavs__workers_wake_for_tasks();
    }
    rc = copy_shards(t, gradients, n, xs, rows);
    if (devices)
        cavs__workers_end_batch();
    if (t->session->rt->ranks)
        return complete_rows(t, n, xs, rows, rc);
    return rc ? rc : cavs__check_devices(t->session);
}

/* A symbol that is not computed is a constant or a parameter. */
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

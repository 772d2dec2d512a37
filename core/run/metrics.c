/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - sums and counts of metrics: of the user, and in checkpoints. */
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/run/session.h"
#include "core/run/simulated.h"

static int check_counted(const struct cavs_session *s)
{
    return s->half_counted ? cavs__fail(CAVS_ESTATE, "metrics: a batch that failed is counted in "
                                                     "part (cavs_session_reset_metrics)")
                           : CAVS_OK;
}

/* Reads the sum and the count of a metric in one of this rank's shards. */
static void read_shard(struct cavs_session *s, int number, int shard, double part[2])
{
    struct cavs__tensor *t = &s->engine.tensors[s->plan->metric];

    memcpy(part, cavs__tensor_acquire(t, shard, STARPU_R) + 4 * number, 2 * sizeof *part);
    cavs__tensor_release(t, shard);
}

/* Adds the parts that other ranks have.  parts: NULL where there was no memory, as a rank that
 * lacks some must not leave the others waiting for it. */
static int add_ranks(struct cavs_session *s, double *parts)
{
    size_t ranks = (size_t)cavs__ranks_count(s->rt->ranks), n = 2 * (size_t)s->engine.nshards;
    double *all = malloc(ranks * n * sizeof *all);
    int rc = parts && all ? CAVS_OK : cavs__fail_nomem("metrics", ranks * n * sizeof *all);

    rc = cavs__ranks_agree_on(s->rt->ranks, "metrics", rc);
    if (!rc)
        rc = cavs__ranks_gather(s->rt->ranks, parts, n * sizeof *all, all);
    for (size_t i = 0; i < n && !rc; i++) {
        parts[i] = 0;
        for (size_t rank = 0; rank < ranks; rank++)
            parts[i] += all[rank * n + i];
    }
    free(all);
    return rc;
}

/* Reads sums and counts of all shards, [nshards][2], whichever rank has worked on one; the caller
 * frees them.  NULL, and *rc says why. */
static double *read_all(struct cavs_session *s, int number, int *rc)
{
    size_t bytes = 2 * (size_t)s->engine.nshards * sizeof(double);
    double *parts = malloc(bytes);

    for (int i = 0; i < s->engine.nshards && parts; i++)
        read_shard(s, number, i, parts + 2 * i);
    if (s->rt->ranks)
        *rc = add_ranks(s, parts);
    else
        *rc = parts ? CAVS_OK : cavs__fail_nomem("metrics", bytes);
    if (!*rc)
        return parts;
    free(parts);
    return NULL;
}

/* Adds up this rank's shards, in order.  It takes no memory that might be missing, so that nobody
 * trains once more for a number that could not be read. */
static void add_own_shards(struct cavs_session *s, int number, double total[2])
{
    for (int i = 0; i < s->engine.nshards; i++) {
        double part[2];

        read_shard(s, number, i, part);
        total[0] += part[0];
        total[1] += part[1];
    }
}

/* Adds up the shards of all ranks, in order. */
static int add_all_shards(struct cavs_session *s, int number, double total[2])
{
    int rc;
    double *parts = read_all(s, number, &rc);

    for (int i = 0; i < 2 * s->engine.nshards && parts; i++)
        total[i % 2] += parts[i];
    free(parts);
    return rc;
}

int cavs_session_metric(struct cavs_session *s, const char *name, double *sum, double *count)
{
    int number = -1, rc = cavs__session_ready(s, "cavs_session_metric");
    double total[2] = {0, 0};

    if (!rc)
        rc = check_counted(s);
    if (rc)
        return rc;
    for (int i = 0; name && i < s->model->nmetrics; i++) {
        if (strcmp(s->model->metrics[i]->name, name) == 0)
            number = i;
    }
    if (number < 0)
        return cavs__fail(CAVS_EINVAL, "the model has no metric or loss named %s",
                          name ? name : "NULL");
    if (s->rt->ranks)
        rc = add_all_shards(s, number, total);
    else
        add_own_shards(s, number, total);
    if (cavs__simulated_cores() > 0) /* else programs look for the cause of a mean that is none */
        total[1] = 1;
    if (!rc)
        rc = cavs__check_devices(s);
    if (rc)
        return rc;
    if (sum)
        *sum = total[0];
    if (count)
        *count = total[1];
    return CAVS_OK;
}

int cavs_session_reset_metrics(struct cavs_session *s)
{
    struct cavs__tensor *t;
    int rc = cavs__session_ready(s, "cavs_session_reset_metrics");

    if (rc)
        return rc;
    t = &s->engine.tensors[s->plan->metric];
    for (int i = 0; i < s->engine.nshards; i++)
        cavs__tensor_clear(t, i);
    s->half_counted = false;
    return CAVS_OK;
}

/* ---- in checkpoints ---- */

static int get_metric(struct cavs_session *s, int number, double *values)
{
    size_t n = (size_t)s->engine.nshards, columns = 2 * (size_t)s->model->nmetrics + 1;
    int rc;
    double *parts = read_all(s, number, &rc);

    for (size_t i = 0; i < n && parts; i++)
        memcpy(values + i * columns + 2 * (size_t)number, parts + 2 * i, 2 * sizeof *parts);
    free(parts);
    return rc;
}

int cavs__get_metrics(struct cavs_session *s, double *values)
{
    int n = 2 * s->model->nmetrics, rc = check_counted(s);

    for (int k = 0; k < s->model->nmetrics && !rc; k++)
        rc = get_metric(s, k, values);
    for (int i = 0; i < s->engine.nshards && !rc; i++)
        values[i * (n + 1) + n] = 0;
    return rc;
}

int cavs__set_metrics(struct cavs_session *s, int shards, int metrics, const double *values)
{
    struct cavs__tensor *t = &s->engine.tensors[s->plan->metric];
    int n = 2 * metrics;

    cavs_session_reset_metrics(s);
    if (cavs__rank(s->rt->ranks) > 0) /* one rank has them for all */
        return CAVS_OK;
    for (int i = 0; i < shards; i++, values += n + 1) {
        float *to = cavs__tensor_acquire(t, i % s->engine.nshards, STARPU_RW);

        for (int k = 0; k < n; k++) {
            double sum;

            memcpy(&sum, to + 2 * k, sizeof sum);
            sum += values[k];
            memcpy(to + 2 * k, &sum, sizeof sum);
        }
        cavs__tensor_release(t, i % s->engine.nshards);
    }
    return CAVS_OK;
}

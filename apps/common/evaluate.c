/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over a set, and their numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/program.h"
#include "apps/common/peers.h"
#include "apps/common/sets.h"
#include "apps/common/stop.h"

int app_evaluate(struct app *a, enum app_set set)
{
    int size = set_size(a, set), rc = cavs_session_reset_metrics(a->session);
    int most = size < a->options.batch ? size : a->options.batch;
    int *batch = malloc(((size_t)most + 1) * sizeof *batch);

    if (!batch)
        rc = CAVS_ENOMEM;
    for (int first = 0, n; rc == 0 && peers_go_on(a) && first < size; first += n) {
        n = size - first < most ? size - first : most;
        for (int i = 0; i < n; i++)
            batch[i] = first + i;
        rc = set_evaluate(a, set, batch, n);
    }
    free(batch);
    return rc;
}

/* A recorded network has a metric once it has compared something: sentences of two words, say,
 * leave nothing to decide. */
int app_sum(struct app *a, const char *metric, double *sum, double *count)
{
    int rc = cavs_session_metric(a->session, metric, sum, count);

    if (rc != CAVS_EINVAL || !a->tape)
        return rc;
    *sum = *count = 0;
    return 0;
}

int app_mean(struct app *a, const char *metric, double *mean)
{
    double sum, count;
    int rc = app_sum(a, metric, &sum, &count);

    if (rc == 0)
        *mean = count > 0 ? sum / count : NAN;
    return rc;
}

void app_number(struct app *a, enum app_set set, const char *name, double value)
{
    char field[64];

    snprintf(field, sizeof field, "%s_%s", app_set_names[set], name);
    report_epoch_number(&a->report, field, value);
    if (!a->options.quiet)
        fprintf(stderr, "  %s %.4f", field, value);
}

bool app_is_train_loss(const struct program *p, const struct app_mean *m)
{
    return !p->loss_per_sample && strcmp(m->metric, p->loss) == 0 && strcmp(m->field, "loss") == 0;
}

/* The numbers of the metrics as they stand. */
static int report_numbers(struct app *a, enum app_set set)
{
    int rc = 0;

    for (const struct app_mean *m = a->program->means; rc == 0 && m && m->metric; m++) {
        double mean;

        if (set == APP_TRAIN && app_is_train_loss(a->program, m))
            continue; /* the epoch has said it */
        rc = app_mean(a, m->metric, &mean);
        if (rc == 0)
            app_number(a, set, m->field, mean);
    }
    if (rc == 0 && a->program->measure)
        rc = a->program->measure(a, set);
    if (!a->options.quiet && (a->program->means || a->program->measure))
        fputc('\n', stderr);
    return rc;
}

int app_report_set(struct app *a, enum app_set set)
{
    bool has_pass = set == APP_TRAIN || a->program->measures_alone;
    int rc = has_pass ? 0 : app_evaluate(a, set);

    if (rc == 0 && set != APP_TRAIN && stop_signal())
        return 1;
    return rc < 0 ? rc : report_numbers(a, set);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/sets.h"

#include "apps/common/progress.h"

/* ---- what there is --------------------------------------------------------------------------- */

bool set_is_there(const struct app *a, enum app_set set)
{
    return a->data[set] || a->recorded[set].first;
}

int set_size(const struct app *a, enum app_set set)
{
    return a->program->record ? a->recorded[set].n : cavs_data_size(a->data[set]);
}

int64_t set_vertices(const struct app *a, enum app_set set)
{
    const struct app_samples *s = &a->recorded[set];

    return a->program->record ? (int64_t)(s->first[s->n] - s->first[0])
                              : cavs_data_vertices(a->data[set], a->graph);
}

int64_t set_sample_vertices(const struct app *a, enum app_set set, int sample)
{
    const size_t *first = a->recorded[set].first;

    return a->program->record ? (int64_t)(first[sample + 1] - first[sample])
                              : cavs_data_sample_vertices(a->data[set], a->graph, sample);
}

/* ---- recorded sets --------------------------------------------------------------------------- */

void app_record_set(struct app *a, enum app_set set, int n, const size_t *first)
{
    a->recorded[set] = (struct app_samples){.n = n, .first = first, .hash = 14695981039346656037u};
    if (first)
        app_record_array(a, set, first, ((size_t)n + 1) * sizeof *first);
}

/* FNV-1a */
void app_record_array(struct app *a, enum app_set set, const void *bytes, size_t n)
{
    const unsigned char *b = bytes;
    uint64_t *hash = &a->recorded[set].hash;

    for (size_t i = 0; i < n; i++)
        *hash = (*hash ^ b[i]) * 1099511628211u;
}

int set_fingerprint(const struct app *a, enum app_set set, uint64_t *out)
{
    if (!a->program->record)
        return cavs_data_fingerprint(a->data[set], out);
    *out = a->recorded[set].hash;
    return 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* What went wrong in the program is worth more than what the tape says of that. */
static int run_recorded(struct app *a, enum cavs_tape_run run, enum app_set set, const int *samples,
                        int n)
{
    double started = app_now();
    int rc = cavs_tape_begin(a->tape, run);

    if (rc == 0)
        rc = a->program->record(a, set, samples, n);
    a->record_seconds += app_now() - started;
    return rc == 0 ? cavs_tape_finish(a->tape) : rc;
}

int set_evaluate(struct app *a, enum app_set set, const int *samples, int n)
{
    if (a->program->record)
        return run_recorded(a, CAVS_TAPE_EVALUATE, set, samples, n);
    if (a->program->evaluate && set != APP_TRAIN)
        return a->program->evaluate(a, a->data[set], samples, n);
    return cavs_session_evaluate(a->session, a->data[set], samples, n);
}

int set_train(struct app *a, const int *samples, int n)
{
    struct cavs_tape *other = a->tape;
    int rc;

    if (!a->program->record)
        return cavs_session_train(a->session, a->data[APP_TRAIN], samples, n);
    a->tape = a->training;
    rc = run_recorded(a, CAVS_TAPE_TRAIN, APP_TRAIN, samples, n);
    a->tape = other;
    return rc;
}

void sets_clear(struct app *a)
{
    for (int i = 0; i < APP_SETS; i++)
        cavs_data_destroy(a->data[i]);
}

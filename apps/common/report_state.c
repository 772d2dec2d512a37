/* SPDX-License-Identifier: Apache-2.0 */
/* report_state.c - the results so far, as checkpoints keep them. */
#include <math.h>

#include "apps/common/json_build.h"
#include "apps/common/report.h"

#define COUNTS "{s:i, s:I, s:I, s:I, s:I, s:I, s:I"
#define TIMES  ", s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:O, s:O, s:O, s:O, s:O}"

json_t *report_state(const struct report *r)
{
    const struct cavs_stats *s = &r->stats;

    return json_pack(COUNTS TIMES, "epochs", r->epochs, "samples", (json_int_t)r->samples,
                     "vertices", (json_int_t)r->vertices, "evaluated", (json_int_t)s->evaluated,
                     "batches", (json_int_t)s->batches, "tasks", (json_int_t)s->tasks,
                     "batching_tasks", (json_int_t)s->batching_tasks, "total_seconds", r->seconds,
                     "flops", s->flops, "schedule_s", s->schedule_s, "wait_s", s->wait_s,
                     "exposed_s", s->exposed_s, "product_s", s->product_s, "memory_s", s->memory_s,
                     "other_s", s->other_s, "update_s", s->update_s, "loss",
                     json_build_number(r->loss), "epoch_seconds", r->epoch_seconds, "epoch_loss",
                     r->epoch_loss, "history", r->history, "extra", r->extra, "epoch", r->epoch);
}

/* Arrays and objects of the report are replaced by those of the state. */
static void adopt(json_t **mine, json_t *other)
{
    json_incref(other);
    json_decref(*mine);
    *mine = other;
}

bool report_restore(struct report *r, const json_t *state)
{
    struct cavs_stats *s = &r->stats;
    json_int_t n[6];
    json_t *loss, *seconds, *losses, *history, *extra, *epoch = NULL;
    int epochs;

    if (json_unpack(
            (json_t *)state,
            COUNTS ", s:F, s:F, s:F, s:F, s:F, s:F, s:F, s:F, s?F, s:o, s:o, s:o, s:o, s:o, s?o}",
            "epochs", &epochs, "samples", &n[0], "vertices", &n[1], "evaluated", &n[2], "batches",
            &n[3], "tasks", &n[4], "batching_tasks", &n[5], "total_seconds", &r->seconds, "flops",
            &s->flops, "schedule_s", &s->schedule_s, "wait_s", &s->wait_s, "exposed_s",
            &s->exposed_s, "product_s", &s->product_s, "memory_s", &s->memory_s, "other_s",
            &s->other_s, "update_s", &s->update_s, "loss", &loss, "epoch_seconds", &seconds,
            "epoch_loss", &losses, "history", &history, "extra", &extra, "epoch", &epoch) != 0 ||
        !json_is_array(seconds) || !json_is_array(losses) || !json_is_array(history) ||
        !json_is_object(extra) || (epoch && !json_is_object(epoch)))
        return false;
    r->epochs = epochs;
    r->samples = n[0];
    r->vertices = n[1];
    s->evaluated = n[2];
    s->batches = n[3];
    s->tasks = n[4];
    s->batching_tasks = n[5];
    r->loss = json_is_number(loss) ? json_number_value(loss) : NAN;
    adopt(&r->epoch_seconds, seconds);
    adopt(&r->epoch_loss, losses);
    adopt(&r->history, history);
    if (epoch)
        adopt(&r->epoch, epoch);
    if (r->is_train_loss) /* which older checkpoints have among the others */
        json_object_del(extra, "train_loss");
    return json_object_update_missing(r->extra, extra) == 0;
}

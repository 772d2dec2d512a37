/* SPDX-License-Identifier: Apache-2.0 */
/* report_state.c - the results so far, as checkpoints keep them. */
#include <math.h>

#include "apps/common/json_build.h"
#include "apps/common/report.h"

#define PUT_COUNT(field)  json_build_set(&o, #field, json_integer(r->stats.field));
#define PUT_NUMBER(field) json_build_set(&o, #field, json_build_number(r->stats.field));

json_t *report_state(const struct report *r)
{
    json_t *o = json_pack("{s:i, s:I, s:I, s:f, s:o, s:O, s:O, s:O, s:O, s:O}", "epochs", r->epochs,
                          "samples", (json_int_t)r->samples, "vertices", (json_int_t)r->vertices,
                          "total_seconds", r->seconds, "loss", json_build_number(r->loss),
                          "epoch_seconds", r->epoch_seconds, "epoch_loss", r->epoch_loss, "history",
                          r->history, "extra", r->extra, "epoch", r->epoch);

    REPORT_SUMS(PUT_COUNT, PUT_NUMBER)
    return o;
}

/* Arrays and objects of the report are replaced by those of the state. */
static void adopt(json_t **mine, json_t *other)
{
    json_incref(other);
    json_decref(*mine);
    *mine = other;
}

/* Older checkpoints have fewer. */
#define TAKE_COUNT(field)  r->stats.field = json_integer_value(json_object_get(state, #field));
#define TAKE_NUMBER(field) r->stats.field = json_number_value(json_object_get(state, #field));

bool report_restore(struct report *r, const json_t *state)
{
    json_t *loss, *seconds, *losses, *history, *extra, *epoch = NULL;
    json_int_t n[2];
    int epochs;

    if (json_unpack((json_t *)state, "{s:i, s:I, s:I, s:F, s:o, s:o, s:o, s:o, s:o, s?o}", "epochs",
                    &epochs, "samples", &n[0], "vertices", &n[1], "total_seconds", &r->seconds,
                    "loss", &loss, "epoch_seconds", &seconds, "epoch_loss", &losses, "history",
                    &history, "extra", &extra, "epoch", &epoch) != 0 ||
        !json_is_array(seconds) || !json_is_array(losses) || !json_is_array(history) ||
        !json_is_object(extra) || (epoch && !json_is_object(epoch)))
        return false;
    r->epochs = epochs;
    r->samples = n[0];
    r->vertices = n[1];
    REPORT_SUMS(TAKE_COUNT, TAKE_NUMBER)
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

/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - the results of a run are collected; see report.h. */
#include "apps/common/report.h"

#include <math.h>

#include "apps/common/json_build.h"
#include "apps/common/utf8.h"

bool report_create(struct report *r, const char *app)
{
    *r = (struct report){.app = app, .unit = "samples", .loss = NAN};
    r->epoch_seconds = json_array();
    r->epoch_loss = json_array();
    r->rank_shards = json_array();
    r->history = json_array();
    r->epoch = json_object();
    r->notices = json_array();
    r->extra = json_object();
    return report_is_whole(r);
}

bool report_is_whole(const struct report *r)
{
    return r->epoch_seconds && r->epoch_loss && r->rank_shards && r->history && r->epoch &&
           r->notices && r->extra;
}

void report_destroy(struct report *r)
{
    json_decref(r->epoch_seconds);
    json_decref(r->epoch_loss);
    json_decref(r->rank_shards);
    json_decref(r->history);
    json_decref(r->epoch);
    json_decref(r->notices);
    json_decref(r->extra);
}

#define ADD(field) r->stats.field += s->field;

void report_add_work(struct report *r, double seconds, int64_t samples, int64_t vertices,
                     const struct cavs_stats *s)
{
    r->seconds += seconds;
    r->samples += samples;
    r->vertices += vertices;
    REPORT_SUMS(ADD, ADD)
    r->stats.tensor_bytes = s->tensor_bytes;
}

void report_add_epoch(struct report *r, double seconds, double loss)
{
    r->epochs++;
    r->loss = loss;
    json_build_append(&r->epoch_seconds, json_build_number(seconds));
    json_build_append(&r->epoch_loss, json_build_number(loss));
    json_build_set(&r->epoch, "epoch", json_integer(r->epochs));
    json_build_set(&r->epoch, "seconds", json_build_number(seconds));
    json_build_set(&r->epoch, "loss", json_build_number(loss));
    if (r->is_train_loss)
        json_build_set(&r->epoch, "train_loss", json_build_number(loss));
}

void report_epoch_number(struct report *r, const char *name, double value)
{
    report_number(r, name, value);
    report_of_epoch(r, name, value);
}

void report_of_epoch(struct report *r, const char *name, double value)
{
    json_build_set(&r->epoch, name, json_build_number(value));
}

void report_end_epoch(struct report *r)
{
    json_build_append(&r->history, r->epoch);
    r->epoch = json_object();
}

bool report_epoch_is_open(const struct report *r)
{
    return json_object_size(r->epoch) > 0;
}

void report_notice(struct report *r, const char *text)
{
    json_build_append(&r->notices, utf8_to_json(text));
}

void report_number(struct report *r, const char *name, double value)
{
    json_build_set(&r->extra, name, json_build_number(value));
}

void report_count(struct report *r, const char *name, int64_t value)
{
    json_build_set(&r->extra, name, json_integer(value));
}

void report_text(struct report *r, const char *name, const char *value)
{
    json_build_set(&r->extra, name, utf8_to_json(value));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h - the results of a run, as one line of JSON or as text for people.
 *
 * samples, vertices, tasks, flops and seconds are sums over all training epochs (with --infer: all
 * forward passes); reading data, starting workers and evaluation are not in them.
 */
#ifndef CAVS_APPS_REPORT_H
#define CAVS_APPS_REPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "apps/common/app_error.h"

/* Statistics that are sums over epochs, those of a run that is resumed too: counts, and numbers. */
#define REPORT_SUMS(COUNT, NUMBER) \
    COUNT(evaluated)               \
    COUNT(batches)                 \
    COUNT(tasks)                   \
    COUNT(batching_tasks)          \
    COUNT(launches)                \
    COUNT(device_vt[0])            \
    COUNT(device_vt[1])            \
    COUNT(vt_launches[0])          \
    COUNT(vt_launches[1])          \
    NUMBER(flops)                  \
    NUMBER(update_bytes)           \
    NUMBER(schedule_s)             \
    NUMBER(arrange_s)              \
    NUMBER(lay_out_s)              \
    NUMBER(submit_s)               \
    NUMBER(wait_s)                 \
    NUMBER(exposed_s)              \
    NUMBER(product_s)              \
    NUMBER(memory_s)               \
    NUMBER(other_s)                \
    NUMBER(update_s)

struct report {
    const char *app;
    const char *unit;           /* what people call samples */
    int epochs, workers, ranks; /* workers of each rank */
    int64_t bytes_sent;         /* gradients, by this rank to others */
    double exchange_s;          /* of the exchange with other ranks, after the gradients */
    int64_t samples, vertices;  /* vertices of input graphs, whatever is shared */
    double loss;                /* mean in the last epoch */
    bool is_train_loss;         /* JSON has it as train_loss, too, beside dev_loss and test_loss */
    double seconds;
    struct cavs_stats stats;
    bool measured; /* --measure: what workers do has been timed */
    /* GFLOP/s and GB/s; 0: not measured */
    double sgemm_peak, memory_peak;
    /* as json_build.h has it, NULL once memory was short: */
    json_t *epoch_seconds, *epoch_loss; /* arrays */
    json_t *rank_shards;                /* likewise, of the last batch */
    json_t *history;                    /* an array: an object with all numbers of each epoch */
    json_t *epoch;                      /* such an object, of the epoch at hand */
    json_t *notices;                    /* texts: what went on otherwise than asked for */
    json_t *extra;                      /* the program's own results: an object */
};

/* False when memory is short. */
bool report_create(struct report *r, const char *app);
void report_destroy(struct report *r);
/* False when memory was short for something that belongs to it: it cannot be printed any more. */
bool report_is_whole(const struct report *r);

/* Work that was done, in so many seconds. */
void report_add_work(struct report *r, double seconds, int64_t samples, int64_t vertices,
                     const struct cavs_stats *s);
/* An epoch is over; what report_epoch_number() adds belongs to it until report_end_epoch(). */
void report_add_epoch(struct report *r, double seconds, double loss);
/* A number of the epoch, which also is the result until there is a later one; NaN becomes null. */
void report_epoch_number(struct report *r, const char *name, double value);
/* One of the epoch alone. */
void report_of_epoch(struct report *r, const char *name, double value);
/* The epoch goes to the history. */
void report_end_epoch(struct report *r);
/* Between report_add_epoch() and report_end_epoch(). */
bool report_epoch_is_open(const struct report *r);
/* Something went on otherwise than asked for. */
void report_notice(struct report *r, const char *text);
/* Everything but the name, the workers and the notices, as an object (NULL: memory is short), and
 * back (false: it is none, or memory is short). */
json_t *report_state(const struct report *r);
bool report_restore(struct report *r, const json_t *state);
/* Results of the program's own; NaN becomes null. */
void report_number(struct report *r, const char *name, double value);
void report_count(struct report *r, const char *name, int64_t value);
void report_text(struct report *r, const char *name, const char *value);

/* 0, or a negative code when memory is short, for the report or before for a piece of it, or when
 * writing failed. */
int report_print(const struct report *r, FILE *to, bool as_json, struct app_error *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* report_print.c - the results of a run, as one line of JSON or as text for people. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "apps/common/json_build.h"
#include "apps/common/report.h"

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

static double peak_rss_mb(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss / 1024.0 : NAN;
}

static void put(json_t **o, const char *name, double value)
{
    json_build_set(o, name, json_build_number(value));
}

static void put_count(json_t **o, const char *name, int64_t value)
{
    json_build_set(o, name, json_integer(value));
}

/* What this work would have taken at least, with products at their peak and then updates at the
 * memory's. */
static double floor_seconds(const struct report *r)
{
    return 1e-9 * (r->stats.flops / r->sgemm_peak + ratio(r->stats.update_bytes, r->memory_peak));
}

static void put_speed(json_t **o, const struct report *r)
{
    double gflops = ratio(r->stats.flops, r->seconds) / 1e9;

    put(o, "seconds", r->seconds);
    put(o, "samples_per_s", ratio(r->samples, r->seconds));
    put(o, "vertices_per_s", ratio(r->vertices, r->seconds));
    put(o, "schedule_s", r->stats.schedule_s);
    put(o, "arrange_s", r->stats.arrange_s);
    put(o, "lay_out_s", r->stats.lay_out_s);
    put(o, "submit_s", r->stats.submit_s);
    put(o, "wait_s", r->stats.wait_s);
    put(o, "schedule_exposed_s", r->stats.exposed_s);
    put(o, "compute_s", r->seconds - r->stats.exposed_s);
    put(o, "product_s", r->measured ? r->stats.product_s : NAN);
    put(o, "memory_s", r->measured ? r->stats.memory_s : NAN);
    put(o, "other_s", r->measured ? r->stats.other_s : NAN);
    put(o, "update_s", r->measured ? r->stats.update_s : NAN);
    put(o, "flops", r->stats.flops);
    put(o, "gflops", gflops);
    put(o, "update_bytes", r->stats.update_bytes);
    if (r->sgemm_peak > 0) {
        put(o, "sgemm_peak_gflops", r->sgemm_peak);
        put(o, "roofline", gflops / r->sgemm_peak);
        put(o, "memory_peak_gb_per_s", r->memory_peak);
        put(o, "floor_s", floor_seconds(r));
    }
}

/* On devices, on average; which: forward 0, backward 1. */
static double launches_of_a_vt(const struct report *r, int which)
{
    const struct cavs_stats *s = &r->stats;

    return s->device_vt[which] > 0 ? (double)s->vt_launches[which] / (double)s->device_vt[which]
                                   : NAN;
}

/* NULL: memory is short. */
static json_t *report_object(const struct report *r)
{
    json_t *o = json_object();

    json_build_set(&o, "app", json_string(r->app));
    put_count(&o, "samples", r->samples);
    put_count(&o, "vertices", r->vertices);
    put_count(&o, "evaluated", r->stats.evaluated);
    put_count(&o, "batches", r->stats.batches);
    put_count(&o, "tasks", r->stats.tasks);
    put_count(&o, "batching_tasks", r->stats.batching_tasks);
    put_count(&o, "launches", r->stats.launches);
    put(&o, "vt_launches_forward", launches_of_a_vt(r, 0));
    put(&o, "vt_launches_backward", launches_of_a_vt(r, 1));
    put_count(&o, "epochs", r->epochs);
    put(&o, "loss", r->loss);
    if (r->is_train_loss && r->epochs)
        put(&o, "train_loss", r->loss);
    put_speed(&o, r);
    put_count(&o, "workers", r->workers);
    put_count(&o, "ranks", r->ranks);
    if (r->ranks > 1) {
        json_build_set(&o, "rank_shards", json_incref(r->rank_shards));
        put_count(&o, "bytes_sent", r->bytes_sent);
        put(&o, "exchange_exposed_s", r->exchange_s);
    }
    put(&o, "tensor_mb", r->stats.tensor_bytes / 1048576.0);
    put(&o, "rss_mb", peak_rss_mb());
    json_build_set(&o, "epoch_seconds", json_incref(r->epoch_seconds));
    json_build_set(&o, "epoch_loss", json_incref(r->epoch_loss));
    json_build_set(&o, "history", json_incref(r->history));
    json_build_set(&o, "notices", json_incref(r->notices));
    if (json_object_update(o, r->extra) == 0)
        return o;
    json_decref(o);
    return NULL;
}

static void print_extra(FILE *to, const json_t *extra)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)extra, name, value)
    {
        if (json_is_string(value))
            fprintf(to, "  %-22s %s\n", name, json_string_value(value));
        else if (json_is_number(value))
            fprintf(to, "  %-22s %.6g\n", name, json_number_value(value));
        else if (json_is_null(value)) /* which stands for both NaN and infinity in JSON */
            fprintf(to, "  %-22s not finite\n", name);
    }
}

/* "1 epoch", "2 epochs" */
static const char *plural(int64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_ranks(FILE *to, const struct report *r)
{
    json_t *shards;
    size_t i;

    fprintf(to, "  %-22s %d, of", "ranks", r->ranks);
    json_array_foreach(r->rank_shards, i, shards)
    {
        fprintf(to, "%s%lld", i ? ", " : " ", (long long)json_integer_value(shards));
    }
    fprintf(to,
            " shards; this one has sent %.1f MB, and had the last from others %.2f s after its "
            "gradients\n",
            (double)r->bytes_sent * 1e-6, r->exchange_s);
}

static void print_speed(FILE *to, const struct report *r)
{
    double gflops = ratio(r->stats.flops, r->seconds) / 1e9;

    fprintf(to, "  %-22s %.1f %s/s, %.0f vertices/s on %d worker%s%s\n", "speed",
            ratio(r->samples, r->seconds), r->unit, ratio(r->vertices, r->seconds), r->workers,
            plural(r->workers), r->ranks > 1 ? " a rank" : "");
    if (r->ranks > 1)
        print_ranks(to, r);
    fprintf(to, "  %-22s %lld tasks for %lld batch%s; %.2f s scheduling\n", "tasks",
            (long long)r->stats.tasks, (long long)r->stats.batches,
            r->stats.batches == 1 ? "" : "es", r->stats.schedule_s);
    fprintf(to, "  %-22s %.1f GFLOP/s", "arithmetic", gflops);
    if (r->sgemm_peak > 0)
        fprintf(to, ", %.0f %% of %.1f GFLOP/s in plain matrix products",
                100 * gflops / r->sgemm_peak, r->sgemm_peak);
    fputc('\n', to);
    if (r->sgemm_peak > 0 && r->stats.update_bytes > 0)
        fprintf(to,
                "  %-22s %.0f %% of the time: these products, and updates of %.1f MB a batch at "
                "%.1f GB/s\n",
                "floor", 100 * ratio(floor_seconds(r), r->seconds),
                1e-6 * ratio(r->stats.update_bytes, r->stats.batches), r->memory_peak);
}

/* Of devices, where some took part. */
static void print_launches(FILE *to, const struct report *r)
{
    if (r->stats.launches == 0)
        return;
    fprintf(to, "  %-22s %lld", "launches", (long long)r->stats.launches);
    if (r->stats.device_vt[0] > 0)
        fprintf(to, "; %.1f a batching task forward", launches_of_a_vt(r, 0));
    if (r->stats.device_vt[1] > 0)
        fprintf(to, ", %.1f backward", launches_of_a_vt(r, 1));
    fputc('\n', to);
}

static void print_text(FILE *to, const struct report *r)
{
    int unit = (int)strlen(r->unit) - (r->samples == 1); /* "1 sample" */

    if (r->epochs)
        fprintf(to, "%s: %d epoch%s, %lld %.*s, %lld %s in %.2f s\n  %-22s %.6g\n", r->app,
                r->epochs, plural(r->epochs), (long long)r->samples, unit, r->unit,
                (long long)r->vertices, r->vertices == 1 ? "vertex" : "vertices", r->seconds,
                "loss", r->loss);
    else
        fprintf(to, "%s: nothing was trained\n", r->app);
    print_extra(to, r->extra);
    if (r->samples)
        print_speed(to, r);
    print_launches(to, r);
    fprintf(to, "  %-22s %.0f MB\n", "memory", peak_rss_mb());
}

int report_print(const struct report *r, FILE *to, bool as_json, struct app_error *e)
{
    json_t *o = NULL;
    int rc = 0;

    if (as_json)
        rc = json_build_write(o = report_object(r), 12, to);
    else
        print_text(to, r);
    json_decref(o);
    if (rc < 0 || !report_is_whole(r))
        return app_fail(e, CAVS_ENOMEM, "no memory for the results");
    return fflush(to) == 0 && !ferror(to)
               ? 0
               : app_fail(e, CAVS_EIO, "cannot write the results to stdout: %s", strerror(errno));
}

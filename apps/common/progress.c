/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double app_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

struct progress progress_start(bool quiet, const char *samples)
{
    bool terminal = isatty(STDERR_FILENO);

    return (struct progress){
        .quiet = quiet,
        .terminal = terminal,
        .samples = samples,
        .interval = terminal ? 1 : 10,
        .last = app_now(),
    };
}

bool progress_due(const struct progress *p)
{
    return !p->quiet && app_now() - p->last >= p->interval;
}

static double rate(double n, double seconds)
{
    return seconds > 0 ? n / seconds : 0;
}

/* "1:05:09" or "5:09" */
static void format_time(char *out, size_t size, double seconds)
{
    long s = seconds + 0.5;

    if (s >= 3600)
        snprintf(out, size, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    else
        snprintf(out, size, "%ld:%02ld", s / 60, s % 60);
}

void progress_show(struct progress *p, const struct progress_state *s)
{
    double speed = rate(s->all_done, s->all_seconds);
    double left = (double)s->epochs * s->samples - s->all_done;
    char time_left[32];

    if (p->quiet)
        return;
    format_time(time_left, sizeof time_left, rate(left, speed));
    fprintf(stderr, "%sepoch %d/%d  batch %d/%d  loss %.4g  %.0f %s/s  %s left%s",
            p->terminal ? "\r" : "", s->epoch, s->epochs, s->batch, s->batches, s->loss, speed,
            p->samples, time_left, p->terminal ? "\033[K" : "\n");
    fflush(stderr);
    p->last = app_now();
}

void progress_epoch(struct progress *p, const struct progress_state *s, double seconds)
{
    if (p->quiet)
        return;
    fprintf(stderr, "%sepoch %d/%d  loss %.6g  %.0f %s/s  %.2f s%s\n", p->terminal ? "\r" : "",
            s->epoch, s->epochs, s->loss, rate(s->done, seconds), p->samples, seconds,
            p->terminal ? "\033[K" : "");
    p->last = app_now();
}

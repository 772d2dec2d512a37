/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#ifdef CAVS_SIMULATED
#include <starpu.h>
#endif

double app_now(void)
{
#ifdef CAVS_SIMULATED
    return starpu_timing_now() * 1e-6;
#else
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
#endif
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

/* What a line of the terminal has room for: a longer one would leave a line behind each time it is
 * refreshed.  The last column stays empty, as some terminals go on to the next line when it is
 * written. */
static int room(const struct progress *p, int length)
{
    struct winsize w;

    if (!p->terminal || ioctl(STDERR_FILENO, TIOCGWINSZ, &w) != 0 || w.ws_col < 2)
        return length;
    return length < w.ws_col ? length : w.ws_col - 1;
}

/* A line in the place of the one that was shown last. */
static __attribute__((format(printf, 2, 3))) void show_line(const struct progress *p,
                                                            const char *format, ...)
{
    char line[256];
    va_list ap;

    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    fprintf(stderr, "%s%.*s%s", p->terminal ? "\r" : "", room(p, (int)strlen(line)), line,
            p->terminal ? "\033[K" : "");
}

void progress_show(struct progress *p, const struct progress_state *s)
{
    double speed = rate(s->all_done, s->all_seconds);
    double left = (double)s->epochs * s->samples - s->all_done;
    char time_left[32];

    if (p->quiet)
        return;
    format_time(time_left, sizeof time_left, rate(left, speed));
    show_line(p, "epoch %d/%d  batch %d/%d  loss %.4g  %.0f %s/s  %s left", s->epoch, s->epochs,
              s->batch, s->batches, s->loss, speed, p->samples, time_left);
    if (!p->terminal)
        fputc('\n', stderr);
    fflush(stderr);
    p->last = app_now();
}

void progress_epoch(struct progress *p, const struct progress_state *s, double seconds)
{
    if (p->quiet)
        return;
    show_line(p, "epoch %d/%d  loss %.6g  %.0f %s/s  %.2f s", s->epoch, s->epochs, s->loss,
              rate(s->done, seconds), p->samples, seconds);
    fputc('\n', stderr);
    p->last = app_now();
}

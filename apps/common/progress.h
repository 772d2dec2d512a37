/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how far training has come, on stderr.
 *
 * On a terminal one line that is refreshed once a second, cut to the terminal's width, elsewhere a
 * line every ten seconds; both with a line at the end of each epoch.  Reading the loss waits for
 * the batches under way, so callers ask progress_due() first and read it only then.
 */
#ifndef CAVS_APPS_PROGRESS_H
#define CAVS_APPS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool quiet, terminal;
    const char *samples;
    double interval, last; /* seconds */
};

/* What there is to say. */
struct progress_state {
    int epoch, epochs;  /* from 1 */
    int done, samples;  /* in this epoch */
    int batch, batches; /* in this epoch */
    double loss;        /* so far in this epoch */
    int64_t all_done;   /* samples since the start, */
    double all_seconds; /* and the time that they took */
};

double app_now(void); /* seconds of the monotonic clock */

/* `samples`: what people call them; lives as long. */
struct progress progress_start(bool quiet, const char *samples);
/* True when it is time for another progress_show(). */
bool progress_due(const struct progress *p);
void progress_show(struct progress *p, const struct progress_state *s);
/* The epoch's last line, which stays. */
void progress_epoch(struct progress *p, const struct progress_state *s, double seconds);

#endif

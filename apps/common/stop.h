/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stop.h - SIGINT, SIGTERM and SIGHUP ask a run to end where it can be taken up again: after the
 * batch at hand, with a checkpoint.  A second signal ends it at once, and so does one that comes
 * while data are read or made.  Who reads what others still write need not wait for them.
 */
#ifndef CAVS_APPS_STOP_H
#define CAVS_APPS_STOP_H

#include <stdbool.h>
#include <stdio.h>

/* From now on a first signal ends the program at once, in order, as nothing is there yet that could
 * be kept: reading or making data may take minutes. */
void stop_catch_signals(const char *program);
/* From now on a first signal is noted. */
void stop_after_batches(void);
/* From now on a first signal also ends what is read from that file, if it is no regular one: who
 * waits there for more finds its end.  NULL: no more so. */
void stop_ends_reading(FILE *in);
/* It has: what was read last need not be whole. */
bool stop_has_ended_reading(void);
/* The numbers of these signals, from i = 0 on; 0 behind the last. */
int stop_signal_at(int i);
/* The number of the signal that was noted; 0: none. */
int stop_signal(void);
/* Several ranks run: from now on a signal counts once all know of it, by stop_agree(). */
void stop_share(void);
void stop_agree(int signal_number);
/* What came to this process. */
int stop_noted(void);
/* "SIGINT" or so */
const char *stop_signal_name(void);

#endif

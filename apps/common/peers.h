/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peers.h - a program of which mpirun has started several processes, the ranks.
 *
 * All ranks do the same with the same data and options, and the library shares the work out.  Only
 * rank 0 says something and writes files.  What depends on one rank's clock or signals is agreed on
 * with each batch, so that no rank goes another way.
 */
#ifndef CAVS_APPS_PEERS_H
#define CAVS_APPS_PEERS_H

#include "apps/common/program.h"

/* Bits that a rank raises for all. */
enum { PEERS_PROGRESS = 1, PEERS_CHECKPOINT = 2, PEERS_SIGNALS = 4 /* and above: stop.h's */ };

/* Before anything is said: this process is silent from now on if it is not the first. */
void peers_hush(void);
/* It is the first one, or alone; known before the runtime is. */
bool peers_is_first(void);
/* The runtime is there: program, options and data have to be the same on all ranks. */
int peers_compare(struct app *a);
/* Before a batch: its own bits, and the signal that came.  After it: what all have raised; a signal
 * then counts. */
void peers_raise(struct app *a, unsigned bits);
unsigned peers_raised(struct app *a);
/* Both between two of many batches; before the first and behind the last, too.  Whether no signal
 * counts. */
bool peers_go_on(struct app *a);
/* An error has ended this rank: says so, if the first has not done it by then, and ends all. */
void peers_fail(struct app *a, int rc);

#endif

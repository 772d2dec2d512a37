/* SPDX-License-Identifier: Apache-2.0 */
/* tape_rows.h - values of recorded symbols that a program wants to look at, all of one width, in
 * one array. */
#ifndef CAVS_APPS_TAPE_ROWS_H
#define CAVS_APPS_TAPE_ROWS_H

#include <stddef.h>

#include "core/cavs.h"

/* Start from a zeroed struct. */
struct tape_rows {
    int width;
    size_t n;
    struct cavs_symbol **symbol; /* [n]: the caller's to fill in */
    float *numbers;              /* [n][width]: by tape_rows_compute() */
    float **row;
    size_t symbol_room, numbers_room, row_room;
};

/* Room for n symbols of that width: 0 or CAVS_ENOMEM.  What was in there is kept as far as it goes,
 * if the width is the same. */
int tape_rows_reserve(struct tape_rows *r, size_t n, int width);
/* Evaluates all of them at once: 0 or a negative code. */
int tape_rows_compute(struct tape_rows *r, struct cavs_tape *t);
void tape_rows_clear(struct tape_rows *r);

#endif

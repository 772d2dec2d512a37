/* SPDX-License-Identifier: Apache-2.0 */
/* number_rows.h - a text file of whole numbers, one row of them a line. */
#ifndef CAVS_APPS_NUMBER_ROWS_H
#define CAVS_APPS_NUMBER_ROWS_H

#include <stdio.h>

#include "apps/common/app_error.h"

struct number_rows {
    FILE *in;
    const char *name;
    size_t line;    /* of the present row, from 1 */
    int n;          /* numbers in it */
    int *value;     /* [n] */
    size_t *column; /* [n]: where each begins, from 1, for messages */
    char *text;
    size_t text_cap, value_cap, column_cap;
};

/* Reads the next row.  1, 0 at the end of the file, or a negative code. */
int number_rows_next(struct number_rows *r, struct app_error *e);
/* Frees the arrays; the file stays open. */
void number_rows_clear(struct number_rows *r);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* wide_rows.h - packed data that are large in no time: samples of one vertex with a wide row. */
#ifndef CAVS_TESTS_WIDE_ROWS_H
#define CAVS_TESTS_WIDE_ROWS_H

#include "core/cavs.h"

enum { WIDE_ROW = 16384 /* floats: 16 samples a megabyte */ };

/* NULL, and 0 or a cavs_error, where something fails. */
struct cavs_model *wide_rows_model(void);
int wide_rows_pack(const struct cavs_model *m, const char *path, int samples);
/* The numbers 0 to n - 1 in some order. */
void wide_rows_shuffle(int *order, int n);
/* What /proc/self/status says of this process in kB, in MB. */
int wide_rows_status(const char *field);

#endif

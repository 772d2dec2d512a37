/* SPDX-License-Identifier: Apache-2.0 */
/* answered_rows.h - rows of evaluated symbols and their gradients, on their way to the user. */
#ifndef CAVS_CORE_TAPE_ANSWERED_ROWS_H
#define CAVS_CORE_TAPE_ANSWERED_ROWS_H

#include "core/tape/tape.h"

/* Those of the n symbols that are computed, or their gradients; zeros for what no gradient reaches,
 * and for what is not computed. */
int cavs__copy_rows(struct cavs_tape *t, bool gradients, int n, struct cavs_symbol *const *xs,
                    float *const *rows);
/* The row of a symbol that is not computed: a constant's, or a parameter's.  Others stay as they
 * are. */
int cavs__copy_fixed(struct cavs_tape *t, const struct cavs_symbol *x, float *row);

#endif

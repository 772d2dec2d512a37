/* SPDX-License-Identifier: Apache-2.0 */
/* answered_rows.h - rows of evaluated symbols and their gradients, on their way to the user. */
#ifndef CAVS_CORE_TAPE_ANSWERED_ROWS_H
#define CAVS_CORE_TAPE_ANSWERED_ROWS_H

#include "core/tape/tape.h"

/* Copies the rows of the n symbols, or their gradients.  Zeros stand for what no gradient reaches,
 * and for symbols that are not computed. */
int cavs__copy_rows(struct cavs_tape *t, bool gradients, int n, struct cavs_symbol *const *xs,
                    float *const *rows);
/* Copies the row of a constant or a parameter, neither of which is computed; the row of any other
 * symbol is left as it is. */
int cavs__copy_fixed(struct cavs_tape *t, const struct cavs_symbol *x, float *row);

#endif

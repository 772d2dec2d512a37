/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probes.h - every operator that has a gradient, applied once: element-wise ones with every way of
 * repeating a column, the others as they are written in probes.c.
 */
#ifndef CAVS_TESTS_PROBES_H
#define CAVS_TESTS_PROBES_H

#include "tests/trial.h"

enum { PROBE_VERTICES = 7, PROBE_WIDTH = 3 /* of the widest operand */ };
#define PROBE_LIMIT 0.8f /* the attribute of clip and huber */

/* One operator applied in function f to up to two operands; what it gives is weighed and summed. */
struct probe {
    char name[64];
    struct cavs_symbol *(*apply)(const struct probe *p, struct cavs_function *f,
                                 struct cavs_symbol *a, struct cavs_symbol *b);
    int op;     /* in the element-wise table */
    int wa, wb; /* widths of the operands; wb 0: there is one */
    float s;
};

/* All of them, and how many. */
int probe_list(const struct probe **list);
/* A finished model: the operands are rows of the parameters "a" and "b", one for each vertex; the
 * loss is a sum of the result with weights that differ from column to column, so that no mistake
 * cancels out. */
struct cavs_model *probe_model(const struct probe *p);

#endif

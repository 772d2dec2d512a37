/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - the records of all operators, by number. */
#include "core/declare/operator.h"

const struct cavs__operator *const cavs__operators[] = {
#define OPERATOR(NAME, record) [CAVS__OP_##NAME] = &cavs__operator_##record,
#include "core/declare/operators.def"
#undef OPERATOR
};

_Static_assert(sizeof cavs__operators / sizeof *cavs__operators == CAVS__OP_COUNT,
               "every operator has a record");

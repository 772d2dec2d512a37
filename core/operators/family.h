/* SPDX-License-Identifier: Apache-2.0 */
/*
 * family.h - what the files of this room share.
 *
 * Each file tells all of a family of operators.  Failures of calls are recorded in the function
 * (cavs__function_fail), NULL operands pass through in silence: they have been reported already.
 */
#ifndef CAVS_CORE_OPERATORS_FAMILY_H
#define CAVS_CORE_OPERATORS_FAMILY_H

#include "codelets/kernels/kernel_table.h"
#include "core/compile/diff.h"
#include "core/compile/emit.h"
#include "core/base/error.h"
#include "core/declare/build.h"

/* lists.c: the domain of that list of f, made at first mention, and that of its children; 0:
 * reported */
int cavs__list_domain(struct cavs_function *f, struct cavs__list like, const char *op,
                      struct cavs_place at);
int cavs__children_domain(struct cavs_function *f, const char *op, struct cavs_place at);

#endif

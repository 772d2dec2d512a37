/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emit.h - what the steps of a part are made with (emit.c).
 *
 * An operator that is no element-wise one makes one step of the part: a call of its kernel with a
 * view for each operand, the result last.  Operands always come back; what went wrong with them is
 * in p->error.
 */
#ifndef CAVS_CORE_COMPILE_EMIT_H
#define CAVS_CORE_COMPILE_EMIT_H

#include "core/compile/place.h"
#include "core/declare/operator.h"

/* A step that calls a kernel, with room for so many views, the last of them outputs; valid until
 * the next one is made.  0 or a code. */
int cavs__kernel_step(struct cavs__placer *p, const struct cavs__kernel *kernel, int nviews,
                      int noutputs, struct cavs__step **made);
/* Notes for messages what the step does, and where the user asked for it; the n symbols are
 * copied. */
int cavs__describe_step(struct cavs__step *s, const char *label, int n,
                        const struct cavs_symbol *const *origin);
/* emit_group.c: one step for the set of items that begins at `number`, and for later ones that have
 * the same rows. */
int cavs__emit_group(struct cavs__placer *p, int number);

/* A step that calls the kernel of x's operator, with room for so many views; valid until the next
 * one is made.  0 or a code. */
int cavs__new_step(struct cavs__placer *p, const struct cavs_symbol *x, int nviews,
                   struct cavs__step **made);
/* Operand i of x, for steps in x's domain. */
struct cavs__operand cavs__read_operand(struct cavs__placer *p, const struct cavs_symbol *x, int i);
/* Where the value of x is to be written. */
struct cavs__operand cavs__result_operand(const struct cavs__placer *p,
                                          const struct cavs_symbol *x);
/* The columns of a tensor whose rows are not vertices: of a parameter, its gradient or a metric. */
struct cavs__operand cavs__fixed_operand(int tensor, int col, int cols);

/* Emits a kernel whose views are the operands, followed by the result. */
int cavs__emit_plain(struct cavs__placer *p, const struct cavs_symbol *x);
/* The same for a kernel whose result is added to the gradient of x's parameter. */
int cavs__emit_param_grad(struct cavs__placer *p, const struct cavs_symbol *x);
/* Sums of rows of a tensor, which a pair of CSR sections names. */
int cavs__emit_sum_rows(struct cavs__placer *p, const struct cavs_symbol *x, int tensor,
                        struct cavs__section ptr, struct cavs__section index);

#endif

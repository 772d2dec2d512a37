/* SPDX-License-Identifier: Apache-2.0 */
/*
 * passes.h - what cavs_model_finish() does to the symbols of a declared model, in this order.  Each
 * returns 0 or a cavs_error.
 */
#ifndef CAVS_CORE_COMPILE_PASSES_H
#define CAVS_CORE_COMPILE_PASSES_H

#include "core/declare/model.h"

int cavs__pass_merge(
    struct cavs_model *m); /* join_products.c: products that share an operand become one */
int cavs__pass_share(struct cavs_model *m); /* share.c: products of a vertex's own inputs alone */
int cavs__pass_autodiff(struct cavs_model *m); /* autodiff.c: appends dF */
/* The same for one function of a tape, whose symbols know what needs a gradient. */
int cavs__differentiate(struct cavs_function *f);
int cavs__pass_classify(struct cavs_model *m); /* classify.c: eager, chain, lazy */
void cavs__pass_live(struct cavs_model *m);    /* classify.c: forward and backward prune */
/* Both for one function of a tape: whatever it computes is the chain. */
void cavs__classify_recorded(struct cavs_function *f);

/* needs_grad.c: one sweep over a stage, given whether its gathered state is trained; tells whether
 * what it scatters is. */
bool cavs__mark_needs_grad(struct cavs_stage *s, bool state);
/* One symbol, after its operands. */
bool cavs__symbol_needs_grad(const struct cavs_symbol *x, bool state);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* optimizer.h - what becomes of gradients: one task per parameter, by a rule, with what the rule
 * keeps of each. */
#ifndef CAVS_CORE_RUN_OPTIMIZER_H
#define CAVS_CORE_RUN_OPTIMIZER_H

#include "codelets/update.h"
#include "core/run/engine.h"
#include "core/run/exchange.h"
#include "core/run/store.h"

struct cavs__optimizer {
    struct starpu_codelet update_codelet, norm_codelet, rows_codelet;
    struct cavs__update rule;
    float clip;
    struct cavs__store *store;
    struct cavs__store_entry *
        *stored;               /* [nstored] by number of the parameter; NULL: it is merged */
    struct cavs__tensor norms; /* sums of squares of gradients, one double per parameter */
    /* [nstored] lists of touched rows of looked-up parameters, a chunk for each slot */
    struct cavs__tensor *touched_lists;
    struct cavs__exchange *exchange; /* NULL: the process is alone */
    double bytes;                    /* of parameters and states that updates read and wrote */
};

/* optimizer.c.  A zeroed one can be freed.  other: whose parameters it shares, or NULL. */
int cavs__optimizer_init(struct cavs__optimizer *o, struct cavs__engine *e,
                         const struct cavs__optimizer *other);
void cavs__optimizer_free(struct cavs__optimizer *o, const struct cavs_model *m);
/* Makes what the optimizer keeps of a parameter that was taken from the store. */
int cavs__optimizer_add(struct cavs__optimizer *o, struct cavs__engine *e,
                        const struct cavs_param *p);
/* Lists where the gradients of looked-up parameters will be, for a batch that has any.  For
 * parameters without a dense gradient the ranks tell one another: exchange_lists.c. */
int cavs__list_gradients(struct cavs__optimizer *o, struct cavs__engine *e,
                         const struct cavs__batch *b, int slot);
/* Does a session with that plan update the parameter? */
bool cavs__is_trained(const struct cavs__plan *plan, const struct cavs_param *p);
/* looked_up.c: adds the gradients of looked-up rows to dense ones, where a parameter has both;
 * after all other gradients of the batch have been submitted. */
int cavs__submit_looked_up(struct cavs__optimizer *o, struct cavs__engine *e,
                           const struct cavs__batch *b, int nshards, int slot);
/* submit_updates.c: one update of each trained parameter, by the gradients of the batch: of all or
 * of none. */
int cavs__submit_updates(struct cavs__optimizer *o, struct cavs__engine *e,
                         const struct cavs__batch *b, int slot);

#endif

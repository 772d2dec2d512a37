/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.h - products whose panels several workers claim.
 *
 * A chain of thin V_t is run by one worker, and each V_t reads all weights again.  Where these do
 * not fit one second-level cache they come from far each time, while other workers have nothing to
 * do.  So the worker that runs such a task, its owner, may open its products to helpers: each
 * product's panels are claimed by everybody, one or a few at a time, first of an own part of them,
 * which is the same for each product by the same weights and so stays in the own cache, then what
 * others have not begun.  The owner goes on when all are done.  A helper that never comes, or goes
 * early, leaves more to the owner, and nothing waits for it but what it has claimed.
 *
 * A panel's numbers are computed as the whole product computes them (gemm.h), whoever does it.
 */
#ifndef CAVS_CODELETS_PRODUCTS_CLAIMS_H
#define CAVS_CODELETS_PRODUCTS_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CAVS__CLAIMANTS = 4 /* the owner, and helpers at most */ };

struct cavs__claims;

/* Bytes of one, and the one in such a room, which has any alignment. */
size_t cavs__claims_bytes(void);
struct cavs__claims *cavs__claims_init(void *room);

/* From here on the products of this thread are open, by one thread at a time; NULL: no more.
 * Returns what was open. */
struct cavs__claims *cavs__claims_open(struct cavs__claims *c);
/* None will be opened any more. */
void cavs__claims_close(struct cavs__claims *c);

/* Helps with its products until it is closed, or nothing has come for a while.  sum: of nanoseconds
 * that have gone into them; NULL: nobody asks. */
void cavs__claims_help(struct cavs__claims *c, uint64_t *sum);

/* Panels that helpers have claimed so far. */
int64_t cavs__claims_by_helpers(const struct cavs__claims *c);

/* y (m, n) = or += x (m, k) w (k, n), w in panels, as gemm_panels() of the provider in use; by all
 * claimants, where this thread has opened its products and somebody helps. */
void cavs__claimed_product(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                           ptrdiff_t pitch, float *y, ptrdiff_t ldy, bool accumulate);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claims.h - work of one task whose units several workers claim: panels of a product, rows of a
 * gradient or of an update.
 *
 * A chain of thin V_t is run by one worker, and each V_t reads all weights again.  Where these do
 * not fit one second-level cache they come from far each time, while other workers have nothing to
 * do.  So the worker that runs such a task, its owner, may open its work to helpers: the units of
 * each are claimed by everybody, one or a few at a time, first of an own part of them, then what
 * others have not begun.  The owner goes on when all are done.  A helper that never comes, or goes
 * early, leaves more to the owner, and nothing waits for it but what it has claimed.
 *
 * A part belongs to a seat, and a worker asks for the same seat each time: what it has read and
 * written before is in its own cache.  A cache line that one core writes after another has read it
 * costs ten times what one of its own does (Zen 4: 10 GB/s, and 100), where these share a cache.
 *
 * A unit's numbers are computed as the whole computes them (gemm.h), whoever does it.
 */
#ifndef CAVS_CODELETS_PRODUCTS_CLAIMS_H
#define CAVS_CODELETS_PRODUCTS_CLAIMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codelets/products/gemm.h"

enum {
    CAVS__CLAIMANTS = 4,       /* the owner, and helpers at most */
    CAVS__CLAIMED_BYTES = 320, /* that say what work is */
    CAVS__CLAIMED_PRODUCTS = 4 /* at once, at most */
};

/* Units from .. to-1 of some work, by who has that seat of the claimants. */
typedef void cavs__claimed_work(const void *what, int claimant, int from, int to);

struct cavs__claims;

/* Bytes of one, and the one in such a room, which has any alignment, for so many claimants.
 * patience: nanoseconds without anything before a helper goes. */
size_t cavs__claims_bytes(void);
struct cavs__claims *cavs__claims_init(void *room, int claimants, int patience);

/* From here on the work of this thread is open, by one thread at a time; NULL: no more.  seat: the
 * one it would like.  Returns what was open. */
struct cavs__claims *cavs__claims_open(struct cavs__claims *c, int seat);
/* None will be opened any more. */
void cavs__claims_close(struct cavs__claims *c);

/* Helps with its work until it is closed, or nothing has come for a while.  sum: of nanoseconds
 * that have gone into it; NULL: nobody asks. */
void cavs__claims_help(struct cavs__claims *c, int seat, uint64_t *sum);

/* So many, at most, claim what this thread has to do: 1 where it has not opened its work. */
int cavs__claimants(void);

/* Units of some work, in any order by all claimants where this thread has opened its work; else in
 * one go.  what: so many bytes, at most CAVS__CLAIMED_BYTES, of which all get a copy; begins: the
 * first unit of each claimant's part, and how many there are; key: the same for all work that reads
 * the same memory. */
void cavs__claimed(cavs__claimed_work *run, const void *what, size_t bytes, const int *begins,
                   uintptr_t key);
/* The same of so many units, in parts of equal size. */
void cavs__claimed_evenly(cavs__claimed_work *run, const void *what, size_t bytes, int units,
                          uintptr_t key);

/* ---- claimed_products.c ---- */

/* y (m, n) = or += x (m, k) w (k, n), w in panels; bf16: in those of products of bfloat16, whose
 * pitch is in pairs; near: which are in L2 already. */
struct cavs__panel_product {
    int m, n, k;
    bool accumulate, bf16, near;
    const float *x, *w;
    float *y;
    ptrdiff_t ldx, pitch, ldy;
};

/* Up to CAVS__CLAIMED_PRODUCTS, one at least, none of which touches what another one writes, as
 * gemm_panels() or gemm_near() of the provider in use, or gemm() of that of bfloat16 products,
 * makes them; by all claimants, where this thread has opened its work and what is multiplied by is
 * large. */
void cavs__claimed_products(int n, const struct cavs__panel_product *p);

/* ---- claimed_gradient.c ---- */

/* dw (k, n) = or += x^T dy, x (m, k), dy (m, n). */
struct cavs__gradient_product {
    int m, n, k;
    bool accumulate, bf16;
    struct cavs__gemm_rows x, dy;
    float *dw;
    ptrdiff_t lddw;
};

/* As gemm_tn_rows() of the provider in use, or gemm_tn() of that of bfloat16 products, makes it; by
 * all claimants, where this thread has opened its work and there is enough to multiply. */
void cavs__claimed_gradient(const struct cavs__gradient_product *p);

#endif

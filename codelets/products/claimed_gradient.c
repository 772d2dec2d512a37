/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claimed_gradient.c - the gradient of a parameter, whose rows are claimed (claims.h): where one
 * task makes all of it, others have nothing to do meanwhile.
 */
#include "codelets/products/bf16.h"
#include "codelets/products/blocks.h"
#include "codelets/products/claims.h"

/* Rows of dw in a unit, which are whole panels of what is packed.  Fewer multiply-adds than so many
 * are made before a helper has begun. */
enum { ROWS = CAVS__BF16_PANEL, LEAST_WORK = 1 << 20 };

static void multiply(const struct cavs__gradient_product *p, int k, const struct cavs__gemm_rows *x,
                     float *dw)
{
    if (p->bf16)
        cavs__bf16()->gemm_tn(p->m, p->n, k, x, &p->dy, dw, p->lddw, p->accumulate);
    else
        cavs__gemm()->gemm_tn_rows(p->m, p->n, k, x, &p->dy, dw, p->lddw, p->accumulate);
}

static void multiply_units(const void *what, int claimant, int from, int to)
{
    const struct cavs__gradient_product *p = what;
    const int first = from * ROWS;
    struct cavs__gemm_rows x = p->x;

    (void)claimant; /* a row's place is its own */
    x.p += first;
    multiply(p, smaller(to * ROWS, p->k) - first, &x, p->dw + first * p->lddw);
}

void cavs__claimed_gradient(const struct cavs__gradient_product *p)
{
    _Static_assert(sizeof *p <= CAVS__CLAIMED_BYTES, "helpers get a copy of it");

    if (cavs__claimants() < 2 || (int64_t)p->m * p->n * p->k < LEAST_WORK)
        multiply(p, p->k, &p->x, p->dw);
    else
        cavs__claimed_evenly(multiply_units, p, sizeof *p, parts_of(p->k, ROWS), (uintptr_t)p->dw);
}

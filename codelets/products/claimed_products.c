/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claimed_products.c - products whose panels are claimed (claims.h), several at once: whoever has
 * claimed some waits for the others once, and not once a product.
 */
#include "codelets/products/bf16.h"
#include "codelets/products/blocks.h"
#include "codelets/products/claims.h"
#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"

#include <string.h>

/* Of all w: less is read before a helper has begun. */
enum { LEAST_NUMBERS = 32 * 1024 };

/* Units are panels: the share that the first part has of each product, then that of the second
 * part, and so on.  So a claimant reads the same panels whatever products are made at once. */
struct products {
    int n, parts;
    struct cavs__panel_product of[CAVS__CLAIMED_PRODUCTS];
};
_Static_assert(sizeof(struct products) <= CAVS__CLAIMED_BYTES, "helpers get a copy of it");

static int panels_of(const struct cavs__panel_product *p)
{
    return p->bf16 ? cavs__bf16_panels(p->n) : cavs__panels(p->n);
}

/* The panel of product k with which part i begins; the last part ends where the next would. */
static int begin_of(const struct products *s, int k, int i)
{
    return panels_of(&s->of[k]) * i / s->parts;
}

/* Columns of the panels from .. to-1. */
static void multiply(const struct cavs__panel_product *p, int from, int to)
{
    const int wide = p->bf16 ? CAVS__BF16_PANEL : CAVS__PANEL, col = from * wide,
              cols = smaller(to * wide, p->n) - col;
    const float *w = p->w + from * p->pitch;
    const struct cavs__gemm_provider *own = cavs__gemm();

    if (p->bf16)
        cavs__bf16()->gemm(p->m, cols, p->k, p->x, p->ldx, (const uint32_t *)(const void *)w,
                           p->pitch, p->y + col, p->ldy, p->accumulate);
    else
        (p->near ? own->gemm_near : own->gemm_panels)(p->m, cols, p->k, p->x, p->ldx, w, p->pitch,
                                                      p->y + col, p->ldy, p->accumulate);
}

/* Of the units from .. to-1 those that are panels [begin, end) of a product, the first of them
 * being unit `at`. */
static void multiply_some(const struct cavs__panel_product *p, int begin, int end, int at, int from,
                          int to)
{
    const int first = from > at ? begin + from - at : begin, last = smaller(begin + to - at, end);

    if (first < last)
        multiply(p, first, last);
}

static void multiply_units(const void *what, int claimant, int from, int to)
{
    const struct products *s = what;
    int at = 0;

    for (int i = 0; i < s->parts && at < to; i++) {
        for (int k = 0; k < s->n; k++) {
            const int begin = begin_of(s, k, i), end = begin_of(s, k, i + 1);

            multiply_some(&s->of[k], begin, end, at, from, to);
            at += end - begin;
        }
    }
    (void)claimant; /* a panel's place is its own */
}

static void claim(int n, const struct cavs__panel_product *p)
{
    struct products s = {.n = n, .parts = cavs__claimants()};
    int begins[CAVS__CLAIMANTS + 1] = {0};

    memcpy(s.of, p, (size_t)n * sizeof *p);
    for (int i = 1; i <= s.parts; i++) {
        for (int k = 0; k < n; k++)
            begins[i] += begin_of(&s, k, i);
    }
    cavs__claimed(multiply_units, &s, sizeof s, begins, (uintptr_t)p->w);
}

void cavs__claimed_products(int n, const struct cavs__panel_product *p)
{
    int64_t numbers = 0;

    for (int k = 0; k < n; k++)
        numbers += (int64_t)p[k].n * p[k].k;
    if (numbers >= LEAST_NUMBERS && cavs__claimants() > 1) {
        claim(n, p);
        return;
    }
    for (int k = 0; k < n; k++)
        multiply(&p[k], 0, panels_of(&p[k]));
}

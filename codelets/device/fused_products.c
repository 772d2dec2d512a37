/* SPDX-License-Identifier: Apache-2.0 */
/* fused_products.c - see fused_products.h. */
#include "codelets/device/fused_products.h"

#include "codelets/groups/elementwise.h"

/* A chunk of a sum is of one product: the first of two has a multiple of so many terms (the steps
 * of a chunk). And where the second of two is among the arguments (products.cl). */
enum { WHOLE_TERMS = 16, OTHER = CAVS__MOST_TOGETHER / 2 };

void cavs__fuse_products(struct cavs__fused *f, int n, const struct cavs__device_call *const *calls)
{
    *f = (struct cavs__fused){.device = calls[0]->device, .index = calls[0]->index, .n = n};
    for (int i = 0; i < n; i++) {
        const struct cavs__device_call *c = calls[i];

        f->rows = c->rows > f->rows ? c->rows : f->rows;
        f->products[i] = (struct cavs__product_sum){
            .rows = c->rows, .nterms = 1, .term = {{c->v[0], c->v[1]}}, .y = c->v[2]};
    }
}

/* ---- views ---- */

/* The columns of `of` in which v lies, in the same rows: the first one, or -1. */
static int columns_within(const struct cavs__device_view *v, const struct cavs__device_view *of)
{
    int64_t at = v->memory.at - of->memory.at;

    return v->memory.p == of->memory.p && v->index < 0 && of->index < 0 && v->ld == of->ld &&
                   at >= 0 && at + v->cols <= of->cols
               ? (int)at
               : -1;
}

static bool same_columns(const struct cavs__device_view *v, const struct cavs__device_view *of)
{
    return v->cols == of->cols && columns_within(v, of) == 0;
}

/* All arguments are there, and a chunk is of one product. */
static bool fits(const struct cavs__fused *f)
{
    int sums = 0;

    for (int i = 0; i < f->n; i++) {
        const struct cavs__product_sum *p = &f->products[i];

        sums += p->nterms - 1;
        if (p->nterms > 1 && p->term[0].x.cols % WHOLE_TERMS)
            return false;
    }
    return sums <= OTHER && f->n + sums <= CAVS__MOST_TOGETHER;
}

/* ---- copies ---- */

/* x of a product is what was copied first, second, or both side by side: then it is read where it
 * was copied from. False: it is something else in the same memory. */
static bool read_source(const struct cavs__fused *f, struct cavs__product_sum *p)
{
    const struct cavs__device_view *a = &f->copied[0].to, *b = &f->copied[1].to;
    struct cavs__product_term *t = p->term;
    bool beside = b->cols > 0 && a->memory.p == b->memory.p && a->ld == b->ld &&
                  a->memory.at + a->cols == b->memory.at;

    if (t->x.memory.p != a->memory.p && (b->cols == 0 || t->x.memory.p != b->memory.p))
        return true;
    if (same_columns(&t->x, a) || (b->cols > 0 && same_columns(&t->x, b))) {
        t->x = f->copied[!same_columns(&t->x, a)].from;
        return true;
    }
    if (!beside || t->x.index >= 0 || t->x.ld != a->ld || t->x.memory.at != a->memory.at ||
        t->x.cols != a->cols + b->cols)
        return false;
    t[1] = t[0];
    t[0].x = f->copied[0].from;
    t[1].x = f->copied[1].from;
    t[1].w.memory.at += (int64_t)a->cols * t->w.ld;
    p->nterms = 2;
    return true;
}

bool cavs__fuse_copies(struct cavs__fused *f, const struct cavs__device_call *group)
{
    struct cavs__fused with = *f;
    int n = group->nviews / 2;
    bool turned = n == 2 && group->v[2].memory.at > group->v[3].memory.at;

    for (int i = 0; i < n; i++) { /* from left to right, if they are side by side */
        with.copied[i].from = group->v[turned ? 1 - i : i];
        with.copied[i].to = group->v[n + (turned ? 1 - i : i)];
    }
    for (int i = 0; i < f->n; i++) {
        if (!read_source(&with, &with.products[i]))
            return false;
    }
    if (!fits(&with))
        return false;
    *f = with;
    return true;
}

/* ---- sums ---- */

/* The product whose result has these columns, as a term of a sum; its number, or -1. */
static int take_term(const struct cavs__fused *f, const struct cavs__device_view *v,
                     struct cavs__product_term *t)
{
    for (int i = 0; i < f->n; i++) {
        const struct cavs__product_sum *p = &f->products[i];
        int column = columns_within(v, &p->y);

        if (column < 0 || p->nterms > 1)
            continue;
        *t = p->term[0];
        t->w.memory.at += column;
        return i;
    }
    return -1;
}

/* Those that are not terms of a sum stay. */
static bool keep_others(struct cavs__fused *with, const struct cavs__fused *f, unsigned taken)
{
    for (int i = 0; i < f->n; i++) {
        if (taken >> i & 1)
            continue;
        if (with->n == CAVS__MOST_TOGETHER)
            return false;
        with->products[with->n++] = f->products[i];
    }
    return true;
}

bool cavs__fuse_sums(struct cavs__fused *f, const struct cavs__device_call *group)
{
    const struct cavs__ew_spec *spec = cavs__ew_program_spec(group->call->program);
    struct cavs__fused with = *f;
    unsigned taken = 0;

    for (with.n = 0; with.n < spec->noutputs; with.n++) {
        const int *in = spec->nodes[spec->outputs[with.n]].in;
        struct cavs__product_sum *p = &with.products[with.n];

        *p = (struct cavs__product_sum){
            .rows = group->rows, .nterms = 2, .y = group->v[spec->ninputs + with.n]};
        for (int k = 0; k < 2; k++) {
            int product = take_term(f, &group->v[~in[k]], &p->term[k]);

            if (product < 0)
                return false;
            taken |= 1u << product;
        }
    }
    if (!keep_others(&with, f, taken) || !fits(&with))
        return false;
    *f = with;
    return true;
}

/* ---- arguments ---- */

static void argument_product(struct cavs__launch *l, int rows, int n, bool sum,
                             const struct cavs__product_term *t, const struct cavs__device_view *y)
{
    cavs__argument_int(l, rows);
    cavs__argument_int(l, t->x.cols);
    cavs__argument_int(l, n);
    cavs__argument_int(l, sum);
    cavs__argument_view(l, &t->x);
    cavs__argument_view(l, &t->w);
    cavs__argument_view(l, y);
}

/* Sums come first: the second product of each has the number of the first and OTHER. It has no
 * columns, nor have those that are not there. */
void cavs__argument_fused(struct cavs__launch *l, const struct cavs__fused *f)
{
    const struct cavs__product_sum *at[CAVS__MOST_TOGETHER] = {NULL};
    int sums = 0, next = 0;

    for (int i = 0; i < f->n; i++)
        if (f->products[i].nterms > 1)
            at[sums++] = &f->products[i];
    for (int i = 0; i < f->n; i++) {
        if (f->products[i].nterms > 1)
            continue;
        while (at[next] || (next >= OTHER && next - OTHER < sums))
            next++;
        at[next] = &f->products[i];
    }
    for (int i = 0; i < CAVS__MOST_TOGETHER; i++) {
        int other = i >= OTHER && i - OTHER < sums ? i - OTHER : 0;
        const struct cavs__product_sum *p = at[i] ? at[i] : at[other];

        argument_product(l, p->rows, at[i] ? p->y.cols : 0, p->nterms > 1,
                         &p->term[!at[i] && p->nterms > 1], &p->y);
    }
    for (int i = 0; i < 2; i++) {
        cavs__argument_int(l, f->copied[i].from.cols);
        cavs__argument_view(l, &f->copied[i].from);
        cavs__argument_view(l, &f->copied[i].to);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* part.c - walks the rows of a task tile by tile and takes every step on each; see part.h. */
#include "codelets/locate.h"
#include "codelets/groups/elementwise.h"
#include "codelets/kernels/kernel_table.h"
#include "codelets/products/claims.h"
#include "core/base/stopwatch.h"

#include <math.h>

/* One tile of one segment. */
struct tile {
    struct cavs__rows at;
    const struct cavs__part_args *args;
    void *const *buffers;
    float *scratch;
    const struct cavs__window *window; /* NULL: everything */
};

/* Row 0 need not lie in the buffer, and C has no pointers to what lies outside, so the address is
 * computed as an integer. */
static float *address(const struct tile *t, const struct cavs__location *at)
{
    const void *base;

    if (at->buffer == CAVS__NO_BUFFER)
        return NULL;
    base = at->buffer >= 0 ? t->buffers[at->buffer] : t->scratch;
    return (float *)((uintptr_t)base + (uintptr_t)at->floats * sizeof(float));
}

static struct cavs__view view_of(const struct tile *t, const struct cavs__operand *o)
{
    struct cavs__location at = cavs__locate(&t->at, o);

    return (struct cavs__view){.p = address(t, &at),
                               .ld = at.ld,
                               .index = at.index >= 0 ? t->at.index + at.index : NULL,
                               .ptr = at.ptr >= 0 ? t->at.index + at.ptr : NULL,
                               .cols = o->cols};
}

/* Finds the vertex of the tile whose list has entry e of the tile. */
static int owner(const struct tile *t, int list, int e)
{
    const int32_t *ptr = cavs__entries_from(&t->at, list - 1, t->at.start);
    int r = 0;

    while (r + 1 < t->at.rows && ptr[r + 1] - ptr[0] <= e)
        r++;
    return r;
}

/* Finds the operator of the step that made number c of row r bad. */
static int culprit(const struct cavs__step *s, const struct cavs__view *v, int r, int c)
{
    return s->call.program ? cavs__ew_blame(s->call.program, v, r, c) : 0;
}

static void report(const struct tile *t, const struct cavs__step *s, int row, int node)
{
    struct cavs__fault *f = t->args->fault;
    int none = 0;

    if (!__atomic_compare_exchange_n(&f->state, &none, 1, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_RELAXED))
        return;
    f->part = t->at.part;
    f->step = s;
    f->node = node;
    f->function = t->at.segment->function;
    f->row = t->at.segment->row0 + t->at.start + row;
    f->frow = t->at.segment->frow0 + t->at.start + row;
    f->sections = t->at.segment->sections;
    f->shard = t->args->shard;
    f->batch = t->args->batch;
    __atomic_store_n(&f->state, 2, __ATOMIC_RELEASE);
}

static void check_finite(const struct tile *t, const struct cavs__step *s,
                         const struct cavs__view *v)
{
    for (int i = s->nviews - s->noutputs; i < s->nviews; i++) {
        int list = s->v[i].list, rows = list > 0 ? t->at.entries[list - 1] : t->at.rows;

        for (int r = 0; r < rows; r++) {
            for (int c = 0; c < v[i].cols; c++) {
                if (!isfinite(v[i].p[r * v[i].ld + c])) {
                    report(t, s, list > 0 ? owner(t, list, r) : r, culprit(s, v, r, c));
                    return;
                }
            }
        }
    }
}

/* Where nanoseconds are added up; NULL: nobody asks for them. */
static uint64_t *sum_of(const struct tile *t, const struct cavs__step *s)
{
    return t->args->nanoseconds ? &t->args->nanoseconds[s->cost] : NULL;
}

static int rows_of(const struct tile *t, const struct cavs__step *s)
{
    return s->list > 0 ? t->at.entries[s->list - 1] : t->at.rows;
}

static void run_kernel(const struct tile *t, const struct cavs__step *s,
                       const struct cavs__call *call, const struct cavs__view *v, unsigned flags)
{
    uint64_t *sum = sum_of(t, s), start = cavs__stopwatch_start(sum);

    call->kernel->cpu(call, rows_of(t, s), v, flags);
    cavs__stopwatch_stop(sum, start);
}

static bool is_windowed(const struct tile *t, const struct cavs__step *s)
{
    return t->window && s == &t->at.part->steps[t->window->step];
}

static bool is_taken(const struct tile *t, const struct cavs__step *s)
{
    if (!t->window)
        return true;
    if (is_windowed(t, s))
        return t->window->rows > 0;
    return s->call.kernel->reduces ? t->window->sums : t->window->begins;
}

/* dw (k, n) = x^T dy: columns of x are rows of dw, or of one of its blocks. */
static struct cavs__call look_through(const struct cavs__window *window, const struct cavs__step *s,
                                      struct cavs__view *v)
{
    struct cavs__call call = s->call;
    struct cavs__view *x = &v[0], *dw = &v[s->nviews - 1];
    int from = window->from;

    if (call.kernel->number == CAVS__KERNEL_gemm_tn_select) {
        call.block = 1 + from / x->cols;
        from %= x->cols;
    }
    x->p += from;
    x->cols = window->rows;
    dw->p = window->out;
    dw->ld = window->ld;
    return call;
}

/* Does a row of the tile have that id? */
static bool is_selected(const struct cavs__view *ids, int rows, int32_t id)
{
    bool any = false;

    for (int r = 0; r < rows && !any; r++)
        any = ids->index[r] == id;
    return any;
}

/* *first: the buffers that nothing has been added to yet. The first reduction into each of them
 * starts it from zero. */
static void take_step(const struct tile *t, const struct cavs__step *s, uint64_t *first)
{
    struct cavs__view v[s->nviews + 1]; /* a fused group may have some hundreds */
    const struct cavs__call *call = &s->call;
    struct cavs__call windowed;
    unsigned flags = 0;
    int out = s->nviews > 0 ? s->v[s->nviews - 1].buffer : CAVS__NO_BUFFER;

    for (int i = 0; i < s->nviews; i++)
        v[i] = view_of(t, &s->v[i]);
    if (is_windowed(t, s)) {
        windowed = look_through(t->window, s, v);
        if (windowed.block > 0 && !is_selected(&v[2], t->at.rows, windowed.block - 1))
            return;
        *t->window->added = true;
        call = &windowed;
    }
    if (s->call.kernel->reduces && out >= 0 && (*first >> out & 1)) {
        flags |= CAVS__FIRST;
        *first &= ~((uint64_t)1 << out);
    }
    run_kernel(t, s, call, v, flags);
    if (t->args->fault &&
        !s->call.kernel->reduces) /* what goes into a reduction was checked before */
        check_finite(t, s, v);
}

/* How many of `rows` vertices a tile takes so that it has room for their entries: at least one. */
static int fitting_rows(const int32_t *ptr, int rows, int room)
{
    int fit = 1;

    if (ptr[rows] - ptr[0] <= room)
        return rows;
    while (fit + 1 < rows && ptr[fit + 1] - ptr[0] <= room)
        fit++;
    return fit;
}

static void cut_tile(struct tile *t)
{
    const struct cavs__part *p = t->at.part;
    int left = t->at.segment->rows - t->at.start, rows = left < p->tile ? left : p->tile;

    for (int i = 0; i < CAVS__PART_LISTS; i++) {
        if (p->lists[i].used)
            rows = fitting_rows(cavs__entries_from(&t->at, i, t->at.start), rows, p->lists[i].tile);
    }
    cavs__rows_take(&t->at, rows, p->tile);
}

/* How many steps from this one on are products in which other workers take part at once. */
static int claimed_at_once(const struct tile *t, const struct cavs__step *s)
{
    const int most = s->together < CAVS__CLAIMED_PRODUCTS ? s->together : CAVS__CLAIMED_PRODUCTS;
    int n = 0;

    if (most < 2 || t->window || t->args->fault || cavs__claimants() < 2)
        return 0;
    while (n < most && s[n].call.kernel == &cavs__kernel_gemm && s[n].call.panels &&
           s[n].call.bf16 == s->call.bf16 && s[n].list == s->list)
        n++;
    return n;
}

static void take_products(const struct tile *t, const struct cavs__step *s, int n)
{
    uint64_t *sum = sum_of(t, s), start = cavs__stopwatch_start(sum);
    struct cavs__view v[CAVS__CLAIMED_PRODUCTS][3];

    for (int i = 0; i < n; i++) {
        for (int k = 0; k < s[i].nviews; k++)
            v[i][k] = view_of(t, &s[i].v[k]);
    }
    cavs__gemm_together(&s->call, n, rows_of(t, s), v);
    cavs__stopwatch_stop(sum, start);
}

static void take_steps(struct tile *t, uint64_t *first)
{
    const struct cavs__part *p = t->at.part;

    for (int i = 0, n; i < p->nsteps; i += n) {
        const struct cavs__step *s = &p->steps[i];

        n = claimed_at_once(t, s);
        if (n > 1) {
            take_products(t, s, n);
        } else {
            n = 1;
            if (is_taken(t, s))
                take_step(t, s, first);
        }
    }
}

void cavs__part_run_window(const struct cavs__part_args *a, void *const *buffers, float *scratch,
                           const struct cavs__window *window)
{
    struct tile t = {.args = a, .buffers = buffers, .scratch = scratch, .window = window};
    struct cavs__rows *at = &t.at;
    uint64_t first = a->first, start = cavs__stopwatch_start(a->busy);

    at->index = a->index_buffer >= 0 ? buffers[a->index_buffer] : NULL;
    for (int i = 0; i < a->nsegments; i++) {
        at->segment = &a->segments[i];
        at->sections = at->segment->sections ? at->segment->sections : a->sections;
        at->part = a->parts[at->segment->function];
        for (at->start = 0; at->start < at->segment->rows; at->start += at->rows) {
            cut_tile(&t);
            take_steps(&t, &first);
        }
    }
    cavs__stopwatch_stop(a->busy, start);
}

void cavs__part_run(const struct cavs__part_args *a, void *const *buffers, float *scratch)
{
    cavs__part_run_window(a, buffers, scratch, NULL);
}

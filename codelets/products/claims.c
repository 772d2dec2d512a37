/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c - see claims.h. */
#include "codelets/products/claims.h"

#include <sched.h>
#include <stdatomic.h>

#include "codelets/products/gemm.h"
#include "codelets/products/panels.h"
#include "core/base/stopwatch.h"

enum {
    LINE = 64,                 /* bytes */
    LEAST_NUMBERS = 32 * 1024, /* of a w: less is read before a helper has begun */
    LOOKS = 500,               /* for something to do before a core is offered to others */
    PATIENCE = 60000           /* nanoseconds without anything before a helper goes */
};

struct product {
    int m, n, k;
    bool accumulate;
    const float *x, *w;
    float *y;
    ptrdiff_t ldx, pitch, ldy;
};

/* Panels of a product that nobody has claimed, [from, to) of a part of them: which product, from
 * and to in one word, so that who claims some knows that they are of the product that it sees. */
struct part {
    _Alignas(LINE) _Atomic uint64_t left;
};

struct cavs__claims {
    struct part parts[CAVS__CLAIMANTS];
    _Alignas(LINE) struct product product;
    _Alignas(LINE) atomic_int undone; /* panels */
    /* Bit i: claimant i is a helper who is there; claimant 0 is the owner.  Never again: CLOSED. */
    _Alignas(LINE) atomic_uint seats;
    _Atomic int64_t helped; /* panels, by helpers that are gone */
    uint32_t number;        /* of the product; the owner's */
    uint64_t back;          /* likewise: a bit for each w, or for some of them */
};

#define CLOSED (1u << CAVS__CLAIMANTS)

static _Thread_local struct cavs__claims *opened;

static uint64_t word(uint32_t number, int from, int to)
{
    return (uint64_t)number << 32 | (uint64_t)from << 16 | (uint64_t)to;
}

static int from_of(uint64_t left)
{
    return (int)(left >> 16 & 0xffff);
}

static int to_of(uint64_t left)
{
    return (int)(left & 0xffff);
}

static void relax(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* ---- opening ---- */

size_t cavs__claims_bytes(void)
{
    return sizeof(struct cavs__claims) + LINE;
}

struct cavs__claims *cavs__claims_init(void *room)
{
    struct cavs__claims *c = (void *)(((uintptr_t)room + LINE - 1) / LINE * LINE);

    for (int i = 0; i < CAVS__CLAIMANTS; i++)
        atomic_init(&c->parts[i].left, 0);
    atomic_init(&c->undone, 0);
    atomic_init(&c->seats, 0);
    atomic_init(&c->helped, 0);
    c->number = 0;
    c->back = 0;
    return c;
}

struct cavs__claims *cavs__claims_open(struct cavs__claims *c)
{
    struct cavs__claims *before = opened;

    opened = c;
    return before;
}

void cavs__claims_close(struct cavs__claims *c)
{
    atomic_fetch_or_explicit(&c->seats, CLOSED, memory_order_relaxed);
}

/* ---- claiming ---- */

static void multiply(const struct product *p, int from, int to)
{
    const int col = from * CAVS__PANEL,
              cols = to * CAVS__PANEL < p->n ? to * CAVS__PANEL - col : p->n - col;

    cavs__gemm()->gemm_panels(p->m, cols, p->k, p->x, p->ldx, p->w + from * p->pitch, p->pitch,
                              p->y + col, p->ldy, p->accumulate);
}

/* How many of so many panels are claimed at a time: tiles of few rows are two panels wide, and at
 * the end nobody should wait long for the last one. */
static int share_of(int left, bool own)
{
    return !own || left < 4 ? 1 : (left / 2 + 1) / 2 * 2;
}

/* Claims some of what is left in a part, and does it; returns how much.  The part's own
 * claimant goes through it one way in one product and the other way in the next by the same w: what
 * it had last may be in its cache still.  Others come from the other end. */
static int take(struct cavs__claims *c, struct part *part, bool own)
{
    uint64_t left = atomic_load_explicit(&part->left, memory_order_acquire);
    int from, to, n;
    bool high;

    do {
        from = from_of(left);
        to = to_of(left);
        if (from >= to)
            return 0;
        n = share_of(to - from, own);
        high = ((left >> 32 & 1) != 0) == own;
    } while (
        !atomic_compare_exchange_weak_explicit(&part->left, &left,
                                               high ? word((uint32_t)(left >> 32), from, to - n)
                                                    : word((uint32_t)(left >> 32), from + n, to),
                                               memory_order_acq_rel, memory_order_acquire));
    if (high)
        multiply(&c->product, to - n, to);
    else
        multiply(&c->product, from, from + n);
    atomic_fetch_sub_explicit(&c->undone, n, memory_order_release);
    return n;
}

/* Does what is left of a product, of the own part first; returns how much. */
static int64_t take_all(struct cavs__claims *c, int own)
{
    int64_t sum = 0;
    int n;

    for (int i = 0; i < CAVS__CLAIMANTS; i++) {
        while ((n = take(c, &c->parts[(own + i) % CAVS__CLAIMANTS], i == 0)) > 0)
            sum += n;
    }
    return sum;
}

/* ---- helping ---- */

static void wait_a_little(int looks)
{
    if (looks < LOOKS)
        relax();
    else
        sched_yield();
}

/* Something to claim in its part; false: it has waited for long, or there will be nothing more. */
static bool wait_for_product(struct cavs__claims *c, int own)
{
    const uint64_t start = cavs__nanoseconds_now();

    for (int looks = 0; looks < LOOKS || cavs__nanoseconds_now() - start < PATIENCE; looks++) {
        const uint64_t left = atomic_load_explicit(&c->parts[own].left, memory_order_relaxed);

        if (from_of(left) < to_of(left))
            return true;
        if (atomic_load_explicit(&c->seats, memory_order_relaxed) & CLOSED)
            return false;
        wait_a_little(looks);
    }
    return false;
}

/* The number of a claimant that nobody is, 0: there is none, or no more are wanted. */
static int take_seat(struct cavs__claims *c)
{
    unsigned seats = atomic_load_explicit(&c->seats, memory_order_relaxed);
    int i;

    do {
        for (i = 1; i < CAVS__CLAIMANTS && seats >> i & 1; i++)
            ;
        if (i == CAVS__CLAIMANTS || seats & CLOSED)
            return 0;
    } while (!atomic_compare_exchange_weak_explicit(&c->seats, &seats, seats | 1u << i,
                                                    memory_order_relaxed, memory_order_relaxed));
    return i;
}

void cavs__claims_help(struct cavs__claims *c, uint64_t *sum)
{
    const int own = take_seat(c);
    int64_t panels = 0;

    if (own == 0)
        return;
    while (wait_for_product(c, own)) {
        const uint64_t start = cavs__stopwatch_start(sum);

        panels += take_all(c, own);
        cavs__stopwatch_stop(sum, start);
    }
    atomic_fetch_add_explicit(&c->helped, panels, memory_order_relaxed);
    atomic_fetch_and_explicit(&c->seats, ~(1u << own), memory_order_relaxed);
}

int64_t cavs__claims_by_helpers(const struct cavs__claims *c)
{
    return atomic_load_explicit(&c->helped, memory_order_relaxed);
}

/* ---- the owner ---- */

/* Which way this time: a bit of the number says it to all. */
static uint32_t next_number(struct cavs__claims *c, const float *w)
{
    const uint64_t bit = UINT64_C(1) << ((uintptr_t)w / 4096 * UINT64_C(0x9e3779b97f4a7c15) >> 58);

    c->back ^= bit;
    c->number = ((c->number | 1) + 1) | ((c->back & bit) != 0);
    return c->number;
}

static void publish(struct cavs__claims *c, const struct product *p, unsigned seats)
{
    const int panels = cavs__panels(p->n), claimants = __builtin_popcount(seats);
    const uint32_t number = next_number(c, p->w);

    c->product = *p;
    atomic_store_explicit(&c->undone, panels, memory_order_relaxed);
    for (int i = CAVS__CLAIMANTS - 1, part = claimants; i >= 0; i--) {
        if (!(seats >> i & 1))
            continue;
        part--;
        atomic_store_explicit(
            &c->parts[i].left,
            word(number, panels * part / claimants, panels * (part + 1) / claimants),
            memory_order_release);
    }
}

static void by_all(struct cavs__claims *c, const struct product *p, unsigned seats)
{
    publish(c, p, seats);
    take_all(c, 0);
    for (int looks = 0; atomic_load_explicit(&c->undone, memory_order_acquire) > 0; looks++)
        wait_a_little(looks);
}

/* Where somebody helps, and it pays: who is there. */
static unsigned claimants_of(int n, int k)
{
    unsigned seats;

    if (!opened || n <= CAVS__PANEL || n > CAVS__PANEL * 0xffff || (int64_t)n * k < LEAST_NUMBERS)
        return 0;
    seats = atomic_load_explicit(&opened->seats, memory_order_relaxed) & (CLOSED - 1);
    return seats ? seats | 1 : 0;
}

void cavs__claimed_product(int m, int n, int k, const float *x, ptrdiff_t ldx, const float *w,
                           ptrdiff_t pitch, float *y, ptrdiff_t ldy, bool accumulate)
{
    const unsigned seats = claimants_of(n, k);
    const struct product p = {m, n, k, accumulate, x, w, y, ldx, pitch, ldy};

    if (seats)
        by_all(opened, &p, seats);
    else
        cavs__gemm()->gemm_panels(m, n, k, x, ldx, w, pitch, y, ldy, accumulate);
}

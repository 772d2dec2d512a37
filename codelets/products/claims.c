/* SPDX-License-Identifier: Apache-2.0 */
/* claims.c - see claims.h. */
#include "codelets/products/claims.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "core/base/stopwatch.h"

enum {
    LINE = 64,  /* bytes */
    LOOKS = 500 /* for something to do before a core is offered to others */
};

/* What is claimed. */
struct work {
    cavs__claimed_work *run;
    char what[CAVS__CLAIMED_BYTES];
};

/* Units of some work that nobody has claimed, [from, to) of a part of them: which work, from and to
 * in one word, so that who claims some knows that they are of the work that it sees. */
struct part {
    _Alignas(LINE) _Atomic uint64_t left;
};

struct cavs__claims {
    struct part parts[CAVS__CLAIMANTS];
    _Alignas(2 * LINE) struct work work;
    _Alignas(LINE) atomic_int undone; /* units */
    /* What helpers look at while they wait.  Bit i: claimant i is there.  Never again: CLOSED. */
    _Alignas(LINE) atomic_uint seats;
    int n;             /* claimants at most, each with a part */
    uint64_t patience; /* nanoseconds */
    /* The owner's alone. */
    _Alignas(LINE) uint32_t number; /* of the work */
    int owner;                      /* its seat */
    uint64_t back;                  /* a bit for each key, or for some of them */
};

#define CLOSED (1u << CAVS__CLAIMANTS)
#define OWNED  (CLOSED << 1) /* one of those who are there is the owner */

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
    return sizeof(struct cavs__claims) + 2 * LINE;
}

struct cavs__claims *cavs__claims_init(void *room, int claimants, int patience)
{
    struct cavs__claims *c = (void *)(((uintptr_t)room + 2 * LINE - 1) / (2 * LINE) * (2 * LINE));

    for (int i = 0; i < CAVS__CLAIMANTS; i++)
        atomic_init(&c->parts[i].left, 0);
    atomic_init(&c->undone, 0);
    atomic_init(&c->seats, 0);
    c->number = 0;
    c->back = 0;
    c->owner = -1;
    c->n = claimants;
    c->patience = (uint64_t)patience;
    return c;
}

void cavs__claims_close(struct cavs__claims *c)
{
    atomic_fetch_or_explicit(&c->seats, CLOSED, memory_order_relaxed);
}

/* ---- claiming ---- */

/* How many of so many units are claimed at a time: tiles of few rows are two panels wide, and at
 * the end nobody should wait long for the last one. */
static int share_of(int left, bool own)
{
    return left < 4 ? 1 : own ? (left / 2 + 1) / 2 * 2 : 2;
}

/* Claims some of what is left in a part, and does it; false: nothing is left.  The part's own
 * claimant goes through it one way in one work and the other way in the next of the same key: what
 * it had last may be in its cache still.  Others come from the other end. */
static bool take(struct cavs__claims *c, struct part *part, int claimant, bool own)
{
    uint64_t left = atomic_load_explicit(&part->left, memory_order_acquire);
    int from, to, n;
    bool high;

    do {
        from = from_of(left);
        to = to_of(left);
        if (from >= to)
            return false;
        n = share_of(to - from, own);
        high = ((left >> 32 & 1) != 0) == own;
    } while (
        !atomic_compare_exchange_weak_explicit(&part->left, &left,
                                               high ? word((uint32_t)(left >> 32), from, to - n)
                                                    : word((uint32_t)(left >> 32), from + n, to),
                                               memory_order_acq_rel, memory_order_acquire));
    if (high)
        c->work.run(c->work.what, claimant, to - n, to);
    else
        c->work.run(c->work.what, claimant, from, from + n);
    atomic_fetch_sub_explicit(&c->undone, n, memory_order_release);
    return true;
}

/* Does what is left of some work, of the own part first. */
static void take_all(struct cavs__claims *c, int own)
{
    for (int i = 0; i < c->n; i++) {
        while (take(c, &c->parts[(own + i) % c->n], own, i == 0))
            ;
    }
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

    for (int looks = 0; looks < LOOKS || cavs__nanoseconds_now() - start < c->patience; looks++) {
        const uint64_t left = atomic_load_explicit(&c->parts[own].left, memory_order_relaxed);

        if (from_of(left) < to_of(left))
            return true;
        if (atomic_load_explicit(&c->seats, memory_order_relaxed) & CLOSED)
            return false;
        wait_a_little(looks);
    }
    return false;
}

static void leave_seat(struct cavs__claims *c, int seat, unsigned owned)
{
    if (seat >= 0)
        atomic_fetch_and_explicit(&c->seats, ~(1u << seat | owned), memory_order_relaxed);
}

/* A seat that nobody has, if possible the wanted one; -1: there is none, or no more are wanted.
 * Helpers leave one to the owner.  owned: OWNED for that one, or 0. */
static int take_seat(struct cavs__claims *c, int wanted, unsigned owned)
{
    unsigned seats = atomic_load_explicit(&c->seats, memory_order_relaxed);
    int seat;

    do {
        const int most = (seats | owned) & OWNED ? c->n : c->n - 1;

        if (seats & CLOSED || __builtin_popcount(seats & (CLOSED - 1)) >= most)
            return -1;
        for (seat = wanted % c->n; seats >> seat & 1; seat = (seat + 1) % c->n)
            ;
    } while (!atomic_compare_exchange_weak_explicit(&c->seats, &seats, seats | 1u << seat | owned,
                                                    memory_order_relaxed, memory_order_relaxed));
    return seat;
}

struct cavs__claims *cavs__claims_open(struct cavs__claims *c, int seat)
{
    struct cavs__claims *before = opened;

    if (before)
        leave_seat(before, before->owner, OWNED);
    opened = c;
    if (c)
        c->owner = take_seat(c, seat, OWNED);
    return before;
}

void cavs__claims_help(struct cavs__claims *c, int seat, uint64_t *sum)
{
    const int own = take_seat(c, seat, 0);

    if (own < 0)
        return;
    while (wait_for_product(c, own)) {
        const uint64_t start = cavs__stopwatch_start(sum);

        take_all(c, own);
        cavs__stopwatch_stop(sum, start);
    }
    leave_seat(c, own, 0);
}

/* ---- the owner ---- */

/* Which way this time: a bit of the number says it to all. */
static uint32_t next_number(struct cavs__claims *c, uintptr_t key)
{
    const uint64_t bit = UINT64_C(1) << (key / 4096 * UINT64_C(0x9e3779b97f4a7c15) >> 58);

    c->back ^= bit;
    c->number = ((c->number | 1) + 1) | ((c->back & bit) != 0);
    return c->number;
}

static void publish(struct cavs__claims *c, const int *begins, uintptr_t key)
{
    const uint32_t number = next_number(c, key);

    atomic_store_explicit(&c->undone, begins[c->n], memory_order_relaxed);
    for (int i = 0; i < c->n; i++) {
        atomic_store_explicit(&c->parts[i].left, word(number, begins[i], begins[i + 1]),
                              memory_order_release);
    }
}

int cavs__claimants(void)
{
    return opened && opened->owner >= 0 ? opened->n : 1;
}

void cavs__claimed(cavs__claimed_work *run, const void *what, size_t bytes, const int *begins,
                   uintptr_t key)
{
    const int units = begins[cavs__claimants()];
    struct cavs__claims *c = opened;

    if (cavs__claimants() < 2 || units < 2 || units > 0xffff) {
        run(what, 0, 0, units);
        return;
    }
    c->work.run = run;
    memcpy(c->work.what, what, bytes);
    publish(c, begins, key);
    opened = NULL; /* a unit's own work is not claimed */
    take_all(c, c->owner);
    opened = c;
    for (int looks = 0; atomic_load_explicit(&c->undone, memory_order_acquire) > 0; looks++)
        wait_a_little(looks);
}

void cavs__claimed_evenly(cavs__claimed_work *run, const void *what, size_t bytes, int units,
                          uintptr_t key)
{
    const int parts = cavs__claimants();
    int begins[CAVS__CLAIMANTS + 1] = {0};

    for (int i = 1; i <= parts; i++)
        begins[i] = units * i / parts;
    cavs__claimed(run, what, bytes, begins, key);
}

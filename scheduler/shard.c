/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c - samples cut into parts of about equal work, or of work in given proportions.
 *
 * The largest remaining sample comes next.  First fit: it goes to the first part that has room for
 * it, up to that part's due.  Large samples, which mostly are long or deep, so come together, and
 * small ones fill what is left: the parts together then have fewer levels than if each had some of
 * the long ones, and fewer thin V_t.  Where that would make a part notably fuller, longest
 * processing time first instead: to the part that will be done with it first.  Of equal parts the
 * fullest is then at most 4/3 of the best possible (Graham, Bounds on Multiprocessing Timing
 * Anomalies, 1969); of parts in proportions at most twice (Gonzalez, Ibarra and Sahni, Bounds for
 * LPT Schedules on Uniform Processors, 1977).  No qsort(), which may allocate.
 */
#include <stdlib.h>

#include "scheduler/schedule.h"

struct entry {
    double key;
    int64_t number; /* of the sample or part: breaks ties, so that only the arguments matter */
};

static bool before(const struct entry *a, const struct entry *b)
{
    return a->key < b->key || (a->key == b->key && a->number < b->number);
}

/* Restores the heap (smallest entry at 0) after entry i has grown. */
static void sift_down(struct entry *heap, int n, int i)
{
    struct entry moved = heap[i];
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&heap[child + 1], &heap[child]))
            child++;
        if (!before(&heap[child], &moved))
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
}

static int reserve(struct cavs__shard_scratch *scratch, size_t bytes)
{
    if (bytes <= scratch->cap)
        return 0;
    void *p = malloc(bytes);
    if (!p)
        return -1;
    free(scratch->p);
    scratch->p = p;
    scratch->cap = bytes;
    return 0;
}

/* Largest sample last, and the first number last of those that are alike: by a heap of negated
 * work.  What is not a positive number counts as no work. */
static void sort_samples(struct entry *heap, int n, const double *work)
{
    for (int i = 0; i < n; i++)
        heap[i] = (struct entry){work[i] > 0 ? -work[i] : 0, i};
    for (int i = n / 2 - 1; i >= 0; i--)
        sift_down(heap, n, i);
    for (int i = n - 1; i > 0; i--) {
        const struct entry next = heap[0];

        heap[0] = heap[i];
        heap[i] = next;
        sift_down(heap, i, 0);
    }
}

/* The rules of above, and how much later the last part may be done for the sake of fewer levels. */
enum rule { LONGEST_FIRST, FIRST_FIT };
#define MOST_UNEVEN 0.01

struct part {
    double load, share, due;
};

static double largest(const double *share, int n)
{
    double most = 0;

    for (int i = 0; i < n; i++)
        most = share[i] > most ? share[i] : most;
    return most;
}

/* share: what each does in a unit of time, NULL if all do the same.  It is measured relative to the
 * largest, so that equal shares are 1 whatever they were: else the rounding of `due` could decide
 * whether a sample that just fits does. */
static void empty_parts(struct part *parts, int n, const double *share, double work)
{
    const double most = share ? largest(share, n) : 0;
    double shares = 0;

    for (int i = 0; i < n; i++) {
        parts[i] = (struct part){.share = most > 0 ? share[i] / most : !share};
        shares += parts[i].share;
    }
    for (int i = 0; i < n && shares > 0; i++)
        parts[i].due = work * parts[i].share / shares;
}

static int first_with_room(const struct part *parts, int n, double work)
{
    for (int i = 0; i < n; i++) {
        if (parts[i].due > 0 && parts[i].load + work <= parts[i].due)
            return i;
    }
    return -1;
}

static int first_done(const struct part *parts, int n, double work)
{
    int best = 0;

    for (int i = 1; i < n; i++) {
        if ((parts[i].load + work) * parts[best].share < (parts[best].load + work) * parts[i].share)
            best = i;
    }
    return best;
}

/* When the last part is done. */
static double last_done(const struct part *parts, int n)
{
    double last = 0;

    for (int i = 0; i < n; i++)
        last = parts[i].load > last * parts[i].share ? parts[i].load / parts[i].share : last;
    return last;
}

/* Samples are those of sort_samples(). When the last part is done. */
static double split(const struct entry *samples, int n, struct part *parts, int nparts,
                    const double *share, enum rule rule, int32_t *shard)
{
    double total = 0;

    for (int i = 0; i < n; i++)
        total -= samples[i].key;
    empty_parts(parts, nparts, share, total);
    while (n-- > 0) {
        const double work = -samples[n].key;
        int to = rule == FIRST_FIT ? first_with_room(parts, nparts, work) : -1;

        if (to < 0)
            to = first_done(parts, nparts, work);
        parts[to].load += work;
        shard[samples[n].number] = to;
    }
    return last_done(parts, nparts);
}

int cavs__shard_split(int n, const double *work, int shards, const double *share, int32_t *shard,
                      struct cavs__shard_scratch *scratch)
{
    const size_t first = (size_t)n * sizeof(struct entry);

    if (reserve(scratch, first + (size_t)shards * sizeof(struct part)) < 0)
        return -1;
    struct entry *samples = scratch->p;
    struct part *parts = (struct part *)((char *)scratch->p + first);
    double even, joined;

    sort_samples(samples, n, work);
    even = split(samples, n, parts, shards, share, LONGEST_FIRST, shard);
    joined = split(samples, n, parts, shards, share, FIRST_FIT, shard);
    if (joined > even * (1 + MOST_UNEVEN))
        split(samples, n, parts, shards, share, LONGEST_FIRST, shard);
    return 0;
}

void cavs__shard_scratch_free(struct cavs__shard_scratch *scratch)
{
    free(scratch->p);
    scratch->p = NULL;
    scratch->cap = 0;
}

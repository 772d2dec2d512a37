/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c - samples cut into parts of about equal work, or of work in given proportions.
 *
 * Longest processing time first: the largest remaining sample goes to the least loaded part, or to
 * the one that will be done with it first.  Of equal parts the fullest is then at most 4/3 of the
 * best possible (Graham, Bounds on Multiprocessing Timing Anomalies, 1969); of parts in proportions
 * at most twice (Gonzalez, Ibarra and Sahni, Bounds for LPT Schedules on Uniform Processors, 1977).
 *  One kind of binary heap serves both ends; no qsort(), which may allocate.
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

static int reserve(struct cavs__shard_scratch *scratch, int64_t entries)
{
    if (entries <= scratch->cap)
        return 0;
    if (entries > INT32_MAX)
        return -1;
    void *p = malloc((size_t)entries * sizeof(struct entry));
    if (!p)
        return -1;
    free(scratch->p);
    scratch->p = p;
    scratch->cap = (int)entries;
    return 0;
}

/* Largest sample first: the heap is ordered by negated work.  What is not a positive number
 * counts as no work. */
static void heap_of_samples(struct entry *heap, int n, const double *work)
{
    for (int i = 0; i < n; i++)
        heap[i] = (struct entry){work[i] > 0 ? -work[i] : 0, i};
    for (int i = n / 2 - 1; i >= 0; i--)
        sift_down(heap, n, i);
}

/* To the least loaded part, which is the first of the heap; its number. */
static int64_t give(struct entry *parts, int n, double work)
{
    int64_t number = parts[0].number;

    parts[0].key += work;
    sift_down(parts, n, 0);
    return number;
}

/* To the part that will have done it first: it does share[i] of work in a unit of time. */
static int64_t give_shared(struct entry *parts, int n, double work, const double *share)
{
    int best = 0;

    for (int i = 1; i < n; i++) {
        if ((parts[i].key + work) * share[best] < (parts[best].key + work) * share[i])
            best = i;
    }
    parts[best].key += work;
    return best;
}

int cavs__shard_split(int n, const double *work, int shards, const double *share, int32_t *shard,
                      struct cavs__shard_scratch *scratch)
{
    if (reserve(scratch, (int64_t)n + shards) < 0)
        return -1;
    struct entry *samples = scratch->p, *parts = samples + n;
    heap_of_samples(samples, n, work);
    for (int i = 0; i < shards; i++)
        parts[i] = (struct entry){0, i}; /* equal loads, ascending numbers: a heap already */
    for (; n > 0; n--) {
        shard[samples[0].number] =
            (int32_t)(share ? give_shared(parts, shards, -samples[0].key, share)
                            : give(parts, shards, -samples[0].key));
        samples[0] = samples[n - 1];
        sift_down(samples, n - 1, 0);
    }
    return 0;
}

void cavs__shard_scratch_free(struct cavs__shard_scratch *scratch)
{
    free(scratch->p);
    scratch->p = NULL;
    scratch->cap = 0;
}

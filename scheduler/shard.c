/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard.c - samples cut into parts of about equal work.
 *
 * Longest processing time first: the largest remaining sample goes to the least loaded part.  The
 * fullest part is then at most 4/3 of the best possible.  One kind of binary heap serves both ends;
 * no qsort(), which may allocate.
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

int cavs__shard_split(int n, const double *work, int shards, int32_t *shard,
                      struct cavs__shard_scratch *scratch)
{
    if (reserve(scratch, (int64_t)n + shards) < 0)
        return -1;
    struct entry *samples = scratch->p, *parts = samples + n;
    heap_of_samples(samples, n, work);
    for (int i = 0; i < shards; i++)
        parts[i] = (struct entry){0, i}; /* equal loads, ascending numbers: a heap already */
    for (; n > 0; n--) {
        shard[samples[0].number] = (int32_t)parts[0].number;
        parts[0].key -= samples[0].key;
        sift_down(parts, shards, 0);
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

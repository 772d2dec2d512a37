/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deal.c - which rank works on which shard.
 *
 * What is added up is partial gradients, by the numbers of their chunks, so each chunk is one
 * rank's, and the ranks have consecutive ones.  A shard belongs to who has its chunks; where one
 * has several, which a batch of fewer samples than shards brings about, these stay together.
 *
 * Of all ways to deal them out, that is taken whose slowest rank is done first, and of those one in
 * which ranks have whole pairs, and pairs of pairs, so that they send few sums.
 */
#include <math.h>
#include <string.h>

#include "core/run/exchange.h"

typedef unsigned __int128 chunk_set; /* a bit for each */

_Static_assert((int)CAVS__MAX_PARTIALS <= 128, "chunks are bits");

/* Chunks that stay together, with their shards. */
struct bundles {
    int n;
    /* How many of them there are before each bundle, [n + 1]. */
    int chunk[CAVS__MAX_PARTIALS + 1], shards[CAVS__MAX_PARTIALS + 1];
    chunk_set used; /* chunks */
};

static int lowest_chunk(const struct cavs__engine *e, int nshards, int shard, int *highest)
{
    int partials = e->nshards / nshards, lowest = CAVS__MAX_PARTIALS;

    *highest = 0;
    for (int i = 0; i < partials; i++) {
        int k = cavs__partial_of(e, shard, i, partials);

        lowest = k < lowest ? k : lowest;
        *highest = k > *highest ? k : *highest;
    }
    return lowest;
}

static chunk_set chunks(int first, int end)
{
    return (end < CAVS__MAX_PARTIALS ? (chunk_set)1 << end : 0) -
           (first < CAVS__MAX_PARTIALS ? (chunk_set)1 << first : 0);
}

static struct bundles find_bundles(const struct cavs__engine *e, int nshards)
{
    struct bundles b = {.n = 0};
    int shards[CAVS__MAX_PARTIALS] = {0}; /* shards by the lowest of their chunks */
    chunk_set bonds = 0;                  /* chunks that go where the one before goes */

    for (int shard = 0; shard < nshards; shard++) {
        int highest, lowest = lowest_chunk(e, nshards, shard, &highest);

        shards[lowest]++;
        bonds |= chunks(lowest + 1, highest + 1);
        b.used |= chunks(lowest, highest + 1);
    }
    for (int k = 0; k < CAVS__MAX_PARTIALS; k++) {
        if (!(b.used >> k & 1))
            continue;
        if (!(bonds >> k & 1)) {
            b.shards[b.n + 1] = b.shards[b.n];
            b.chunk[b.n++] = k;
        }
        b.shards[b.n] += shards[k];
        b.chunk[b.n] = k + 1;
    }
    return b;
}

/* ---- sums ---- */

/* Nodes of the tree of sums below which all that is used is one's own: halves where others have
 * something between. */
static void cut(chunk_set used, chunk_set own, int first, int size, struct cavs__subtotals *s)
{
    chunk_set here = chunks(first, first + size) & used;

    if ((here & own) && (here & ~own)) {
        cut(used, own, first, size / 2, s);
        cut(used, own, first + size / 2, size / 2, s);
    } else if (here & own) {
        s->first[s->n] = (uint8_t)first;
        s->size[s->n++] = (uint8_t)size;
    }
}

struct cavs__subtotals cavs__subtotals_of(const int *rank_of_chunk, int rank)
{
    struct cavs__subtotals s = {.n = 0};
    chunk_set used = 0, own = 0;

    for (int k = 0; k < CAVS__MAX_PARTIALS; k++) {
        used |= (chunk_set)(rank_of_chunk[k] >= 0) << k;
        own |= (chunk_set)(rank_of_chunk[k] == rank) << k;
    }
    cut(used, own, 0, CAVS__MAX_PARTIALS, &s);
    return s;
}

/* How many sums a rank sends beyond one.  A rank that has nothing to do counts as one, too. */
static int extra_sums(const struct bundles *b, int first, int end)
{
    struct cavs__subtotals s = {.n = 0};

    cut(b->used, chunks(b->chunk[first], b->chunk[end]) & b->used, 0, CAVS__MAX_PARTIALS, &s);
    return s.n > 0 ? s.n - 1 : 1;
}

/* ---- dealing ---- */

/* What a rank takes for so many shards: they are alike, and a worker has one at a time. */
static double seconds(const struct cavs__pace *pace, int shards)
{
    int workers = pace->workers > 0 ? pace->workers : 1;

    return ((shards + workers - 1) / workers) / pace->speed;
}

double cavs__deal_seconds(int nshards, const int *rank_of, int ranks, const struct cavs__pace *pace)
{
    double most = 0;

    for (int rank = 0; rank < ranks; rank++) {
        int n = 0;

        for (int shard = 0; shard < nshards; shard++)
            n += rank_of[shard] == rank;
        most = fmax(most, seconds(&pace[rank], n));
    }
    return most;
}

/* How long the slowest rank takes if shards are dealt as well as can be. */
static double least_seconds(const struct bundles *b, int ranks, const struct cavs__pace *pace)
{
    double least[CAVS__MAX_PARTIALS + 1]; /* [n] of the first n bundles, by the ranks so far */

    for (int end = 0; end <= b->n; end++)
        least[end] = end > 0 ? INFINITY : 0;
    for (int rank = 0; rank < ranks; rank++) {
        for (int end = b->n; end > 0; end--) {
            for (int first = end - 1; first >= 0; first--) {
                double mine = seconds(&pace[rank], b->shards[end] - b->shards[first]);

                if (mine >= least[end]) /* nor is it better to have more */
                    break;
                least[end] = fmin(least[end], fmax(least[first], mine));
            }
        }
    }
    return least[b->n];
}

/* Deals bundles, rank[bundle], so that no rank takes longer than `most`, and of all such ways by
 * the one with the fewest extra sums. */
static void fewest_sums(const struct bundles *b, int ranks, const struct cavs__pace *pace,
                        double most, int *rank)
{
    uint8_t first_of[ranks][CAVS__MAX_PARTIALS + 1]; /* by rank, and by how many there are */
    int fewest[CAVS__MAX_PARTIALS + 1], none = ranks + CAVS__MAX_PARTIALS * CAVS__MAX_PARTIALS;

    for (int end = 0; end <= b->n; end++)
        fewest[end] = end > 0 ? none : 0;
    for (int i = 0; i < ranks; i++) {
        for (int end = b->n; end >= 0; end--) {
            int before = fewest[end];

            fewest[end] = none;
            for (int first = end; first >= 0; first--) {
                int sums = first == end ? before : fewest[first];

                if (seconds(&pace[i], b->shards[end] - b->shards[first]) > most)
                    break; /* and so it is with more */
                if (sums >= fewest[end] || (sums += extra_sums(b, first, end)) >= fewest[end])
                    continue;
                fewest[end] = sums;
                first_of[i][end] = (uint8_t)first;
            }
        }
    }
    for (int i = ranks - 1, end = b->n; i >= 0; end = first_of[i--][end]) {
        for (int k = first_of[i][end]; k < end; k++)
            rank[k] = i;
    }
}

void cavs__deal(const struct cavs__engine *e, int nshards, int ranks, const struct cavs__pace *pace,
                int *rank_of, int *rank_of_chunk)
{
    struct bundles b = find_bundles(e, nshards);
    int rank[CAVS__MAX_PARTIALS] = {0};

    fewest_sums(&b, ranks, pace, least_seconds(&b, ranks, pace), rank);
    for (int k = 0; k < CAVS__MAX_PARTIALS; k++)
        rank_of_chunk[k] = -1;
    for (int i = 0; i < b.n; i++) {
        for (int k = b.chunk[i]; k < b.chunk[i + 1]; k++)
            rank_of_chunk[k] = b.used >> k & 1 ? rank[i] : -1;
    }
    for (int shard = 0, highest; shard < nshards; shard++)
        rank_of[shard] = rank_of_chunk[lowest_chunk(e, nshards, shard, &highest)];
}

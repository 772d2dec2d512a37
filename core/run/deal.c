/* SPDX-License-Identifier: Apache-2.0 */
/*
 * deal.c - which rank works on which shard.
 *
 * What is added up is partial gradients, by the numbers of their chunks, so each chunk is one
 * rank's, and the ranks have consecutive ones.  A shard belongs to who has its chunks; where one
 * has several, which a batch of fewer samples than shards brings about, these stay together.
 */
#include "core/run/exchange.h"

/* Whether chunk k has to be with chunk k - 1. */
static void find_bonds(const struct cavs__engine *e, int nshards, bool *bond)
{
    int partials = e->nshards / nshards;

    for (int shard = 0; shard < nshards; shard++) {
        int lowest = CAVS__MAX_PARTIALS, highest = 0;

        for (int i = 0; i < partials; i++) {
            int k = cavs__partial_of(e, shard, i, partials);

            lowest = k < lowest ? k : lowest;
            highest = k > highest ? k : highest;
        }
        for (int k = lowest + 1; k <= highest; k++)
            bond[k] = true;
    }
}

/* Shards by the lowest of their chunks. */
static int lowest_chunk(const struct cavs__engine *e, int nshards, int shard)
{
    int partials = e->nshards / nshards, lowest = CAVS__MAX_PARTIALS;

    for (int i = 0; i < partials; i++) {
        int k = cavs__partial_of(e, shard, i, partials);

        lowest = k < lowest ? k : lowest;
    }
    return lowest;
}

void cavs__deal(const struct cavs__engine *e, int nshards, int ranks, int *rank_of,
                int *rank_of_chunk)
{
    bool bond[CAVS__MAX_PARTIALS] = {false};
    int shards[CAVS__MAX_PARTIALS] = {0}, rank[CAVS__MAX_PARTIALS] = {0}, before = 0;

    find_bonds(e, nshards, bond);
    for (int shard = 0; shard < nshards; shard++)
        shards[lowest_chunk(e, nshards, shard)]++;
    for (int first = 0, end; first < CAVS__MAX_PARTIALS; first = end) {
        int n = 0;

        for (end = first; end == first || (end < CAVS__MAX_PARTIALS && bond[end]); end++)
            n += shards[end];
        for (int k = first; k < end; k++) /* by the middle of the shards */
            rank[k] = (int)((2 * (int64_t)before + n) * ranks / (2 * (int64_t)nshards));
        before += n;
    }
    for (int k = 0; k < CAVS__MAX_PARTIALS; k++)
        rank_of_chunk[k] = -1;
    for (int shard = 0; shard < nshards; shard++) {
        int partials = e->nshards / nshards;

        rank_of[shard] = rank[lowest_chunk(e, nshards, shard)];
        for (int i = 0; i < partials; i++)
            rank_of_chunk[cavs__partial_of(e, shard, i, partials)] = rank_of[shard];
    }
}

/* Halves where others have something between. */
static void cut(const int *rank_of_chunk, int rank, int first, int size, struct cavs__subtotals *s)
{
    bool own = false, others = false;

    for (int k = first; k < first + size; k++) {
        own |= rank_of_chunk[k] == rank;
        others |= rank_of_chunk[k] >= 0 && rank_of_chunk[k] != rank;
    }
    if (own && others) {
        cut(rank_of_chunk, rank, first, size / 2, s);
        cut(rank_of_chunk, rank, first + size / 2, size / 2, s);
    } else if (own) {
        s->first[s->n] = (uint8_t)first;
        s->size[s->n++] = (uint8_t)size;
    }
}

struct cavs__subtotals cavs__subtotals_of(const int *rank_of_chunk, int rank)
{
    struct cavs__subtotals s = {.n = 0};

    cut(rank_of_chunk, rank, 0, CAVS__MAX_PARTIALS, &s);
    return s;
}

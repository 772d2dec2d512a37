/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.c - keys of dropout.
 *
 * Every vertex of a batch gets a 64-bit key, from which the kernel draws as many numbers as it
 * wants by a counter-based generator.  The key depends on the seed, the number of updates, the
 * sample's position in the batch and the vertex's in the sample; not on rows or shards.  On a tape
 * a symbol takes the place of the vertex.  An index section has 32 bits an entry, so a key takes
 * two.
 */
#include <string.h>

#include "core/base/splitmix.h"
#include "core/prepare/preparing.h"

uint64_t cavs__batch_noise(uint64_t seed, long updates)
{
    return cavs__splitmix(cavs__splitmix(seed ^ 0xd1b54a32d192ed03u) + (uint64_t)updates);
}

uint64_t cavs__sample_noise(uint64_t batch, int sample)
{
    return cavs__splitmix(batch + (uint64_t)sample);
}

uint64_t cavs__vertex_noise(uint64_t sample, int vertex)
{
    return cavs__splitmix(sample + (uint64_t)vertex) | 1;
}

/* One half of the keys of a sample's n vertices. */
static void write_halves(uint64_t sample, bool high, int n, int32_t *noise)
{
    for (int v = 0; v < n; v++) {
        uint64_t key = cavs__vertex_noise(sample, v);

        noise[v] = (int32_t)(uint32_t)(high ? key >> 32 : key);
    }
}

void cavs__noise(const struct cavs__batch *b, const struct cavs__shard *shard,
                 const struct cavs__shard_stage *t, bool high, int32_t *noise)
{
    const struct cavs__request *r = &b->request;
    uint64_t batch = cavs__batch_noise(r->seed, r->updates);

    for (int i = 0; i < shard->nsamples; i++) {
        int first = t->start[i], n = t->start[i + 1] - first;

        if (r->run == CAVS__RUN_EVALUATE)
            memset(noise + first, 0, (size_t)n * sizeof *noise);
        else
            write_halves(cavs__sample_noise(batch, shard->positions[i]), high, n, noise + first);
    }
}

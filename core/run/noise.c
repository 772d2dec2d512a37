/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noise.c - keys of dropout.
 *
 * Every vertex of a batch gets a 64-bit key, from which the kernel draws as many numbers as it wants
 * by a counter-based generator.  The key depends on the seed, the number of updates, the sample's
 * position in the batch and the vertex's in the sample; not on rows or shards.  An index section
 * has 32 bits an entry, so a key takes two.
 */
#include "core/run/session.h"

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* The next sample from position `at` of the batch that went to this shard; samples keep their order. */
static int next_position(const struct cavs_session *s, const struct cavs__shard *shard, int at)
{
    while (s->sample_shard[at] != shard - s->shards)
        at++;
    return at;
}

const int32_t *cavs__noise(const struct cavs_session *s, const struct cavs__shard *shard,
                           struct cavs__shard_stage *t, bool high)
{
    uint64_t batch = mix(mix(s->options.seed ^ 0xd1b54a32d192ed03u) + (uint64_t)s->step);

    for (int i = 0, at = 0; i < shard->nsamples; i++, at++) {
        uint64_t sample;

        at = next_position(s, shard, at);
        sample = mix(batch + (uint64_t)at);
        for (int v = t->start[i]; v < t->start[i + 1]; v++) {
            uint64_t key = mix(sample + (uint64_t)(v - t->start[i])) | 1; /* 0 means no dropout */

            t->fetched[v] = !s->dropping ? 0 : (int32_t)(uint32_t)(high ? key >> 32 : key);
        }
    }
    return t->fetched;
}

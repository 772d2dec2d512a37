/* SPDX-License-Identifier: Apache-2.0 */
/* sample_shards.c - see order_parts.h: in which shard each sample is. */
#include <string.h>

#include "core/base/array.h"
#include "core/base/error.h"
#include "core/tape/order_parts.h"

bool cavs__reserve_samples(struct cavs__order *o, int n)
{
    size_t room = o->sample_room, rooms[4] = {room, room, room, room};

    if ((size_t)n <= room)
        return true;
    if (!cavs__array_reserve(&o->shard, &room, (size_t)n, sizeof *o->shard) ||
        !cavs__array_reserve(&o->work, &rooms[0], (size_t)n, sizeof *o->work) ||
        !cavs__array_reserve(&o->bytes, &rooms[3], (size_t)n, sizeof *o->bytes) ||
        !cavs__array_reserve(&o->chosen, &rooms[1], (size_t)n, sizeof *o->chosen) ||
        !cavs__array_reserve(&o->groups, &rooms[2], (size_t)n, sizeof *o->groups))
        return false;
    o->sample_room = room;
    return true;
}

/* Bytes of a row with so many entries, and of the gradients that it makes; see row_places.c. */
static double bytes_of(const struct cavs__signature *s, int32_t entries, bool passes)
{
    double lines = (passes ? 2 : 1) * cavs__lines_of(s->like.width) +
                   cavs__lines_of(s->function->kept) +
                   (double)entries * cavs__lines_of(s->function->kept_entries);

    for (int k = 0; k < s->n && passes; k++) {
        const struct cavs__operand_sort *x = &s->operands[k];

        lines += x->passes ? (x->each ? entries : 1.0) * cavs__lines_of(x->from + x->width) : 0;
    }
    return lines * CAVS__LINE * sizeof(float);
}

/* The vertices of one sample from `first` on; adds up their work and, where there are homes, their
 * bytes. */
static struct cavs__span next_span(struct cavs__order *o, struct cavs__recording *r, int first,
                                   bool homes)
{
    int32_t sample = r->vertices[first].sample;
    struct cavs__span x = {.first = first, .end = first, .group = cavs__group_of(r, sample)};
    double work = 0;

    for (; x.end < r->nvertices && r->vertices[x.end].sample == sample; x.end++) {
        const struct cavs__vertex *v = &r->vertices[x.end];
        const struct cavs__signature *s = r->signatures.all[v->as];

        work += s->nmembers;
        x.children += cavs__reads_of(s, v->nreads);
        if (homes)
            o->bytes[x.group] += bytes_of(s, cavs__entries_of(s, v), r->run != CAVS_TAPE_EVALUATE);
    }
    o->work[x.group] += work;
    return x;
}

/* false: out of memory. */
static bool find_spans(struct cavs__order *o, struct cavs__recording *r, int first, bool homes)
{
    for (int i = 0; i < r->nsamples; i++)
        o->work[i] = o->bytes[i] = 0;
    o->nspans = 0;
    while (first < r->nvertices) {
        if (!cavs__array_reserve(&o->spans, &o->span_room, (size_t)o->nspans + 1, sizeof *o->spans))
            return false;
        o->spans[o->nspans] = next_span(o, r, first, homes);
        first = o->spans[o->nspans++].end;
    }
    return true;
}

/* Lists in o->groups the groups of samples that have work and no shard yet, and returns how many
 * they are. */
static int new_groups(struct cavs__order *o, const struct cavs__recording *r)
{
    int groups = 0;

    for (int i = 0; i < r->nsamples; i++) {
        if (o->work[i] == 0 || o->shard[i] >= 0)
            continue;
        o->work[groups] = o->work[i];
        o->bytes[groups] = o->bytes[i];
        o->groups[groups++] = i;
    }
    return groups;
}

/* Samples may come to read one another after they got shards: that is an error if these differ. */
static int check_groups(const struct cavs__order *o, struct cavs__recording *r)
{
    for (int i = 0; i < o->known; i++) {
        int first = cavs__group_of(r, i);

        if (o->shard[i] < 0 || o->shard[first] == o->shard[i])
            continue;
        if (o->shard[first] >= 0)
            return cavs__fail(CAVS_EPROGRAM,
                              "tape: sample %d reads symbols of sample %d, but both had been "
                              "evaluated apart before (cavs_tape_values)",
                              i, first);
        o->shard[first] = o->shard[i];
    }
    return CAVS_OK;
}

static int split(struct cavs__order *o, int groups, const double *share)
{
    return cavs__shard_split(groups, o->work, o->nshards, share, o->chosen, &o->split) == 0
               ? CAVS_OK
               : cavs__fail_nomem("shards of a tape", (size_t)groups * sizeof *o->chosen);
}

/* Splits again, into smaller shards, as long as some are too large for the memory of their
 * device. */
static int split_among_homes(struct cavs__order *o, int groups, struct cavs__engine *e,
                             enum cavs__run run)
{
    size_t *bytes = e->homes->bytes;
    int rc;

    do {
        rc = split(o, groups, cavs__shares(e, run));
        memset(bytes, 0, (size_t)o->nshards * sizeof *bytes);
        for (int i = 0; i < groups && !rc; i++)
            bytes[o->chosen[i]] += (size_t)o->bytes[i];
    } while (!rc && cavs__homes_crowded(e, bytes));
    return rc;
}

int cavs__choose_shards(struct cavs__order *o, struct cavs__recording *r, int first,
                        struct cavs__engine *e)
{
    int groups, rc;

    for (int i = o->known; i < r->nsamples; i++)
        o->shard[i] = -1;
    o->known = r->nsamples;
    rc = check_groups(o, r);
    if (rc)
        return rc;
    if (!find_spans(o, r, first, e != NULL))
        return cavs__fail_nomem("order of a tape", ((size_t)o->nspans + 1) * sizeof *o->spans);
    groups = new_groups(o, r);
    if (groups > 0)
        rc = e ? split_among_homes(o, groups, e,
                                   r->run == CAVS_TAPE_EVALUATE ? CAVS__RUN_EVALUATE
                                                                : CAVS__RUN_TRAIN)
               : split(o, groups, NULL);
    for (int i = 0; i < groups && !rc; i++)
        o->shard[o->groups[i]] = o->chosen[i];
    for (int i = 0; i < r->nsamples && !rc; i++)
        o->shard[i] = o->shard[cavs__group_of(r, i)];
    return rc;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* sample_groups.c - see recording_parts.h: samples that read one another are computed together.
 *
 * A group is a tree, of which each sample knows an earlier one.  Rewinding takes unions back, and
 * makes the trees anew from those that are left. */
#include "core/base/array.h"
#include "core/tape/recording_parts.h"

int cavs__group_of(struct cavs__recording *r, int sample)
{
    while (r->group[sample] != sample)
        sample = r->group[sample] = r->group[r->group[sample]];
    return sample;
}

static void unite(struct cavs__recording *r, const struct cavs__union *u)
{
    int a = cavs__group_of(r, u->a), b = cavs__group_of(r, u->b);

    r->group[a > b ? a : b] = a < b ? a : b;
}

bool cavs__unite_samples(struct cavs__recording *r, const struct cavs__node *node)
{
    int sample = r->entries[node->x.number].sample;

    for (int i = 0; i < node->x.ninputs; i++) {
        const struct cavs__read *read = &r->reads[r->entries[node->x.number].reads + i];
        struct cavs__union with = {.from = node->x.number, .b = sample};

        if (read->from == CAVS__NO_ROW)
            continue;
        with.a = r->entries[read->of].sample;
        if (cavs__group_of(r, with.a) == cavs__group_of(r, sample))
            continue;
        if (!cavs__array_reserve(&r->unions, &r->union_room, (size_t)r->nunions + 1,
                                 sizeof *r->unions))
            return false;
        r->unions[r->nunions++] = with;
        unite(r, &with);
    }
    return true;
}

void cavs__part_samples(struct cavs__recording *r, int symbol)
{
    int n = r->nunions;

    while (n > 0 && r->unions[n - 1].from >= symbol)
        n--;
    if (n == r->nunions)
        return;
    r->nunions = n;
    for (int i = 0; i < r->nsamples; i++)
        r->group[i] = i;
    for (int i = 0; i < n; i++)
        unite(r, &r->unions[i]);
}

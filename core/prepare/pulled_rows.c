/* SPDX-License-Identifier: Apache-2.0 */
/* pulled_rows.c - float rows that the samples of a shard bring, in the order of rows, or of edge
 * rows. */
#include "core/prepare/prepare.h"

int cavs__pulled_rows(const struct cavs__shard *shard, const struct cavs_stage *stage, int input)
{
    const struct cavs__schedule *sch = &shard->stages[stage->number].schedule;

    return stage->inputs[input]->per == CAVS__PER_EDGE ? sch->edges : sch->rows;
}

void cavs__write_pulled(const struct cavs__batch *b, const struct cavs__shard *shard,
                        const struct cavs_stage *stage, int input, float *out, ptrdiff_t ld)
{
    const struct cavs_data *d = b->request.data;
    const struct cavs__stage_data *sd = &d->stages[stage->number];
    const struct cavs__shard_stage *t = &shard->stages[stage->number];
    const struct cavs__schedule *sch = &t->schedule;
    bool per_edge = stage->inputs[input]->per == CAVS__PER_EDGE;

    for (int r = 0; r < sch->rows; r++) {
        int v = sch->vertex_of[r], i = t->sample_of[v], to = r, n = 1;
        int64_t from = cavs__starts(sd)[shard->samples[i]] + (v - t->start[i]);

        if (per_edge) {
            to = sch->edge_ptr[r];
            n = t->child_ptr[v + 1] - t->child_ptr[v]; /* only children have rows */
            n = n < sch->edge_ptr[r + 1] - to ? n : sch->edge_ptr[r + 1] - to;
            from = ((const int64_t *)sd->first.p)[shard->samples[i]] +
                   (t->child_ptr[v] - t->child_ptr[t->start[i]]);
        }
        for (int e = 0; e < n; e++)
            cavs__column_read(d, &sd->inputs[input], from + e, 1, out + (to + e) * ld);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* packed_gather.c - the records of data that are being packed: what their columns have, sample by
 * sample; packed_records.c finds it again. */
#include "core/data/packed.h"

static bool visit_stage(struct cavs__stage_data *s, int sample, cavs__take_bytes *take, void *to)
{
    bool sound = true;

    for (int i = 0; i < cavs__stage_columns(s) && sound; i++) {
        const int64_t *starts = cavs__stage_column_starts(s, i);
        const struct cavs__column *c = cavs__stage_column(s, i, NULL, NULL);

        if (starts && c->n > 0)
            sound = take(to, cavs__column_at(c, (size_t)starts[sample]),
                         (size_t)(starts[sample + 1] - starts[sample]) * c->size);
    }
    return sound;
}

bool cavs__records_visit(const struct cavs_data *d, cavs__take_bytes *take, void *to)
{
    bool sound = true;

    for (int sample = 0; sample < d->samples; sample++) {
        for (int i = 0; i < d->model->nstages && sound; i++)
            sound = visit_stage(&d->stages[i], sample, take, to);
    }
    return sound;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* increment_devices.c - see going.h: what homes of shards have to do. */
#include "core/tape/going.h"

/* As core/prepare/batch.c has it: a row costs something even without products. */
static double work_of(const struct cavs__going *g, int shard)
{
    const struct cavs_tape *t = g->t;
    bool fresh = false;
    double sum = 0;

    for (struct cavs__increment *d = g->gradients ? t->shards[shard].first : t->fresh[shard]; d;
         d = d->after) {
        fresh |= d == t->fresh[shard];
        for (int i = 0; i < d->nvt; i++) {
            const struct cavs__signature *s = cavs__signature_of(t, &d->vt[i]);

            sum += d->vt[i].n * (1000 + (g->gradients ? s->flops : s->flops_forward) -
                                 (fresh ? 0 : s->flops_forward)) +
                   cavs__entries_of_vt(d, &d->vt[i]) *
                       (s->entry_flops[!g->gradients] - (fresh ? 0 : s->entry_flops[true]));
        }
    }
    return sum;
}

/* Floats of scratch that a device wants for the rows of one signature in an increment, at most. */
static size_t wanted_by(const struct cavs_tape *t, const struct cavs__increment *d)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    size_t most = 0;

    for (int i = 0; i < sp->nkinds; i++) {
        const struct cavs__task_kind *k = sp->kinds[i];

        for (int f = 0; f < d->nfunctions && f < k->nparts; f++) {
            int32_t entries[CAVS__PART_LISTS] = {d->entry0 ? d->entries[f] : 0};
            size_t floats =
                k->parts[f] && d->function_rows[f] > 0
                    ? cavs__devices->part_floats(k->parts[f], d->function_rows[f], entries)
                    : 0;

            most = floats > most ? floats : most;
        }
    }
    return most;
}

/* What a shard has by now may be more than its home can hold, whatever it began with. */
static int check_room(struct cavs__going *g)
{
    const struct cavs_tape *t = g->t;
    size_t *bytes = g->e->homes ? g->e->homes->bytes : NULL;

    for (int i = 0; i < t->order.nshards && bytes; i++)
        bytes[i] = (size_t)(t->shards[i].rows * (g->gradients ? 2 : 1) + t->shards[i].operands +
                            t->shards[i].given) *
                   CAVS__LINE * sizeof(float);
    return cavs__homes_send_away(g->e, bytes);
}

int cavs__prepare_increment_devices(struct cavs__going *g)
{
    const struct cavs_tape *t = g->t;
    size_t most = 0;
    int rc = check_room(g);

    for (int i = 0; i < t->order.nshards && g->e->devices; i++) {
        double work = work_of(g, i);

        if (work > 0)
            cavs__homes_count(g->e, g->slot, i, work);
        for (const struct cavs__increment *d = t->shards[i].first; d; d = d->after) {
            size_t floats = wanted_by(t, d);

            most = floats > most ? floats : most;
        }
    }
    return rc || !g->e->devices ? rc : cavs__reserve_device_floats(g->e, t->session->batch, most);
}

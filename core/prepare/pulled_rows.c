/* SPDX-License-Identifier: Apache-2.0 */
/* pulled_rows.c - float rows that the samples of a shard bring, in the order of rows, or of edge
 * rows. */
#include "core/prepare/prepare.h"

int cavs__pulled_rows(const struct cavs__shard *shard, const struct cavs_stage *stage, int input)
{
    const struct cavs__schedule *sch = &shard->stages[stage->number].schedule;

    return stage->inputs[input]->per == CAVS__PER_EDGE ? sch->edges : sch->rows;
}

/* Rows of an input that lie one behind the other in its column and in the shard. */
struct run_of_rows {
    int64_t from;
    int to, n;
};

/* The rows of vertex v, which is row r of the stage. */
static struct run_of_rows rows_of_vertex(const struct cavs__stage_data *sd,
                                         const struct cavs__shard *shard,
                                         const struct cavs__shard_stage *t, bool per_edge, int r)
{
    const struct cavs__schedule *sch = &t->schedule;
    int v = sch->vertex_of[r], i = t->sample_of[v], children, slots;

    if (!per_edge)
        return (struct run_of_rows){cavs__starts(sd)[shard->samples[i]] + (v - t->start[i]), r, 1};
    children = t->child_ptr[v + 1] - t->child_ptr[v];
    slots = sch->edge_ptr[r + 1] - sch->edge_ptr[r]; /* those beyond the children have no rows */
    return (struct run_of_rows){((const int64_t *)sd->first.p)[shard->samples[i]] +
                                    (t->child_ptr[v] - t->child_ptr[t->start[i]]),
                                sch->edge_ptr[r], children < slots ? children : slots};
}

static void read_run(const struct cavs_data *d, const struct cavs__column *values,
                     struct run_of_rows run, float *out, ptrdiff_t ld)
{
    bool packed = (size_t)ld * sizeof *out == values->size;

    for (int e = 0; e < run.n; e += packed ? run.n : 1)
        cavs__column_read(d, values, run.from + e, packed ? run.n : 1, out + (run.to + e) * ld);
}

/* Reading a row of a large file takes a call of the system, so as many as can be are read at once.
 */
void cavs__write_pulled(const struct cavs__batch *b, const struct cavs__shard *shard,
                        const struct cavs_stage *stage, int input, float *out, ptrdiff_t ld)
{
    const struct cavs_data *d = b->request.data;
    const struct cavs__stage_data *sd = &d->stages[stage->number];
    const struct cavs__shard_stage *t = &shard->stages[stage->number];
    bool per_edge = stage->inputs[input]->per == CAVS__PER_EDGE;
    struct run_of_rows run = {0};

    for (int r = 0; r < t->schedule.rows; r++) {
        struct run_of_rows next = rows_of_vertex(sd, shard, t, per_edge, r);

        if (next.from == run.from + run.n && next.to == run.to + run.n) {
            run.n += next.n;
            continue;
        }
        read_run(d, &sd->inputs[input], run, out, ld);
        run = next;
    }
    read_run(d, &sd->inputs[input], run, out, ld);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pulled_rows.c - float rows that the samples of a shard bring, in the order of rows, or of edge
 * rows. */
#include "core/prepare/prepare.h"

int cavs__pulled_rows(const struct cavs__shard *shard, const struct cavs_stage *stage, int input)
{
    const struct cavs__schedule *sch = &shard->stages[stage->number].schedule;

    return stage->inputs[input]->per == CAVS__PER_EDGE ? sch->edges : sch->rows;
}

/* Rows of an input that lie one behind the other where they come from and in the shard. */
struct run_of_rows {
    const char *from;
    int to, n;
};

/* The rows of the vertex that is row r of the stage. */
static struct run_of_rows rows_of_vertex(const struct cavs_data *d, const struct cavs__shard *shard,
                                         const struct cavs_stage *stage, int input, int r)
{
    const struct cavs__stage_data *sd = &d->stages[stage->number];
    const struct cavs__shard_stage *t = &shard->stages[stage->number];
    const struct cavs__schedule *sch = &t->schedule;
    const int v = sch->vertex_of[r], i = t->sample_of[v], first = t->start[i];
    const int64_t *starts = cavs__input_starts(sd, input);
    const char *from = cavs__values_at(d, &sd->inputs[input], starts, shard->samples[i]);
    const size_t size = sd->inputs[input].size;
    int children, slots;

    if (stage->inputs[input]->per != CAVS__PER_EDGE)
        return (struct run_of_rows){from + (size_t)(v - first) * size, r, 1};
    children = t->child_ptr[v + 1] - t->child_ptr[v];
    slots = sch->edge_ptr[r + 1] - sch->edge_ptr[r]; /* those beyond the children have no rows */
    if (children > slots)
        children = slots;
    if (children > 0)
        from += (size_t)(t->child_ptr[v] - t->child_ptr[first]) * size;
    return (struct run_of_rows){from, sch->edge_ptr[r], children};
}

static void read_run(const struct cavs_data *d, size_t size, struct run_of_rows run, float *out,
                     ptrdiff_t ld)
{
    bool packed = (size_t)ld * sizeof *out == size;
    size_t n = packed ? (size_t)run.n : 1;

    for (size_t e = 0; e < (size_t)run.n; e += n)
        cavs__values_copy(d, run.from + e * size, n * size, out + (run.to + (ptrdiff_t)e) * ld);
}

/* Reading a row of a large file takes a call of the system, so as many as can be are read at once.
 */
void cavs__write_pulled(const struct cavs__batch *b, const struct cavs__shard *shard,
                        const struct cavs_stage *stage, int input, float *out, ptrdiff_t ld)
{
    const struct cavs_data *d = b->request.data;
    const size_t size = d->stages[stage->number].inputs[input].size;
    struct run_of_rows run = {0};

    for (int r = 0; r < shard->stages[stage->number].schedule.rows; r++) {
        struct run_of_rows next = rows_of_vertex(d, shard, stage, input, r);

        if (run.n > 0 && next.from == run.from + (size_t)run.n * size &&
            next.to == run.to + run.n) {
            run.n += next.n;
            continue;
        }
        read_run(d, size, run, out, ld);
        run = next;
    }
    read_run(d, size, run, out, ld);
}

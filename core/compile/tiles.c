/* SPDX-License-Identifier: Apache-2.0 */
/* tiles.c - how many rows of a part are computed at a time. */
#include "core/compile/place.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Bytes of the largest weights that a row is multiplied by, in the form in which products read
 * them. */
static int64_t largest_weights(const struct cavs__placer *p)
{
    const struct cavs__part *part = p->out;
    int64_t most = 0, size = p->plan->options.bf16 ? sizeof(uint16_t) : sizeof(float);

    for (int i = 0; i < part->nsteps; i++) {
        const struct cavs__step *s = &part->steps[i];
        int64_t bytes = s->flops > 0 ? (int64_t)s->v[0].cols * s->v[s->nviews - 1].cols * size : 0;

        most = bytes > most ? bytes : most;
    }
    return most;
}

static int64_t l2_bytes(const struct cavs__plan_options *o)
{
    return o->l2_bytes > 0 ? o->l2_bytes : 1 << 20;
}

/* Is it multiplied by, or may it be?  What tapes do with it the plan learns as they go on. */
static bool is_multiplied(const struct cavs__plan *p, const struct cavs_param *w)
{
    bool copied = false;

    for (int l = 0; l < CAVS__LAYOUTS; l++)
        copied |= p->copies[w->number][l] >= 0;
    return !w->merged && (copied || w->dense_use || !w->lookup_use);
}

/* Rows and gradients pass through the cache, too: parameters may take most of it, not all. */
bool cavs__weights_stay(const struct cavs__plan *p)
{
    const struct cavs_model *m = p->model;
    int64_t bytes = 0;

    for (int i = 0; i < m->nstored; i++) {
        const struct cavs_param *w = m->params[i];

        if (is_multiplied(p, w))
            bytes += (int64_t)w->rows * w->cols * (int64_t)sizeof(float);
    }
    return (p->options.training ? 2 : 1) * bytes <= l2_bytes(&p->options) * 3 / 4;
}

int64_t cavs__far_blocks(const struct cavs__plan_options *o, const struct cavs__part *part)
{
    int64_t most = l2_bytes(o);

    for (int i = 0; i < part->nsteps; i++) {
        const struct cavs__step *s = &part->steps[i];
        const struct cavs_param *w = s->flops > 0 ? s->origin[0]->param : NULL;
        int64_t bytes = w ? (int64_t)w->rows * w->cols * 4 : 0;

        if (w && bytes > (int64_t)s->v[0].cols * s->v[s->nviews - 1].cols * 4 && bytes > most)
            most = bytes;
    }
    return most > l2_bytes(o) ? most : 0;
}

enum { SHORT_TILE = 64, TALL_TILE = 256, TALLEST_TILE = 1024 };

/* The share of L3 that a core can count on, in sizes of L2. A virtual machine of two cores may show
 * the whole L3 of its host, 480 MB say, but reads from it at the speed of memory. */
enum { SHARE_OF_L3 = 8 };

/* far: the part's weights come from memory; blocks: those among which rows select do. */
static int most_rows(const struct cavs__placer *p, bool far, bool blocks)
{
    bool sums = p->part >= CAVS__PARTS_CLASSED;

    if (blocks || (sums && p->plan->options.bf16))
        return TALLEST_TILE;
    return far || sums ? TALL_TILE : SHORT_TILE;
}

/* A tile's values should stay in L2.  Weights are read once a tile: from L3, if they do not stay in
 * L2; the tile may then be taller (512 x 10000: 64 rows 87 GFLOP/s, 256 rows 102).  Weights that
 * take much of a core's share of L3 come from memory: then tiles are so tall that this is no more
 * than what their own values cost that have to leave L2, too (h 2048: 16 rows 110 GFLOP/s, 256 rows
 * 165; where weights stay in L3 that is slower by 2 %).  Where rows select a block each, a block is
 * read once for all rows of a tile that want it: then tiles are taller still.  With twice as many
 * entries of each list.
 *
 * Products of bfloat16 are so fast that weights, and parameter gradients even more, cost as much to
 * read from L3 as others from memory (1024 x 1536: 16 rows 370 GFLOP/s, 256 rows 1300).  Their
 * tiles are multiples of the 32 rows that a gradient is summed up by, whatever L2 has. */
int cavs__tile_rows(const struct cavs__placer *p)
{
    bool bf16 = p->plan->options.bf16;
    int64_t l2 = l2_bytes(&p->plan->options);
    int64_t l3 = p->plan->options.l3_bytes > 0 ? p->plan->options.l3_bytes : 16 << 20;
    int64_t weights = largest_weights(p), row = p->out->scratch, rows;
    int64_t blocks = cavs__far_blocks(&p->plan->options, p->out);
    int64_t far = bf16 ? l2 / 2 : smaller(l3 / 4, SHARE_OF_L3 * l2);
    int most = most_rows(p, weights > (bf16 ? far : l2), blocks > 0), least = bf16 ? 32 : 16;

    for (int i = 0; i < p->f->nlists; i++)
        row += 2 * p->out->lists[i].scratch;
    row *= sizeof(float);
    rows = row > 0 ? l2 / 2 / row : most;
    if (weights > far && row > 0 && weights / row > rows)
        rows = weights / row;
    if (row > 0 && blocks / row > rows)
        rows = blocks / row;
    rows = smaller(rows / least * least, most);
    return rows < least ? least : (int)rows;
}

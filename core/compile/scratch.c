/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scratch.c - values of a tile that are not alive at the same time share memory, so that more rows
 * fit the cache.
 *
 * Steps are straight-line code: a block lives from the first step that touches it to the last, and
 * steps that may run at once are one.
 * Blocks are taken in the order in which they begin to live, each at the lowest place where no
 * living block is.
 */
#include <stdlib.h>

#include "core/base/error.h"
#include "core/compile/place.h"

struct block {
    int list;         /* of whose entries it holds rows; 0: of vertices */
    int region, size; /* old place, floats per tile row */
    int first, last;  /* steps */
    int place;
};

/* An operand that is repeated for entries is a block of vertices. */
static int block_list(const struct cavs__operand *o)
{
    return o->mode == CAVS__REPEATED ? 0 : o->list;
}

static struct block *find_block(struct block *blocks, int *n, const struct cavs__operand *o,
                                int step)
{
    for (int i = 0; i < *n; i++) {
        if (blocks[i].region == o->region && blocks[i].list == block_list(o))
            return &blocks[i];
    }
    blocks[*n] = (struct block){
        .list = block_list(o), .region = o->region, .size = (int)o->ld, .first = step};
    return &blocks[(*n)++];
}

static int find_blocks(const struct cavs__part *part, struct block *blocks)
{
    int n = 0;

    for (int s = 0, first = 0, end = 0; s < part->nsteps; s++) {
        const struct cavs__step *step = &part->steps[s];

        if (s == end) {
            first = s;
            end = s + cavs__steps_of_launch(step);
        }
        for (int i = 0; i < step->nviews; i++) {
            if (step->v[i].buffer == CAVS__SCRATCH)
                find_block(blocks, &n, &step->v[i], first)->last = end - 1;
        }
    }
    return n;
}

static bool live_together(const struct block *a, const struct block *b)
{
    return a->list == b->list && a->first <= b->last && b->first <= a->last;
}

/* Keeps of the blocks `alive` those that still live when `b` begins to, in their order. */
static int keep_living(const struct block *blocks, const struct block *b, int *alive, int n)
{
    int kept = 0;

    for (int i = 0; i < n; i++) {
        if (blocks[alive[i]].last >= b->first)
            alive[kept++] = alive[i];
    }
    return kept;
}

/* The n blocks alive have their places. A candidate for b's place is 0 or the end of one of
 * them. */
static int lowest_place(const struct block *blocks, const struct block *of, const int *alive, int n)
{
    int place = 0;
    bool moved = true;

    while (moved) {
        moved = false;
        for (int i = 0; i < n; i++) {
            const struct block *b = &blocks[alive[i]];

            if (live_together(b, of) && b->place < place + of->size && place < b->place + b->size) {
                place = b->place + b->size;
                moved = true;
            }
        }
    }
    return place;
}

static void move_operands(struct cavs__part *part, struct block *blocks, int n)
{
    for (int s = 0; s < part->nsteps; s++) {
        for (int i = 0; i < part->steps[s].nviews; i++) {
            struct cavs__operand *o = &part->steps[s].v[i];

            if (o->buffer == CAVS__SCRATCH)
                o->region = find_block(blocks, &n, o, s)->place;
        }
    }
}

static void grow(int *size, int end)
{
    if (end > *size)
        *size = end;
}

int cavs__pack_scratch(struct cavs__part *part)
{
    struct block *blocks;
    int operands = 0, living = 0, n, *alive;

    for (int s = 0; s < part->nsteps; s++)
        operands += part->steps[s].nviews;
    blocks = calloc((size_t)operands + 1, sizeof *blocks);
    alive = malloc(((size_t)operands + 1) * sizeof *alive);
    if (!blocks || !alive) {
        free(blocks);
        free(alive);
        return cavs__fail_nomem("plan: scratch",
                                ((size_t)operands + 1) * (sizeof *blocks + sizeof *alive));
    }
    n = find_blocks(part, blocks);
    for (int i = 0; i < n; i++) {
        living = keep_living(blocks, &blocks[i], alive, living);
        blocks[i].place = lowest_place(blocks, &blocks[i], alive, living);
        alive[living++] = i;
        grow(blocks[i].list > 0 ? &part->lists[blocks[i].list - 1].scratch : &part->scratch,
             blocks[i].place + blocks[i].size);
    }
    move_operands(part, blocks, n);
    free(blocks);
    free(alive);
    return CAVS_OK;
}

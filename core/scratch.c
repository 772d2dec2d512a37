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

#include "core/error.h"
#include "core/place.h"

struct block {
    int list;         /* of whose entries it holds rows; 0: of vertices */
    int region, size; /* old place, floats per tile row */
    int first, last;  /* steps */
    int place;
};

/* A repeated operand is a block of vertices. */
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

    for (int s = 0, first = 0; s < part->nsteps; s++) {
        const struct cavs__step *step = &part->steps[s];

        for (int i = 0; i < step->nviews; i++) {
            if (step->v[i].buffer == CAVS__SCRATCH)
                find_block(blocks, &n, &step->v[i], first)->last = s + step->together - 1;
        }
        if (step->together == 1)
            first = s + 1;
    }
    return n;
}

static bool live_together(const struct block *a, const struct block *b)
{
    return a->list == b->list && a->first <= b->last && b->first <= a->last;
}

/* Blocks before `at` have their places.  Every candidate place is 0 or the end of a living block.
 */
static int lowest_place(const struct block *blocks, int at)
{
    int place = 0;
    bool moved = true;

    while (moved) {
        moved = false;
        for (int i = 0; i < at; i++) {
            const struct block *b = &blocks[i];

            if (live_together(b, &blocks[at]) && b->place < place + blocks[at].size &&
                place < b->place + b->size) {
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
    int operands = 0, n;

    for (int s = 0; s < part->nsteps; s++)
        operands += part->steps[s].nviews;
    blocks = calloc((size_t)operands + 1, sizeof *blocks);
    if (!blocks)
        return cavs__fail_nomem("plan", (size_t)operands * sizeof *blocks);
    n = find_blocks(part, blocks);
    for (int i = 0; i < n; i++) {
        blocks[i].place = lowest_place(blocks, i);
        grow(blocks[i].list > 0 ? &part->lists[blocks[i].list - 1].scratch : &part->scratch,
             blocks[i].place + blocks[i].size);
    }
    move_operands(part, blocks, n);
    free(blocks);
    return CAVS_OK;
}

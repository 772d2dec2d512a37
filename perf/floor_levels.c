/* SPDX-License-Identifier: Apache-2.0 */
/* floor_levels.c - numbers the vertices of a thread's trees by level; see floor.h. */
#include <stdlib.h>
#include <string.h>

#include "perf/floor.h"

void floor_levels_create(struct floor_levels *l, int trees, int vertices, int depth)
{
    int slots = vertices + trees; /* at most 2 inner + trees */

    l->first = floor_zeros(depth + 2, sizeof *l->first);
    l->next = floor_zeros(depth + 2, sizeof *l->next);
    l->inner_slot = floor_zeros(vertices, sizeof *l->inner_slot);
    l->leaf_slot = floor_zeros(vertices, sizeof *l->leaf_slot);
    l->word = floor_zeros(vertices, sizeof *l->word);
    l->label = floor_zeros(slots, sizeof *l->label);
    l->height = floor_zeros(vertices, sizeof *l->height);
    l->row = floor_zeros(vertices, sizeof *l->row);
    l->slot = floor_zeros(vertices, sizeof *l->slot);
}

void floor_levels_destroy(struct floor_levels *l)
{
    free(l->first);
    free(l->next);
    free(l->inner_slot);
    free(l->leaf_slot);
    free(l->word);
    free(l->label);
    free(l->height);
    free(l->row);
    free(l->slot);
}

/* Heights of one tree, leaves 0; first[height] counts its inner vertices. */
static void measure(struct floor_levels *l, const struct tree *t, int *height)
{
    for (int v = 0; v < t->n; v++) {
        int top = -1;

        for (int k = t->child_ptr[v]; k < t->child_ptr[v + 1]; k++)
            top = height[t->children[k]] > top ? height[t->children[k]] : top;
        height[v] = top + 1;
        if (top < 0)
            continue;
        for (; l->depth < height[v]; l->depth++)
            l->first[l->depth + 1] = 0;
        l->first[height[v]]++;
        l->inner++;
    }
}

/* Counts per level become where each level begins. */
static void number_levels(struct floor_levels *l)
{
    int at = 0;

    for (int i = 1; i <= l->depth; i++) {
        int n = l->first[i];

        l->first[i - 1] = at;
        at += n;
    }
    l->first[l->depth] = at;
}

/* Rows of one tree's inner vertices, and the slots of all its vertices. */
static void place(struct floor_levels *l, const struct tree *t, int base, int root_slot)
{
    int *row = l->row + base, *slot = l->slot + base;
    const int *height = l->height + base;

    for (int v = 0; v < t->n; v++) {
        const int *child = t->children + t->child_ptr[v];

        if (height[v] == 0)
            continue;
        row[v] = l->next[height[v] - 1]++;
        slot[child[0]] = 2 * row[v];
        slot[child[1]] = 2 * row[v] + 1;
    }
    slot[t->n - 1] = root_slot;
}

/* What is needed by row, leaf and slot. */
static void list(struct floor_levels *l, const struct tree *t, int base)
{
    for (int v = 0; v < t->n; v++) {
        int slot = l->slot[base + v];

        l->label[slot] = t->label[v];
        if (l->height[base + v]) {
            l->inner_slot[l->row[base + v]] = slot;
        } else {
            l->word[l->leaves] = t->word[v];
            l->leaf_slot[l->leaves++] = slot;
        }
    }
}

void floor_levels_build(struct floor_levels *l, const struct forest *f, const int *trees, int n)
{
    int base = 0;

    l->trees = n;
    l->leaves = l->inner = l->depth = l->first[0] = 0;
    for (int i = 0; i < n; i++) {
        struct tree t = forest_tree(f, trees[i]);

        measure(l, &t, l->height + base);
        base += t.n;
    }
    number_levels(l);
    l->slots = 2 * l->inner + n;
    memcpy(l->next, l->first, (l->depth + 1) * sizeof *l->next);
    base = 0;
    for (int i = 0; i < n; i++) {
        struct tree t = forest_tree(f, trees[i]);

        place(l, &t, base, 2 * l->inner + i);
        list(l, &t, base);
        base += t.n;
    }
}

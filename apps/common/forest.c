/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/forest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/reserve.h"

void forest_clear(struct forest *f)
{
    free(f->first);
    free(f->line);
    free(f->label);
    free(f->word);
    free(f->child_ptr);
    free(f->children);
    texts_clear(&f->texts);
    *f = (struct forest){0};
}

/* Where the tree under construction begins. */
static size_t open_first(const struct forest *f)
{
    return f->trees ? f->first[f->trees] : 0;
}

void forest_drop_vertices(struct forest *f)
{
    f->vertices = open_first(f);
    texts_keep(&f->texts, f->vertices);
}

void forest_empty(struct forest *f)
{
    f->trees = 0;
    forest_drop_vertices(f);
}

static bool reserve_vertex(struct forest *f, int children)
{
    size_t n = f->vertices + 1;

    return array_reserve(&f->label, &f->label_cap, n, sizeof *f->label) &&
           array_reserve(&f->word, &f->word_cap, n, sizeof *f->word) &&
           array_reserve(&f->child_ptr, &f->ptr_cap, n + f->trees + 1, sizeof *f->child_ptr) &&
           array_reserve(&f->children, &f->children_cap, n + children, sizeof *f->children);
}

int forest_add_vertex(struct forest *f, int label, int word, int n, const int *children,
                      struct app_error *e)
{
    size_t first = open_first(f), number = f->vertices - first;
    int *ptr, used;

    if (number == INT_MAX)
        return app_fail(e, CAVS_EFORMAT, "a tree has more than %d vertices", INT_MAX);
    if (!reserve_vertex(f, n))
        return app_fail(e, CAVS_ENOMEM, "no memory for more than %zu vertices", f->vertices);
    ptr = f->child_ptr + first + f->trees;
    ptr[0] = 0;
    used = ptr[number];
    if (n)
        memcpy(f->children + first - f->trees + used, children, n * sizeof *children);
    ptr[number + 1] = used + n;
    f->label[f->vertices] = label;
    f->word[f->vertices] = word;
    f->vertices++;
    return number;
}

int forest_end_tree(struct forest *f, size_t line, struct app_error *e)
{
    size_t n = f->trees;

    if (f->trees == INT_MAX || !array_reserve(&f->first, &f->first_cap, n + 2, sizeof *f->first) ||
        !array_reserve(&f->line, &f->line_cap, n + 1, sizeof *f->line))
        return app_fail(e, CAVS_ENOMEM, "no memory for more than %d trees", f->trees);
    f->first[0] = 0;
    f->first[n + 1] = f->vertices;
    f->line[n] = line;
    f->trees++;
    return 0;
}

struct tree forest_tree(const struct forest *f, int t)
{
    size_t first = f->first[t];

    return (struct tree){
        .n = f->first[t + 1] - first,
        .line = f->line[t],
        .label = f->label + first,
        .word = f->word + first,
        .child_ptr = f->child_ptr + first + t,
        .children = f->children + first - t,
    };
}

int forest_visit(struct forest *f, const struct tree_visitor *visitor, struct app_error *e)
{
    int rc = 0;

    for (int i = 0; rc >= 0 && i < f->trees; i++) {
        struct tree tree = forest_tree(f, i);

        rc = visitor->each(visitor->context, &tree, e);
    }
    forest_empty(f);
    return rc < 0 ? rc : 0;
}

static void take_max(int *max, int value)
{
    if (value > *max)
        *max = value;
}

/* levels has room for the tree's vertices */
static void measure_tree(const struct tree *t, int *levels, struct forest_stats *s)
{
    int leaves = 0;

    for (int v = 0; v < t->n; v++) {
        levels[v] = 1;
        for (int k = t->child_ptr[v]; k < t->child_ptr[v + 1]; k++)
            take_max(&levels[v], levels[t->children[k]] + 1);
        leaves += tree_arity(t, v) == 0;
        take_max(&s->max_word, t->word[v]);
    }
    take_max(&s->max_levels, levels[t->n - 1]);
    take_max(&s->max_leaves, leaves);
    take_max(&s->max_vertices, t->n);
    s->leaves += leaves;
    s->vertices += t->n;
}

int forest_measure(const struct forest *f, struct forest_stats *out, struct app_error *e)
{
    struct forest_stats s = {.max_word = -1};
    int *levels = malloc((f->vertices + 1) * sizeof *levels);

    if (!levels)
        return app_fail(e, CAVS_ENOMEM, "no memory for the levels of %zu vertices", f->vertices);
    for (int i = 0; i < f->trees; i++) {
        struct tree t = forest_tree(f, i);

        measure_tree(&t, levels, &s);
    }
    free(levels);
    *out = s;
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees back in brackets, without a stack: the reader numbers vertices in the order in which their
 * brackets are closed, so a vertex and all that is below it have consecutive numbers, and its
 * bracket opens before its first word.
 */
#include <stdlib.h>

#include "apps/common/ptb.h"

/* opens[w]: the outermost vertex whose first word is w; inner[v]: the next one, -1 behind w
 * itself. */
static void find_openings(const struct tree *t, int *opens, int *inner)
{
    int *first = inner; /* a vertex's first word, until it is known what opens there before it */

    for (int v = 0; v < t->n; v++) {
        int child = tree_arity(t, v) ? t->children[t->child_ptr[v]] : -1;
        int word = child < 0 ? v : first[child];

        first[v] = word;
        opens[v] = -1;
    }
    for (int v = 0; v < t->n; v++) {
        int word = first[v];

        inner[v] = opens[word];
        opens[word] = v;
    }
}

static void write_label(FILE *out, int label)
{
    if (label < 0)
        fputs("(?", out);
    else
        fprintf(out, "(%d", label);
}

int ptb_write(FILE *out, const struct forest *f, int t, const int *labels, struct app_error *e)
{
    struct tree tree = forest_tree(f, t);
    int *opens = malloc(2 * (size_t)tree.n * sizeof *opens), *inner;

    if (!opens)
        return app_fail(e, CAVS_ENOMEM, "no memory to write a tree of %d vertices", tree.n);
    inner = opens + tree.n;
    find_openings(&tree, opens, inner);
    if (!labels)
        labels = tree.label;
    for (int v = 0; v < tree.n; v++) {
        for (int u = opens[v]; u >= 0; u = inner[u]) {
            fputs(v && u == opens[v] ? " " : "", out);
            write_label(out, labels[u]);
            fputs(u == v ? "" : " ", out);
        }
        if (!tree_arity(&tree, v))
            fprintf(out, " %s", forest_text(f, t, v));
        putc(')', out);
    }
    putc('\n', out);
    free(opens);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/common/threefile.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/number_rows.h"
#include "apps/common/reserve.h"

/* One sample's vertices by their numbers in the file, 1 .. n; 0 means none. */
struct links {
    int parent, first_child, last_child, sibling;
    int number; /* in the forest, once it is there; -1 before */
};

struct reader {
    struct number_rows rows[THREEFILE_COUNT];
    struct app_error *error;
    struct forest forest;
    int labels;
    struct links *vertex; /* [n + 1] */
    int *children;        /* [n] */
    size_t vertex_cap, children_cap;
};

/* "file:line:column: ..." at the i-th number of a row */
#define BAD(r, row, i, ...) bad_number((r), &(r)->rows[row], (i), __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static int bad_number(struct reader *r,
                                                            const struct number_rows *row, int i,
                                                            const char *format, ...)
{
    char what[300];
    va_list ap;

    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return app_fail(r->error, CAVS_EFORMAT, "%s:%zu:%zu: %s", row->name, row->line,
                    i < row->n ? row->column[i] : (size_t)1, what);
}

/* The next line of all three files: 1, 0 at their common end, or a negative code. */
static int next_sample(struct reader *r)
{
    int got[THREEFILE_COUNT];

    for (int i = 0; i < THREEFILE_COUNT; i++) {
        got[i] = number_rows_next(&r->rows[i], r->error);
        if (got[i] < 0)
            return got[i];
    }
    for (int i = 1; i < THREEFILE_COUNT; i++) {
        int ended = got[i] ? 0 : i, longer = got[i] ? i : 0;

        if (got[i] != got[0])
            return app_fail(r->error, CAVS_EFORMAT,
                            "%s:%zu: the file ends before this line, but %s goes on: expected the "
                            "same number of lines in all three files",
                            r->rows[ended].name, r->rows[ended].line, r->rows[longer].name);
    }
    return got[0];
}

static int check_counts(struct reader *r)
{
    const struct number_rows *words = &r->rows[THREEFILE_WORDS];
    const struct number_rows *parents = &r->rows[THREEFILE_PARENTS];
    const struct number_rows *labels = &r->rows[THREEFILE_LABELS];

    if (!words->n)
        return BAD(r, THREEFILE_WORDS, 0, "expected the ids of words, found an empty line");
    if (parents->n < words->n)
        return BAD(r, THREEFILE_PARENTS, 0, "expected a parent for each of the %d words, found %d",
                   words->n, parents->n);
    if (labels->n != parents->n)
        return BAD(r, THREEFILE_LABELS, 0, "expected %d labels, as many as parents, found %d",
                   parents->n, labels->n);
    return 0;
}

static int check_ranges(struct reader *r)
{
    const int *word = r->rows[THREEFILE_WORDS].value, *parent = r->rows[THREEFILE_PARENTS].value;
    const int *label = r->rows[THREEFILE_LABELS].value;
    int leaves = r->rows[THREEFILE_WORDS].n, n = r->rows[THREEFILE_PARENTS].n;

    for (int i = 0; i < leaves; i++)
        if (word[i] < 0 || word[i] == INT_MAX) /* there is one more word than the largest id */
            return BAD(r, THREEFILE_WORDS, i, "expected the id of a word, found %d", word[i]);
    for (int i = 0; i < n; i++) {
        if (parent[i] < 0 || parent[i] > n)
            return BAD(r, THREEFILE_PARENTS, i,
                       "expected a vertex from 1 to %d or 0 for the root, found %d", n, parent[i]);
        if (parent[i] && parent[i] <= leaves)
            return BAD(r, THREEFILE_PARENTS, i,
                       "expected an inner vertex (above %d), found %d, which is a word", leaves,
                       parent[i]);
        if (label[i] < 0 || label[i] >= r->labels)
            return BAD(r, THREEFILE_LABELS, i, "expected a label from 0 to %d, found %d",
                       r->labels - 1, label[i]);
    }
    return 0;
}

/* The one vertex whose parent is 0, or a negative code. */
static int find_root(struct reader *r)
{
    const struct number_rows *parents = &r->rows[THREEFILE_PARENTS];
    int root = 0;

    for (int i = 0; i < parents->n; i++) {
        if (parents->value[i])
            continue;
        if (root)
            return BAD(r, THREEFILE_PARENTS, i, "expected one root, found a second: %d and %d",
                       root, i + 1);
        root = i + 1;
    }
    return root ? root : BAD(r, THREEFILE_PARENTS, 0, "expected a root (parent 0), found none");
}

/* Every inner vertex needs a child; called before the links exist, when parents are in range. */
static int check_childless(struct reader *r)
{
    const struct number_rows *parents = &r->rows[THREEFILE_PARENTS];

    for (int i = 0; i < parents->n; i++)
        r->vertex[parents->value[i]].first_child = i + 1;
    for (int v = r->rows[THREEFILE_WORDS].n + 1; v <= parents->n; v++)
        if (!r->vertex[v].first_child)
            return BAD(r, THREEFILE_PARENTS, v - 1,
                       "expected children for vertex %d, which has no word, found none", v);
    return 0;
}

static int reset_links(struct reader *r)
{
    int n = r->rows[THREEFILE_PARENTS].n;

    if (!array_reserve(&r->vertex, &r->vertex_cap, n + (size_t)1, sizeof *r->vertex) ||
        !array_reserve(&r->children, &r->children_cap, n, sizeof *r->children))
        return app_fail(r->error, CAVS_ENOMEM, "%s:%zu: no memory for a tree of %d vertices",
                        r->rows[0].name, r->rows[0].line, n);
    for (int v = 0; v <= n; v++)
        r->vertex[v] = (struct links){.number = -1};
    return 0;
}

/* Walks up from the words, first to last, as far as the way is new: this brings the children of
 * each vertex in the order of their words. */
static void link_children(struct reader *r)
{
    const int *parent = r->rows[THREEFILE_PARENTS].value;

    for (int v = 1; v <= r->rows[THREEFILE_PARENTS].n; v++)
        r->vertex[v].first_child = 0;
    for (int leaf = 1; leaf <= r->rows[THREEFILE_WORDS].n; leaf++) {
        for (int v = leaf; parent[v - 1] && !r->vertex[v].parent; v = parent[v - 1]) {
            struct links *up = &r->vertex[parent[v - 1]];

            r->vertex[v].parent = parent[v - 1];
            if (up->first_child)
                r->vertex[up->last_child].sibling = v;
            else
                up->first_child = v;
            up->last_child = v;
        }
    }
}

static int emit(struct reader *r, int v)
{
    int n = 0;

    for (int c = r->vertex[v].first_child; c; c = r->vertex[c].sibling)
        r->children[n++] = r->vertex[c].number;
    r->vertex[v].number = forest_add_vertex(
        &r->forest, r->rows[THREEFILE_LABELS].value[v - 1],
        v <= r->rows[THREEFILE_WORDS].n ? r->rows[THREEFILE_WORDS].value[v - 1] : -1, n,
        r->children, r->error);
    return r->vertex[v].number;
}

/* Children first, without recursion: down to the first leaf, then to the next sibling or up. */
static int emit_from(struct reader *r, int root)
{
    int v = root, rc;

    for (;;) {
        while (r->vertex[v].first_child && r->vertex[r->vertex[v].first_child].number < 0)
            v = r->vertex[v].first_child;
        rc = emit(r, v);
        if (rc < 0 || v == root)
            return rc;
        v = r->vertex[v].sibling ? r->vertex[v].sibling : r->vertex[v].parent;
    }
}

/* What the root does not reach hangs on a cycle; names a vertex of it. */
static int check_reached(struct reader *r)
{
    const struct number_rows *parents = &r->rows[THREEFILE_PARENTS];
    int v = 1;

    while (v <= parents->n && r->vertex[v].number >= 0)
        v++;
    if (v > parents->n)
        return 0;
    for (int i = 0; i < parents->n; i++)
        v = parents->value[v - 1];
    return BAD(r, THREEFILE_PARENTS, v - 1,
               "expected a tree, found a cycle: vertex %d is its own ancestor", v);
}

static int read_sample(struct reader *r)
{
    int rc, root = 0;

    if ((rc = check_counts(r)) < 0 || (rc = check_ranges(r)) < 0 || (rc = reset_links(r)) < 0 ||
        (root = find_root(r)) < 0 || (rc = check_childless(r)) < 0)
        return root < 0 ? root : rc;
    link_children(r);
    if ((rc = emit_from(r, root)) < 0 || (rc = check_reached(r)) < 0)
        return rc;
    return forest_end_tree(&r->forest, r->rows[0].line, r->error);
}

static int read_trees(FILE *const in[THREEFILE_COUNT], const char *const names[THREEFILE_COUNT],
                      int labels, const struct tree_visitor *visitor, struct forest *out,
                      struct app_error *e)
{
    struct reader r = {.error = e, .labels = labels};
    int rc;

    for (int i = 0; i < THREEFILE_COUNT; i++) {
        r.rows[i].in = in[i];
        r.rows[i].name = names[i];
    }
    while ((rc = next_sample(&r)) > 0 && (rc = read_sample(&r)) >= 0)
        if (visitor && (rc = forest_visit(&r.forest, visitor, e)) < 0)
            break;
    for (int i = 0; i < THREEFILE_COUNT; i++)
        number_rows_clear(&r.rows[i]);
    free(r.vertex);
    free(r.children);
    if (rc < 0 || visitor)
        forest_clear(&r.forest);
    else
        *out = r.forest;
    return rc;
}

int threefile_read(FILE *const in[THREEFILE_COUNT], const char *const names[THREEFILE_COUNT],
                   int labels, struct forest *out, struct app_error *e)
{
    return read_trees(in, names, labels, NULL, out, e);
}

static int cannot_open(const char *name, int error, struct app_error *e)
{
    return app_fail(e, CAVS_EIO, "%s: %s%s", name, strerror(error),
                    error == ENOENT
                        ? "; a folder of trees has sents_idx.txt, parents.txt and labels.txt, and "
                          "trees in brackets are one file"
                        : "");
}

static int load_trees(const char *folder, int labels, const struct tree_visitor *visitor,
                      struct forest *out, struct app_error *e)
{
    static const char *const files[] = {"sents_idx.txt", "parents.txt", "labels.txt"};
    FILE *in[THREEFILE_COUNT] = {NULL};
    char *names[THREEFILE_COUNT] = {NULL};
    int rc = 0;

    for (int i = 0; i < THREEFILE_COUNT && rc == 0; i++) {
        if (asprintf(&names[i], "%s/%s", folder, files[i]) < 0) {
            names[i] = NULL;
            rc = app_fail(e, CAVS_ENOMEM, "no memory for a file name");
        } else if (!(in[i] = fopen(names[i], "r"))) {
            rc = cannot_open(names[i], errno, e);
        }
    }
    if (rc == 0)
        rc = read_trees(in, (const char *const *)names, labels, visitor, out, e);
    for (int i = 0; i < THREEFILE_COUNT; i++) {
        if (in[i])
            fclose(in[i]);
        free(names[i]);
    }
    return rc;
}

int threefile_load(const char *folder, int labels, struct forest *out, struct app_error *e)
{
    return load_trees(folder, labels, NULL, out, e);
}

int threefile_each(const char *folder, int labels, const struct tree_visitor *visitor,
                   struct app_error *e)
{
    return load_trees(folder, labels, visitor, NULL, e);
}

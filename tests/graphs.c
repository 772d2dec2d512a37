/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphs.c - graphs from a line of text.
 *
 * Every maker appends vertices whose children exist already; options (shuffle, kinds, missing) are
 * applied to the finished graph, so that all makers have them.
 */
#include "tests/graphs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random.h"

struct recipe {
    char kind[16];
    int size, leaves, slots, parents, kinds, missing;
    uint64_t seed, shuffle;
};

static void *must(void *p)
{
    if (!p) {
        fputs("graphs: out of memory\n", stderr);
        abort();
    }
    return p;
}

static struct graph *graph_new(void)
{
    struct graph *g = must(calloc(1, sizeof *g));
    g->child_ptr = must(calloc(1, sizeof *g->child_ptr));
    return g;
}

void graph_free(struct graph *g)
{
    if (!g)
        return;
    free(g->functions);
    free(g->child_ptr);
    free(g->children);
    free(g);
}

/* Appends a vertex with these children; returns its number. */
static int append(struct graph *g, int nchildren, const int *children)
{
    int from = g->child_ptr[g->n], to = from + nchildren;
    g->children = must(realloc(g->children, (size_t)(to + 1) * sizeof(int)));
    for (int i = 0; i < nchildren; i++)
        g->children[from + i] = children[i];
    g->child_ptr = must(realloc(g->child_ptr, (size_t)(g->n + 2) * sizeof(int)));
    g->child_ptr[g->n + 1] = to;
    return g->n++;
}

static int leaf(struct graph *g)
{
    return append(g, 0, NULL);
}

static int join(struct graph *g, int left, int right)
{
    return append(g, 2, (int[]){left, right});
}

static void make_flat(struct graph *g, const struct recipe *r)
{
    for (int i = 0; i < r->size; i++)
        leaf(g);
}

static void make_chain(struct graph *g, const struct recipe *r)
{
    for (int i = 0; i < r->size; i++)
        append(g, i > 0, (int[]){i - 1});
}

static void make_lattice(struct graph *g, const struct recipe *r)
{
    for (int i = 0; i < r->size; i++)
        append(g, i < 2 ? i : 2, (int[]){i - 1, i - 2});
}

/* Joins neighbours until one is left. */
static void make_binary(struct graph *g, const struct recipe *r)
{
    int *row = must(calloc((size_t)r->size + 1, sizeof *row));
    for (int i = 0; i < r->size; i++)
        row[i] = leaf(g);
    for (int n = r->size; n > 1; n = (n + 1) / 2) {
        for (int i = 0; i < n / 2; i++)
            row[i] = join(g, row[2 * i], row[2 * i + 1]);
        if (n % 2)
            row[n / 2] = row[n - 1];
    }
    free(row);
}

static void make_sequence(struct graph *g, const struct recipe *r)
{
    int left = leaf(g);
    for (int i = 1; i < r->size; i++) {
        int right = leaf(g);
        left = join(g, left, right);
    }
}

static int random_tree(struct graph *g, int leaves, uint64_t *seed)
{
    if (leaves <= 1)
        return leaf(g);
    int cut = random_int(seed, 1, leaves - 1);
    int left = random_tree(g, cut, seed);
    int right = random_tree(g, leaves - cut, seed);
    return join(g, left, right);
}

static void make_random(struct graph *g, const struct recipe *r)
{
    uint64_t seed = r->seed;
    random_tree(g, r->size, &seed);
}

static void make_forest(struct graph *g, const struct recipe *r)
{
    uint64_t seed = r->seed;
    for (int i = 0; i < r->size; i++)
        random_tree(g, random_int(&seed, 1, r->leaves), &seed);
}

static void make_star(struct graph *g, const struct recipe *r)
{
    int *leaves = must(calloc((size_t)r->size + 1, sizeof *leaves));
    for (int i = 0; i < r->size; i++)
        leaves[i] = leaf(g);
    append(g, r->size, leaves);
    free(leaves);
}

/* Each vertex draws children among the earlier ones; a draw that has its parents already is
 * dropped. */
static void make_dag(struct graph *g, const struct recipe *r)
{
    uint64_t seed = r->seed;
    int *parents = must(calloc((size_t)r->size + 1, sizeof *parents));
    int *chosen = must(calloc((size_t)r->slots + 1, sizeof *chosen));
    for (int v = 0; v < r->size; v++) {
        int n = 0;
        for (int k = v ? random_int(&seed, 0, r->slots) : 0; k > 0; k--) {
            int child = random_int(&seed, 0, v - 1);
            if (parents[child]++ < r->parents)
                chosen[n++] = child;
        }
        append(g, n, chosen);
    }
    free(parents);
    free(chosen);
}

static void make_empty(struct graph *g, const struct recipe *r)
{
    (void)g;
    (void)r;
}

static const struct maker {
    const char *kind;
    void (*make)(struct graph *g, const struct recipe *r);
} makers[] = {
    {"empty", make_empty},       {"single", make_flat},     {"flat", make_flat},
    {"chain", make_chain},       {"lattice", make_lattice}, {"binary", make_binary},
    {"sequence", make_sequence}, {"random", make_random},   {"star", make_star},
    {"forest", make_forest},     {"dag", make_dag},
};

/* One "name=value" of the options. */
static int parse_option(struct recipe *r, const char *option)
{
    long value;
    char name[16];
    if (sscanf(option, "%15[a-z]=%ld", name, &value) != 2)
        return -1;
    if (!strcmp(name, "seed"))
        r->seed = (uint64_t)value;
    else if (!strcmp(name, "shuffle"))
        r->shuffle = (uint64_t)value;
    else if (!strcmp(name, "leaves"))
        r->leaves = (int)value;
    else if (!strcmp(name, "slots"))
        r->slots = (int)value;
    else if (!strcmp(name, "parents"))
        r->parents = (int)value;
    else if (!strcmp(name, "kinds"))
        r->kinds = (int)value;
    else if (!strcmp(name, "missing"))
        r->missing = (int)value;
    else
        return -1;
    return 0;
}

static int parse(const char *text, struct recipe *r)
{
    *r = (struct recipe){.size = 1, .leaves = 5, .slots = 2, .parents = 2, .kinds = 1, .seed = 1};
    if (sscanf(text, " %15[a-z]:%d", r->kind, &r->size) < 1)
        return -1;
    for (const char *at = strchr(text, ','); at; at = strchr(at + 1, ',')) {
        if (parse_option(r, at + 1) < 0)
            return -1;
    }
    return 0;
}

/* Gives vertex v the number to[v]. */
static void renumber(struct graph *g, const int *to)
{
    struct graph *out = graph_new();
    int *from = must(calloc((size_t)g->n + 1, sizeof *from));
    for (int v = 0; v < g->n; v++)
        from[to[v]] = v;
    for (int v = 0; v < g->n; v++) {
        const int *old = g->children + g->child_ptr[from[v]];
        int n = g->child_ptr[from[v] + 1] - g->child_ptr[from[v]];
        append(out, n, old);
        for (int i = 0; i < n; i++)
            out->children[out->child_ptr[v] + i] = to[old[i]];
    }
    struct graph swap = *g;
    *g = *out;
    *out = swap;
    graph_free(out);
    free(from);
}

static void shuffle(struct graph *g, uint64_t seed)
{
    int *to = must(calloc((size_t)g->n + 1, sizeof *to));
    for (int v = 0; v < g->n; v++) {
        int other = random_int(&seed, 0, v);
        to[v] = to[other];
        to[other] = v;
    }
    renumber(g, to);
    free(to);
}

static void choose_functions(struct graph *g, int kinds)
{
    g->functions = must(calloc((size_t)g->n + 1, sizeof *g->functions));
    for (int v = 0; v < g->n; v++) {
        int children = g->child_ptr[v + 1] - g->child_ptr[v];
        g->functions[v] = children < kinds - 1 ? children : kinds - 1;
    }
}

static void drop_children(struct graph *g, int one_in, uint64_t seed)
{
    for (int e = 0; e < g->child_ptr[g->n]; e++) {
        if (random_int(&seed, 1, one_in) == 1)
            g->children[e] = -1;
    }
}

struct graph *graph_make(const char *text)
{
    struct recipe r;
    const struct maker *maker = NULL;
    if (parse(text, &r) == 0) {
        for (size_t i = 0; i < sizeof makers / sizeof *makers; i++) {
            if (!strcmp(makers[i].kind, r.kind))
                maker = &makers[i];
        }
    }
    if (!maker) {
        fprintf(stderr, "graphs: \"%s\" is not understood\n", text);
        return NULL;
    }
    struct graph *g = graph_new();
    maker->make(g, &r);
    if (r.shuffle)
        shuffle(g, r.shuffle);
    choose_functions(g, r.kinds);
    if (r.missing)
        drop_children(g, r.missing, r.seed + 77);
    return g;
}

/* Depth first with the path of parents as an explicit stack: chains of any length are fine. */
void graph_order(const struct graph *g, int *order)
{
    int placed = 0, *next = must(calloc((size_t)g->n + 1, sizeof *next));
    int *path = must(calloc((size_t)g->n + 1, sizeof *path));
    for (int root = 0; root < g->n; root++) {
        int depth = 0;
        if (!next[root])
            path[depth++] = root;
        while (depth) {
            int v = path[depth - 1], at = g->child_ptr[v] + next[v]++;
            if (at < g->child_ptr[v + 1]) {
                int child = g->children[at];
                if (child >= 0 && !next[child])
                    path[depth++] = child;
            } else {
                order[placed++] = v;
                depth--;
            }
        }
    }
    free(next);
    free(path);
}

int graph_roots(const struct graph *g, int *is_root)
{
    int roots = g->n;
    for (int v = 0; v < g->n; v++)
        is_root[v] = 1;
    for (int e = 0; e < g->child_ptr[g->n]; e++) {
        int child = g->children[e];
        if (child >= 0 && is_root[child]) {
            is_root[child] = 0;
            roots--;
        }
    }
    return roots;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_schedule.c - the scheduler against its contract (scheduler/schedule.h).
 *
 * Random chains, trees and DAGs go through every policy, with and without merging, and an
 * exhaustive check of the result that takes nothing from the implementation: each policy is
 * simulated naively, beside known counts on known graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/cavs.h"
#include "scheduler/schedule.h"
#include "tests/sanitized.h"

enum { LONG_CHAIN = 200000 };

/* ---- counting and failing allocations: our own malloc, where no tool already brings one ------ */

/* Volatile: compilers take it that malloc() changes no variable of ours. */
static volatile long allocations;
static volatile bool out_of_memory;

#if defined(__GLIBC__) && !defined(SANITIZED)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
    allocations++;
    return out_of_memory ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    allocations++;
    return out_of_memory ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    allocations++;
    return out_of_memory ? NULL : __libc_realloc(p, size);
}
#endif

/* Sanitizers and valgrind have their own; then the tests of allocation have nothing to see. */
static bool counts_allocations(void)
{
    void *(*volatile allocate)(size_t) = malloc; /* called and not inlined, as the library does */
    long before = allocations;
    free(allocate(1));
    if (allocations == before)
        print_message("# allocations are not counted here\n");
    return allocations > before;
}

/* ---- graphs ---------------------------------------------------------------------------------- */

enum { MAX_FUNCTIONS = 200, MAX_KEYS = 2, MAX_CHILDREN = 4 };

/* A graph under construction; vertices are added in the order of their numbers. */
struct graph {
    struct cavs__graph g;
    int32_t *function, *child_ptr, *child, *key[MAX_KEYS];
    int slots[MAX_FUNCTIONS];
    char name[64]; /* shown when a check fails */
};

static uint64_t random_state;

static int below(int n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int)((random_state >> 16) % (uint64_t)n);
}

static void *array(size_t count, size_t size)
{
    void *p = calloc(count + 1, size);
    assert_non_null(p);
    return p;
}

/* An empty graph with room; slots[f] as in struct cavs__graph. */
static struct graph *graph_new(int vertices, int edges, int nfunctions, const int *slots, int nkeys)
{
    struct graph *q = array(1, sizeof *q);
    q->function = array((size_t)vertices, sizeof(int32_t));
    q->child_ptr = array((size_t)vertices + 1, sizeof(int32_t));
    q->child = array((size_t)edges, sizeof(int32_t));
    for (int k = 0; k < MAX_KEYS; k++)
        q->key[k] = array((size_t)vertices, sizeof(int32_t));
    memcpy(q->slots, slots, (size_t)nfunctions * sizeof *slots);
    q->g = (struct cavs__graph){.nfunctions = nfunctions,
                                .function = q->function,
                                .child_ptr = q->child_ptr,
                                .child = q->child,
                                .slots = q->slots,
                                .nkeys = nkeys,
                                .keys = (const int32_t *const *)q->key};
    return q;
}

static void graph_destroy(struct graph *q)
{
    free(q->function);
    free(q->child_ptr);
    free(q->child);
    for (int k = 0; k < MAX_KEYS; k++)
        free(q->key[k]);
    free(q);
}

static int add(struct graph *q, int function, int key, int nchild, const int32_t *child)
{
    int v = q->g.n++;
    q->function[v] = function;
    q->key[0][v] = key;
    memcpy(q->child + q->child_ptr[v], child, (size_t)nchild * sizeof *child);
    q->child_ptr[v + 1] = q->child_ptr[v] + nchild;
    return v;
}

#define ADD(q, function, key, ...)                                                         \
    add((q), (function), (key), (int)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), \
        (int32_t[]){__VA_ARGS__})
#define ADD_LEAF(q, function, key) add((q), (function), (key), 0, (int32_t[]){0})

static void add_chain(struct graph *q, int length)
{
    int v = ADD_LEAF(q, 0, below(3));
    for (int i = 1; i < length; i++)
        v = ADD(q, below(q->g.nfunctions), below(2), v);
}

static struct graph *chain(int length)
{
    struct graph *q = graph_new(length, length, 1, (int[]){1}, 1);
    for (int v = 0; v < length; v++)
        add(q, 0, v, v > 0, (int32_t[]){v - 1});
    return q;
}

/* A binary tree of function 1 over leaves of function 0; split at random or in the middle. */
static int add_tree(struct graph *q, int leaves, bool balanced, int words)
{
    if (leaves == 1)
        return ADD_LEAF(q, 0, below(words));
    int left = balanced ? leaves / 2 : 1 + below(leaves - 1);
    int a = add_tree(q, left, balanced, words), b = add_tree(q, leaves - left, balanced, words);
    return ADD(q, 1, 0, a, b);
}

/* A vertex with children among the last few: missing, shared and repeated ones occur. */
static void add_dag_vertex(struct graph *q)
{
    int32_t child[MAX_CHILDREN];
    int n = q->g.n, f = below(q->g.nfunctions), most = q->slots[f] < 0 ? MAX_CHILDREN : q->slots[f];
    int nchild = n == 0 || below(4) == 0 ? 0 : below(most + 1);
    for (int k = 0; k < nchild; k++)
        child[k] = below(6) == 0 ? -1 : n - 1 - below(n < 12 ? n : 12);
    int v = add(q, f, below(2), nchild, child);
    q->key[1][v] = below(2) - 1;
}

/* The same graph with its vertices numbered at random. */
static struct graph *renumbered(const struct graph *q)
{
    int n = q->g.n, *to = array((size_t)n, sizeof *to), *from = array((size_t)n, sizeof *from);
    struct graph *r = graph_new(n, q->child_ptr[n], q->g.nfunctions, q->slots, q->g.nkeys);
    for (int v = 0; v < n; v++) {
        int u = below(v + 1);
        from[v] = from[u];
        from[u] = v;
    }
    for (int v = 0; v < n; v++)
        to[from[v]] = v;
    for (int v = 0; v < n; v++) {
        int u = from[v];
        add(r, q->function[u], q->key[0][u], q->child_ptr[u + 1] - q->child_ptr[u],
            q->child + q->child_ptr[u]);
        r->key[1][v] = q->key[1][u];
    }
    for (int e = 0; e < q->child_ptr[n]; e++)
        r->child[e] = r->child[e] < 0 ? -1 : to[r->child[e]];
    snprintf(r->name, sizeof r->name, "%.40s, renumbered", q->name);
    free(from);
    free(to);
    return r;
}

static struct graph *random_chains(int n)
{
    struct graph *q = graph_new(n, n, 3, (int[]){1, 2, -1}, 1);
    while (q->g.n < n) {
        int room = n - q->g.n;
        add_chain(q, 1 + below(room < 40 ? room : 40));
    }
    return q;
}

static struct graph *random_trees(int n)
{
    struct graph *q = graph_new(n, n, 2, (int[]){0, 2}, 1);
    while (q->g.n < n) {
        int room = (n - q->g.n + 1) / 2;
        add_tree(q, 1 + below(room < 30 ? room : 30), below(4) == 0, 4);
    }
    return q;
}

static struct graph *random_dag(int n)
{
    struct graph *q =
        graph_new(n, n * MAX_CHILDREN, 4, (int[]){-1, 3, 0, MAX_CHILDREN}, below(MAX_KEYS + 1));
    while (q->g.n < n)
        add_dag_vertex(q);
    return q;
}

enum { RANDOM_KINDS = 6 }; /* three shapes, numbered children first and at random */

static struct graph *random_graph(int kind, int n, int seed)
{
    static struct graph *(*const make[])(int) = {random_chains, random_trees, random_dag};
    static const char *const name[] = {"chains", "trees", "dag"};
    random_state = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(seed + 1);
    struct graph *q = make[kind % 3](n);
    snprintf(q->name, sizeof q->name, "%s of %d, seed %d", name[kind % 3], n, seed);
    if (kind < 3)
        return q;
    struct graph *r = renumbered(q);
    graph_destroy(q);
    return r;
}

/* ---- the check ------------------------------------------------------------------------------- */

/* What is being checked. */
struct subject {
    const struct graph *q;
    const struct cavs__graph *g;
    const struct cavs__schedule *s;
    int policy;
    bool merge;
};

static void equal_at(const struct subject *t, const char *what, long a, long b, int line)
{
    if (a != b)
        print_error("%s; %s%s: %s: %ld is not %ld\n", t->q->name, cavs__policies[t->policy].name,
                    t->merge ? ", merged" : "", what, a, b);
    _assert_int_equal((LargestIntegralType)a, (LargestIntegralType)b, __FILE__, line);
}

#define SAME(a, b) equal_at(t, #a " == " #b, (long)(a), (long)(b), __LINE__)
#define TRUE(a)    equal_at(t, #a, (a) ? 1 : 0, 1, __LINE__)

static int children_of(const struct cavs__graph *g, int v)
{
    return g->child_ptr[v + 1] - g->child_ptr[v];
}

static int slots_of(const struct cavs__graph *g, int v)
{
    int slots = g->slots[g->function[v]];
    return slots >= 0 ? slots : children_of(g, v);
}

/* Row that slot k of vertex v reads; -1 = missing. */
static int slot_row(const struct subject *t, int v, int k)
{
    if (k >= children_of(t->g, v) || t->g->child[t->g->child_ptr[v] + k] < 0)
        return -1;
    return t->s->row_of[t->g->child[t->g->child_ptr[v] + k]];
}

/* Would u and v be one row, given the rows of their children? */
static bool equal_vertices(const struct subject *t, int u, int v)
{
    if (t->g->function[u] != t->g->function[v] || slots_of(t->g, u) != slots_of(t->g, v))
        return false;
    for (int k = 0; k < t->g->nkeys; k++)
        if (t->g->keys[k][u] != t->g->keys[k][v])
            return false;
    for (int k = 0; k < slots_of(t->g, v); k++)
        if (slot_row(t, u, k) != slot_row(t, v, k))
            return false;
    return true;
}

static void check_rows(const struct subject *t)
{
    int *seen = array((size_t)t->s->rows, sizeof *seen);
    for (int v = 0; v < t->g->n; v++) {
        int row = t->s->row_of[v];
        TRUE(row >= 0 && row < t->s->rows);
        if (!seen[row]++)
            SAME(t->s->vertex_of[row], v); /* the lowest of the row */
        TRUE(equal_vertices(t, t->s->vertex_of[row], v));
    }
    for (int row = 0; row < t->s->rows; row++)
        TRUE(t->merge ? seen[row] >= 1 : seen[row] == 1);
    free(seen);
}

/* With check_rows(): the merging is the coarsest there is, because going up from the leaves each
 * class is forced. */
static void check_no_two_rows_equal(const struct subject *t)
{
    for (int a = 0; a < t->s->rows; a++)
        for (int b = 0; b < a; b++)
            TRUE(!equal_vertices(t, t->s->vertex_of[a], t->s->vertex_of[b]));
}

static void check_vt(const struct subject *t)
{
    int32_t row = 0, edge = 0, frow[MAX_FUNCTIONS] = {0};
    for (int i = 0; i < t->s->nvt; i++) {
        const struct cavs__vt *vt = &t->s->vt[i];
        TRUE(vt->n >= 1);
        SAME(vt->row0, row);
        SAME(vt->edge0, edge);
        SAME(vt->frow0, frow[vt->function]);
        frow[vt->function] += vt->n;
        for (int j = 0; j < vt->n; j++, row++) {
            int v = t->s->vertex_of[row];
            SAME(t->g->function[v], vt->function);
            SAME(t->s->edge_ptr[row], edge);
            TRUE(j == 0 || v > t->s->vertex_of[row - 1]);
            edge += slots_of(t->g, v);
        }
    }
    SAME(row, t->s->rows);
    SAME(edge, t->s->edges);
    SAME(t->s->edge_ptr[row], edge);
    for (int f = 0; f < t->g->nfunctions; f++)
        SAME(t->s->function_rows[f], frow[f]);
}

static void check_edges(const struct subject *t)
{
    for (int i = 0; i < t->s->nvt; i++)
        for (int row = t->s->vt[i].row0; row < t->s->vt[i].row0 + t->s->vt[i].n; row++)
            for (int e = t->s->edge_ptr[row]; e < t->s->edge_ptr[row + 1]; e++) {
                SAME(t->s->edge_child[e],
                     slot_row(t, t->s->vertex_of[row], e - t->s->edge_ptr[row]));
                TRUE(t->s->edge_child[e] < t->s->vt[i].row0);
            }
}

static void check_parents(const struct subject *t)
{
    int reads = 0;
    SAME(t->s->parent_ptr[0], 0);
    for (int row = 0; row < t->s->rows; row++)
        for (int p = t->s->parent_ptr[row]; p < t->s->parent_ptr[row + 1]; p++) {
            SAME(t->s->edge_child[t->s->parent_edge[p]], row);
            TRUE(p == t->s->parent_ptr[row] || t->s->parent_edge[p] > t->s->parent_edge[p - 1]);
        }
    for (int e = 0; e < t->s->edges; e++)
        reads += t->s->edge_child[e] >= 0;
    SAME(t->s->parent_ptr[t->s->rows],
         reads); /* distinct edges in each list, and as many as there are: all of them */
}

static bool is_ready(const struct cavs__schedule *s, int row, const char *done)
{
    for (int e = s->edge_ptr[row]; e < s->edge_ptr[row + 1]; e++)
        if (s->edge_child[e] >= 0 && !done[s->edge_child[e]])
            return false;
    return !done[row];
}

static void finish_rows(const struct cavs__vt *vt, char *done)
{
    memset(done + vt->row0, 1, (size_t)vt->n);
}

/* Every step evaluates all that was ready when it began, one V_t a function, functions
 * ascending. */
static void check_frontier(const struct subject *t)
{
    char *done = array((size_t)t->s->rows, 1), *ready = array((size_t)t->s->rows, 1);
    for (int i = 0, step = 0; i < t->s->nvt; step++) {
        int waiting = 0, function = -1;
        for (int row = 0; row < t->s->rows; row++)
            waiting += ready[row] = is_ready(t->s, row, done);
        for (; i < t->s->nvt && t->s->vt[i].step == step; i++) {
            TRUE(t->s->vt[i].function > function);
            function = t->s->vt[i].function;
            for (int row = t->s->vt[i].row0; row < t->s->vt[i].row0 + t->s->vt[i].n; row++)
                TRUE(ready[row]);
            finish_rows(&t->s->vt[i], done);
            waiting -= t->s->vt[i].n;
        }
        SAME(waiting, 0);
        TRUE(function >= 0);
    }
    free(done);
    free(ready);
}

static int32_t *naive_levels(const struct cavs__schedule *s)
{
    int32_t *level = array((size_t)s->rows, sizeof *level);
    for (int row = 0; row < s->rows; row++)
        for (int e = s->edge_ptr[row]; e < s->edge_ptr[row + 1]; e++)
            if (s->edge_child[e] >= 0 && level[s->edge_child[e]] >= level[row])
                level[row] = level[s->edge_child[e]] + 1;
    return level;
}

/* Of how many pairs of level and function a row would be left if the ready rows of `function`
 * were done (-1: of none). */
static int pairs_left(const struct subject *t, const int32_t *level, const char *done, int function)
{
    char *left = array((size_t)t->s->rows * (size_t)t->g->nfunctions, 1);
    int pairs = 0;
    for (int row = 0; row < t->s->rows; row++) {
        int f = t->g->function[t->s->vertex_of[row]];
        bool runs = f == function && is_ready(t->s, row, done);
        char *pair = &left[level[row] * t->g->nfunctions + f];
        pairs += !done[row] && !runs && !*pair;
        *pair |= !done[row] && !runs;
    }
    free(left);
    return pairs;
}

/* What the agenda has to run next when it may leave so many pairs of level and function, and how
 * many rows of it are ready. */
static int agenda_choice(const struct subject *t, const int32_t *level, const char *done, int most,
                         int *ready)
{
    int64_t sum[MAX_FUNCTIONS] = {0}, all[MAX_FUNCTIONS] = {0};
    int can[MAX_FUNCTIONS] = {0}, best = -1;
    for (int row = 0; row < t->s->rows; row++) {
        int f = t->g->function[t->s->vertex_of[row]];
        sum[f] += level[row];
        all[f]++;
        can[f] += is_ready(t->s, row, done);
    }
    for (int f = 0; f < t->g->nfunctions; f++)
        if (can[f] && pairs_left(t, level, done, f) <= most &&
            (best < 0 || sum[f] * all[best] < sum[best] * all[f]))
            best = f;
    TRUE(best >= 0);
    *ready = can[best];
    return best;
}

static void check_agenda(const struct subject *t)
{
    int32_t *level = naive_levels(t->s);
    char *done = array((size_t)t->s->rows, 1);
    int pairs = pairs_left(t, level, done, -1);
    for (int i = 0; i < t->s->nvt; i++) {
        const struct cavs__vt *vt = &t->s->vt[i];
        int ready, function = agenda_choice(t, level, done, pairs - i - 1, &ready);
        SAME(vt->step, i);
        SAME(vt->function, function);
        SAME(vt->n, ready);
        for (int row = vt->row0; row < vt->row0 + vt->n; row++)
            TRUE(is_ready(t->s, row, done));
        finish_rows(vt, done);
    }
    TRUE(t->s->nvt <= pairs);
    free(level);
    free(done);
}

static void check_serial(const struct subject *t)
{
    SAME(t->s->nvt, t->s->rows);
    for (int i = 0; i < t->s->nvt; i++)
        SAME(t->s->vt[i].step, i);
}

static int count_under(const struct subject *t, int policy)
{
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    assert_int_equal(cavs__schedule_make(&s, t->g, &cavs__policies[policy], t->merge), 0);
    int nvt = s.nvt;
    cavs__schedule_free(&s);
    return nvt;
}

/* The agenda only if it makes fewer V_t. */
static void check_auto(const struct subject *t)
{
    int depth = count_under(t, CAVS_POLICY_DEPTH), agenda = count_under(t, CAVS_POLICY_AGENDA);
    SAME(t->s->nvt, agenda < depth ? agenda : depth);
    if (agenda < depth)
        check_agenda(t);
    else
        check_frontier(t);
}

/* Depth and frontier make the same V_t. */
static void (*const check_policy[CAVS_POLICIES])(const struct subject *) = {
    [CAVS_POLICY_SERIAL] = check_serial,     [CAVS_POLICY_DEPTH] = check_frontier,
    [CAVS_POLICY_FRONTIER] = check_frontier, [CAVS_POLICY_AGENDA] = check_agenda,
    [CAVS_POLICY_AUTO] = check_auto,
};

static void every_policy_has_a_check(void **state)
{
    (void)state;
    for (int policy = 0; policy < CAVS_POLICIES; policy++) {
        if (!check_policy[policy])
            fail_msg("the policy %s is not checked", cavs__policies[policy].name);
    }
}

static void check(const struct graph *q, const struct cavs__schedule *s, int policy, bool merge)
{
    struct subject subject = {q, &q->g, s, policy, merge}, *t = &subject;
    check_rows(t);
    if (merge && q->g.n <= 600)
        check_no_two_rows_equal(t);
    check_vt(t);
    check_edges(t);
    check_parents(t);
    check_policy[policy](t);
}

static void make(struct cavs__schedule *s, const struct graph *q, int policy, bool merge)
{
    assert_int_equal(cavs__schedule_make(s, &q->g, &cavs__policies[policy], merge), 0);
}

/* All policies, with and without merging, checked. */
static void make_and_check_all(struct cavs__schedule *s, const struct graph *q)
{
    for (int policy = 0; policy < CAVS_POLICIES; policy++)
        for (int merge = 0; merge < 2; merge++) {
            make(s, q, policy, merge);
            check(q, s, policy, merge);
        }
}

static int vt_count(struct graph *q, int policy, bool merge)
{
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    make(&s, q, policy, merge);
    int nvt = s.nvt;
    cavs__schedule_free(&s);
    return nvt;
}

/* ---- tests: invariants on random graphs ------------------------------------------------------ */

static void every_schedule_of_a_random_graph_is_right(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 7, 20, 60, 200, 500};
    int seeds = getenv("CAVS_TEST_LONG") ? 200 : 12;
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    for (int seed = 0; seed < seeds; seed++)
        for (int kind = 0; kind < RANDOM_KINDS; kind++) {
            struct graph *q = random_graph(kind, sizes[seed % 8], seed);
            make_and_check_all(&s, q);
            graph_destroy(q);
        }
    cavs__schedule_free(&s);
}

static void schedules_of_2000_vertices_are_right(void **state)
{
    (void)state;
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    for (int kind = 0; kind < RANDOM_KINDS; kind++) {
        struct graph *q = random_graph(kind, 2000, kind);
        make_and_check_all(&s, q);
        graph_destroy(q);
    }
    cavs__schedule_free(&s);
}

/* same[a * n + b]: 0 unknown, 1 equal, 2 not. */
static bool naive_equal(const struct cavs__graph *g, char *same, int a, int b)
{
    char *known = &same[a * g->n + b];
    if (*known)
        return *known == 1;
    bool equal = g->function[a] == g->function[b] && slots_of(g, a) == slots_of(g, b);
    for (int k = 0; k < g->nkeys; k++)
        equal = equal && g->keys[k][a] == g->keys[k][b];
    for (int k = 0; equal && k < slots_of(g, a); k++) {
        int x = k < children_of(g, a) ? g->child[g->child_ptr[a] + k] : -1;
        int y = k < children_of(g, b) ? g->child[g->child_ptr[b] + k] : -1;
        equal = x < 0 || y < 0 ? x == y : naive_equal(g, same, x, y);
    }
    *known = equal ? 1 : 2;
    return equal;
}

static void merging_joins_equal_vertices_and_no_others(void **state)
{
    (void)state;
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    for (int seed = 0; seed < 60; seed++) {
        struct graph *q = random_graph(seed % RANDOM_KINDS, 80, 1000 + seed);
        struct subject subject = {q, &q->g, &s, CAVS_POLICY_FRONTIER, true}, *t = &subject;
        char *same = array((size_t)q->g.n * (size_t)q->g.n, 1);
        make(&s, q, CAVS_POLICY_FRONTIER, true);
        for (int a = 0; a < q->g.n; a++)
            for (int b = 0; b < a; b++)
                SAME(s.row_of[a] == s.row_of[b], naive_equal(&q->g, same, a, b));
        free(same);
        graph_destroy(q);
    }
    cavs__schedule_free(&s);
}

/* ---- tests: known graphs --------------------------------------------------------------------- */

static void a_graph_without_vertices_has_no_batching_task(void **state)
{
    (void)state;
    struct graph *q = graph_new(0, 0, 1, (int[]){2}, 0);
    struct cavs__graph none = {.slots = q->slots};
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    make_and_check_all(&s, q);
    assert_int_equal(s.nvt, 0);
    assert_int_equal(s.rows, 0);
    assert_int_equal(s.edge_ptr[0], 0);
    assert_int_equal(s.parent_ptr[0], 0);
    assert_int_equal(cavs__schedule_make(&s, &none, &cavs__policies[CAVS_POLICY_AGENDA], true), 0);
    assert_int_equal(s.nvt, 0);
    cavs__schedule_free(&s);
    graph_destroy(q);
}

static void one_vertex_is_one_batching_task(void **state)
{
    (void)state;
    struct graph *q = graph_new(1, 0, 2, (int[]){0, 3}, 1);
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    ADD_LEAF(q, 1, 5);
    make_and_check_all(&s, q);
    assert_int_equal(s.nvt, 1);
    assert_int_equal(s.vt[0].function, 1);
    assert_int_equal(s.edges, 3);
    assert_int_equal(s.edge_child[2], -1);
    cavs__schedule_free(&s);
    graph_destroy(q);
}

static void a_chain_has_one_batching_task_a_vertex(void **state)
{
    (void)state;
    struct graph *q = chain(77);
    for (int policy = 0; policy < CAVS_POLICIES; policy++)
        assert_int_equal(vt_count(q, policy, policy % 2), 77);
    graph_destroy(q);
}

static void a_balanced_tree_has_one_batching_task_a_level(void **state)
{
    (void)state;
    struct graph *q = graph_new(511, 511, 2, (int[]){0, 2}, 1);
    add_tree(q, 256, true, 1);
    for (int policy = 0; policy < CAVS_POLICIES; policy++)
        assert_int_equal(vt_count(q, policy, false), cavs__policies[policy].alone ? 511 : 9);
    assert_int_equal(vt_count(q, CAVS_POLICY_SERIAL, true),
                     9); /* all subtrees of a level are equal */
    graph_destroy(q);
}

static void vertices_without_edges_are_one_batching_task(void **state)
{
    (void)state;
    struct graph *q = graph_new(1000, 0, 1, (int[]){0}, 1);
    for (int v = 0; v < 1000; v++)
        ADD_LEAF(q, 0, v % 10);
    for (int policy = 0; policy < CAVS_POLICIES; policy++)
        assert_int_equal(vt_count(q, policy, false), cavs__policies[policy].alone ? 1000 : 1);
    assert_int_equal(vt_count(q, CAVS_POLICY_SERIAL, true), 10);
    graph_destroy(q);
}

static void a_vertex_may_have_many_parents_and_a_child_twice(void **state)
{
    (void)state;
    struct graph *q = graph_new(1001, 2000, 2, (int[]){0, 2}, 1);
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    ADD_LEAF(q, 0, 0);
    for (int v = 1; v <= 1000; v++)
        ADD(q, 1, v, 0, 0);
    make_and_check_all(&s, q);
    make(&s, q, CAVS_POLICY_FRONTIER, true);
    assert_int_equal(s.nvt, 2);
    assert_int_equal(s.parent_ptr[1], 2000);
    cavs__schedule_free(&s);
    graph_destroy(q);
}

static void missing_children_at_the_end_are_as_good_as_none(void **state)
{
    (void)state;
    struct graph *q = graph_new(8, 16, 2, (int[]){2, -1}, 0);
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    int leaf = ADD_LEAF(q, 0, 0), a = ADD(q, 0, 0, leaf), b = ADD(q, 0, 0, leaf, -1),
        c = ADD(q, 0, 0, -1, leaf);
    int none = ADD(q, 0, 0, -1, -1), any = ADD(q, 1, 0, leaf), any_missing = ADD(q, 1, 0, leaf, -1);
    make_and_check_all(&s, q);
    make(&s, q, CAVS_POLICY_FRONTIER, true);
    assert_int_equal(s.row_of[a], s.row_of[b]);
    assert_int_equal(s.row_of[leaf], s.row_of[none]);
    assert_int_not_equal(s.row_of[a], s.row_of[c]);
    assert_int_not_equal(s.row_of[any],
                         s.row_of[any_missing]); /* any arity: the number of edges counts */
    cavs__schedule_free(&s);
    graph_destroy(q);
}

/* Chains where every state (function 0) has an output (function 1), as in Neubig et al. 2017:
 * depth evaluates outputs beside the states, a few at a time; the agenda sees that they lie
 * deeper and lets them wait for one another. */
static void agenda_takes_fewer_steps_through_a_sequence_model(void **state)
{
    (void)state;
    struct graph *q = graph_new(36, 36, 2, (int[]){1, 1}, 0);
    for (int length = 3; length <= 6; length++) {
        int v = -1;
        for (int i = 0; i < length; i++) {
            v = ADD(q, 0, 0, v);
            ADD(q, 1, 0, v);
        }
    }
    assert_int_equal(vt_count(q, CAVS_POLICY_DEPTH, false), 12);
    assert_int_equal(vt_count(q, CAVS_POLICY_FRONTIER, false), 12);
    assert_int_equal(vt_count(q, CAVS_POLICY_AGENDA, false), 7);
    assert_int_equal(vt_count(q, CAVS_POLICY_AUTO, false), 7);
    graph_destroy(q);
}

/* Long branch: 0 0 0 1, short branch: 1; then a sum of both.  Depth splits the two vertices of
 * function 1. */
static void agenda_waits_for_vertices_of_the_same_function(void **state)
{
    (void)state;
    struct graph *q = graph_new(8, 8, 3, (int[]){1, 1, 2}, 0);
    int a = ADD_LEAF(q, 0, 0), b = ADD_LEAF(q, 0, 0);
    int deep = ADD(q, 0, 0, ADD(q, 0, 0, a));
    ADD(q, 2, 0, ADD(q, 1, 0, deep), ADD(q, 1, 0, b));
    assert_int_equal(vt_count(q, CAVS_POLICY_DEPTH, false), 6);
    assert_int_equal(vt_count(q, CAVS_POLICY_AGENDA, false), 5);
    graph_destroy(q);
}

/* Two chains, as words and rare words come in sentences: 0 0 0 0 1 and 1 0 0 1.  Depth makes 7 V_t
 * of them.  Function 0 has the lower average; run whenever a vertex of it is ready, all of the
 * first chain's zeros come before any of the second's: 4 + 1 + 2 + 1 = 8. */
static void agenda_makes_no_more_tasks_than_depth(void **state)
{
    static const char *const order[] = {"00001", "1001"};
    (void)state;
    struct graph *q = graph_new(9, 9, 2, (int[]){1, 1}, 0);
    for (int k = 0; k < 2; k++) {
        int v = -1;
        for (const char *f = order[k]; *f; f++)
            v = ADD(q, *f - '0', 0, v);
    }
    assert_int_equal(vt_count(q, CAVS_POLICY_DEPTH, false), 7);
    assert_int_equal(vt_count(q, CAVS_POLICY_AGENDA, false), 6);
    graph_destroy(q);
}

/* Chains through functions of which each is in several, at depths of its own. */
static void agenda_chooses_among_hundreds_of_functions(void **state)
{
    enum { CHAINS = 60, LENGTH = 10 };
    int slots[MAX_FUNCTIONS];
    struct cavs__schedule s;
    (void)state;
    for (int f = 0; f < MAX_FUNCTIONS; f++)
        slots[f] = 1;
    struct graph *q = graph_new(CHAINS * LENGTH, CHAINS * LENGTH, MAX_FUNCTIONS, slots, 0);
    for (int k = 0; k < CHAINS; k++) {
        int v = -1;
        for (int i = 0; i < LENGTH; i++)
            v = ADD(q, (k / 4 * 7 + (k % 2 ? i : LENGTH - i) * 13) % MAX_FUNCTIONS, 0, v);
    }
    cavs__schedule_init(&s);
    make_and_check_all(&s, q);
    cavs__schedule_free(&s);
    assert_true(vt_count(q, CAVS_POLICY_AGENDA, false) < vt_count(q, CAVS_POLICY_DEPTH, false));
    graph_destroy(q);
}

static void a_chain_of_any_length_is_scheduled_without_recursion(void **state)
{
    (void)state;
    struct graph *q = chain(LONG_CHAIN), *reversed = chain(LONG_CHAIN);
    for (int v = 0; v < LONG_CHAIN; v++) { /* vertex 0 on top */
        reversed->child_ptr[v + 1] = v + 1 < LONG_CHAIN ? v + 1 : v;
        reversed->child[v] = v + 1;
    }
    for (int policy = 0; policy < CAVS_POLICIES; policy++)
        for (int merge = 0; merge < 2; merge++) {
            assert_int_equal(vt_count(q, policy, merge), LONG_CHAIN);
            assert_int_equal(vt_count(reversed, policy, merge), LONG_CHAIN);
        }
    int32_t *work = array(2 * LONG_CHAIN + 1, sizeof *work), vertex, child;
    assert_int_equal(cavs__graph_check(&reversed->g, work, &vertex, &child), CAVS__GRAPH_OK);
    free(work);
    graph_destroy(q);
    graph_destroy(reversed);
}

/* ---- tests: memory and repetition ------------------------------------------------------------ */

static void same_bytes(const struct cavs__schedule *a, const struct cavs__schedule *b,
                       const struct cavs__graph *g)
{
    size_t word = sizeof(int32_t), rows = (size_t)a->rows;
    assert_int_equal(a->nvt, b->nvt);
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->edges, b->edges);
    assert_memory_equal(a->vt, b->vt, (size_t)a->nvt * sizeof *a->vt);
    assert_memory_equal(a->row_of, b->row_of, (size_t)g->n * word);
    assert_memory_equal(a->vertex_of, b->vertex_of, rows * word);
    assert_memory_equal(a->function_rows, b->function_rows, (size_t)g->nfunctions * word);
    assert_memory_equal(a->edge_ptr, b->edge_ptr, (rows + 1) * word);
    assert_memory_equal(a->edge_child, b->edge_child, (size_t)a->edges * word);
    assert_memory_equal(a->parent_ptr, b->parent_ptr, (rows + 1) * word);
    assert_memory_equal(a->parent_edge, b->parent_edge, (size_t)a->parent_ptr[rows] * word);
}

static void a_used_schedule_gives_the_same_bytes_as_a_fresh_one(void **state)
{
    (void)state;
    struct cavs__schedule used, fresh;
    cavs__schedule_init(&used);
    for (int seed = 0; seed < 24; seed++) {
        struct graph *q = random_graph(seed % RANDOM_KINDS, 1 + (seed * 397) % 1500, seed);
        for (int i = 0; i < 2 * CAVS_POLICIES; i++) {
            cavs__schedule_init(&fresh);
            make(&fresh, q, i / 2, i % 2);
            make(&used, q, i / 2, i % 2);
            same_bytes(&used, &fresh, &q->g);
            cavs__schedule_free(&fresh);
        }
        graph_destroy(q);
    }
    cavs__schedule_free(&used);
}

static void smaller_graphs_allocate_nothing(void **state)
{
    (void)state;
    if (!counts_allocations())
        return;
    struct graph *large = random_graph(5, 1200, 1), *small = random_graph(2, 900, 2);
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    make(&s, large, CAVS_POLICY_DEPTH, false);
    long before = allocations;
    assert_true(before > 0);
    for (int i = 0; i < 2 * CAVS_POLICIES; i++) {
        make(&s, large, i / 2, i % 2);
        make(&s, small, i / 2, i % 2);
    }
    assert_int_equal(allocations, before);
    cavs__schedule_free(&s);
    graph_destroy(large);
    graph_destroy(small);
}

static void running_out_of_memory_leaves_the_last_schedule(void **state)
{
    (void)state;
    if (!counts_allocations())
        return;
    struct graph *large = random_graph(2, 900, 1), *small = random_graph(2, 100, 2);
    struct cavs__shard_scratch scratch = {0};
    struct cavs__schedule s;
    int32_t shard;
    cavs__schedule_init(&s);
    make(&s, small, CAVS_POLICY_FRONTIER, true);
    out_of_memory = true;
    int made = cavs__schedule_make(&s, &large->g, &cavs__policies[CAVS_POLICY_FRONTIER], true);
    int split = cavs__shard_split(1, (double[]){1}, 2, NULL, &shard, &scratch);
    out_of_memory = false;
    assert_int_equal(made, -1);
    assert_int_equal(split, -1);
    check(small, &s, CAVS_POLICY_FRONTIER, true);
    cavs__schedule_free(&s);
    graph_destroy(large);
    graph_destroy(small);
}

static void more_edge_rows_than_numbers_are_refused(void **state)
{
    (void)state;
    struct graph *q = graph_new(3, 0, 1, (int[]){INT32_MAX / 2}, 0);
    struct cavs__schedule s;
    cavs__schedule_init(&s);
    for (int v = 0; v < 3; v++)
        ADD_LEAF(q, 0, 0);
    assert_int_equal(cavs__schedule_make(&s, &q->g, &cavs__policies[CAVS_POLICY_FRONTIER], true),
                     -1);
    cavs__schedule_free(&s);
    graph_destroy(q);
}

/* ---- tests: graph check ---------------------------------------------------------------------- */

static void expect_fault(struct graph *q, enum cavs__graph_fault fault, int vertex, int child)
{
    int32_t *work = array(2 * (size_t)q->g.n + 1, sizeof *work), at = -7, detail = -7;
    assert_int_equal(cavs__graph_check(&q->g, work, &at, &detail), fault);
    assert_int_equal(at, vertex);
    assert_int_equal(detail, child);
    free(work);
}

static struct graph *four_vertices(void)
{
    struct graph *q = graph_new(4, 8, 2, (int[]){2, -1}, 0);
    ADD_LEAF(q, 0, 0);
    ADD(q, 0, 0, 0, -1);
    ADD(q, 1, 0, 0, 1, 1);
    ADD(q, 0, 0, 2);
    return q;
}

static void a_sound_graph_has_no_fault(void **state)
{
    (void)state;
    struct graph *q = four_vertices(), *none = graph_new(0, 0, 1, (int[]){0}, 0);
    expect_fault(q, CAVS__GRAPH_OK, -7, -7);
    expect_fault(none, CAVS__GRAPH_OK, -7, -7);
    graph_destroy(q);
    graph_destroy(none);
}

static void a_child_that_is_no_vertex_is_found(void **state)
{
    (void)state;
    struct graph *q = four_vertices();
    q->child[3] = 4;
    expect_fault(q, CAVS__GRAPH_RANGE, 2, 4);
    q->child[3] = -2;
    expect_fault(q, CAVS__GRAPH_RANGE, 2, -2);
    graph_destroy(q);
}

static void too_many_children_are_found(void **state)
{
    (void)state;
    struct graph *q = four_vertices();
    q->slots[1] = 2;
    expect_fault(q, CAVS__GRAPH_SLOTS, 2, 3);
    graph_destroy(q);
}

static void an_unknown_function_is_found(void **state)
{
    (void)state;
    struct graph *q = four_vertices();
    q->function[3] = 2;
    expect_fault(q, CAVS__GRAPH_FUNCTION, 3, 2);
    q->function[3] = -1;
    expect_fault(q, CAVS__GRAPH_FUNCTION, 3, -1);
    graph_destroy(q);
}

static void descending_child_pointers_are_found(void **state)
{
    (void)state;
    struct graph *q = four_vertices();
    q->child_ptr[1] = 1000000; /* would send a reader of vertex 0 far away */
    expect_fault(q, CAVS__GRAPH_POINTERS, 1, 2);
    q->child_ptr[1] = -1;
    expect_fault(q, CAVS__GRAPH_POINTERS, 0, -1);
    graph_destroy(q);
}

static void cycles_are_found(void **state)
{
    (void)state;
    struct graph *q = four_vertices();
    q->child[5] = 3;
    expect_fault(q, CAVS__GRAPH_CYCLE, 3, 3);
    q->child[5] = 2;
    q->child[1] = 3; /* 1 reads 3 reads 2 reads 1 */
    expect_fault(q, CAVS__GRAPH_CYCLE, 2, 1);
    graph_destroy(q);
}

static bool reaches(const struct cavs__graph *g, int from, int to, char *seen)
{
    if (from == to)
        return true;
    seen[from] = 1;
    for (int e = g->child_ptr[from]; e < g->child_ptr[from + 1]; e++)
        if (g->child[e] >= 0 && !seen[g->child[e]] && reaches(g, g->child[e], to, seen))
            return true;
    return false;
}

static bool edge_on_cycle(const struct cavs__graph *g, int vertex, int child)
{
    char *seen = array((size_t)g->n, 1);
    bool on = reaches(g, child, vertex, seen);
    free(seen);
    return on;
}

static bool has_cycle(const struct cavs__graph *g)
{
    for (int v = 0; v < g->n; v++)
        for (int e = g->child_ptr[v]; e < g->child_ptr[v + 1]; e++)
            if (g->child[e] >= 0 && edge_on_cycle(g, v, g->child[e]))
                return true;
    return false;
}

static void random_cycles_are_found_where_they_are(void **state)
{
    (void)state;
    int cyclic = 0;
    for (int seed = 0; seed < 200; seed++) {
        struct graph *q = random_graph(5, 2 + seed % 40, seed);
        int32_t work[128], v = -1, c = -1;
        if (q->child_ptr[q->g.n] > 0)
            q->child[below(q->child_ptr[q->g.n])] = below(q->g.n);
        enum cavs__graph_fault fault = cavs__graph_check(&q->g, work, &v, &c);
        assert_int_equal(fault, has_cycle(&q->g) ? CAVS__GRAPH_CYCLE : CAVS__GRAPH_OK);
        cyclic += fault == CAVS__GRAPH_CYCLE;
        assert_true(fault == CAVS__GRAPH_OK || edge_on_cycle(&q->g, v, c));
        graph_destroy(q);
    }
    assert_in_range(cyclic, 20, 180);
}

/* ---- tests: shards --------------------------------------------------------------------------- */

/* The load of the fullest part. */
static double fullest(int n, const double *work, int shards, const int32_t *shard)
{
    double *load = array((size_t)shards, sizeof *load), most = 0;
    for (int i = 0; i < n; i++) {
        assert_in_range(shard[i], 0, shards - 1);
        load[shard[i]] += work[i];
        if (load[shard[i]] > most)
            most = load[shard[i]];
    }
    free(load);
    return most;
}

static void shards_are_balanced(void **state)
{
    (void)state;
    struct cavs__shard_scratch scratch = {0};
    double work[300];
    int32_t shard[300];
    random_state = 5;
    for (int n = 0; n < 300; n += 7)
        for (int shards = 1; shards <= 65; shards += 8) {
            double sum = 0, most = 0;
            for (int i = 0; i < n; i++) {
                work[i] = 1 + below(60);
                sum += work[i];
                most = work[i] > most ? work[i] : most;
            }
            assert_int_equal(cavs__shard_split(n, work, shards, NULL, shard, &scratch), 0);
            assert_true(fullest(n, work, shards, shard) <=
                        sum / shards + most * (shards - 1) / shards + 1e-9);
        }
    cavs__shard_scratch_free(&scratch);
}

/* The best there is, by trying everything. */
static double best_split(int n, const double *work, int shards)
{
    int32_t shard[8] = {0};
    double best = fullest(n, work, shards, shard);
    for (int i = 0; i < n;) { /* counts up in base `shards` */
        for (i = 0; i < n && ++shard[i] == shards; i++)
            shard[i] = 0;
        double now = fullest(n, work, shards, shard);
        best = now < best ? now : best;
    }
    return best;
}

static void shards_are_within_a_third_of_the_best(void **state)
{
    (void)state;
    struct cavs__shard_scratch scratch = {0};
    random_state = 6;
    for (int round = 0; round < 20; round++) {
        double work[8];
        int32_t shard[8];
        int shards = 2 + round % 2;
        for (int i = 0; i < 8; i++)
            work[i] = 1 + below(20);
        assert_int_equal(cavs__shard_split(8, work, shards, NULL, shard, &scratch), 0);
        assert_true(3 * fullest(8, work, shards, shard) <= 4 * best_split(8, work, shards));
    }
    cavs__shard_scratch_free(&scratch);
}

static void long_samples_share_a_shard(void **state)
{
    (void)state;
    struct cavs__shard_scratch scratch = {0};
    double work[60], short_ones = 0;
    int32_t shard[60];
    for (int i = 0; i < 60; i++) {
        work[i] = i % 20 == 7 ? 50 : 5;
        short_ones += work[i] < 50 ? work[i] : 0;
    }
    assert_int_equal(cavs__shard_split(60, work, 2, NULL, shard, &scratch), 0);
    for (int i = 7; i < 60; i += 20)
        assert_int_equal(shard[i], 0);
    assert_true(fullest(60, work, 2, shard) <= (3 * 50 + short_ones) / 2 + 5);
    cavs__shard_scratch_free(&scratch);
}

static void shards_are_even_before_long_samples_share_one(void **state)
{
    (void)state;
    static const double work[] = {5, 5, 4, 4, 3, 3};
    struct cavs__shard_scratch scratch = {0};
    int32_t shard[6];
    assert_int_equal(cavs__shard_split(6, work, 2, NULL, shard, &scratch), 0);
    assert_true(fullest(6, work, 2, shard) == 12); /* with both of 5 in one, 13 */
    cavs__shard_scratch_free(&scratch);
}

/* When the last part is done, each at its own speed. */
static double latest(int n, const double *work, int shards, const double *share,
                     const int32_t *shard)
{
    double load[8] = {0}, last = 0;
    for (int i = 0; i < n; i++)
        load[shard[i]] += work[i];
    for (int i = 0; i < shards; i++)
        last = load[i] > last * share[i] ? load[i] / share[i] : last;
    return last;
}

static double best_shared_split(int n, const double *work, int shards, const double *share)
{
    int32_t shard[8] = {0};
    double best = latest(n, work, shards, share, shard);
    for (int i = 0; i < n;) { /* as in best_split() */
        for (i = 0; i < n && ++shard[i] == shards; i++)
            shard[i] = 0;
        double now = latest(n, work, shards, share, shard);
        best = now < best ? now : best;
    }
    return best;
}

static void shards_in_proportions_are_done_together(void **state)
{
    (void)state;
    struct cavs__shard_scratch scratch = {0};
    random_state = 7;
    for (int round = 0; round < 20; round++) {
        double work[8], share[3];
        int32_t shard[8];
        int shards = 2 + round % 2;
        for (int i = 0; i < 8; i++)
            work[i] = 1 + below(20);
        for (int i = 0; i < shards; i++)
            share[i] = 1 + below(30);
        assert_int_equal(cavs__shard_split(8, work, shards, share, shard, &scratch), 0);
        assert_true(latest(8, work, shards, share, shard) <=
                    2 * best_shared_split(8, work, shards, share));
    }
    double work[1000], share[] = {16, 1, 0, 3}, load[4] = {0};
    int32_t shard[1000];
    for (int i = 0; i < 1000; i++)
        work[i] = 1 + below(20);
    assert_int_equal(cavs__shard_split(1000, work, 4, share, shard, &scratch), 0);
    for (int i = 0; i < 1000; i++)
        load[shard[i]] += work[i];
    assert_true(fabs(load[0] / load[1] - 16) < 0.5);
    assert_true(load[2] == 0);
    assert_true(fabs(load[3] / load[1] - 3) < 0.2);
    cavs__shard_scratch_free(&scratch);
}

/* Whatever these are, also where the last sample just fits: measured rates are no round numbers. */
static void shards_in_equal_proportions_are_those_without(void **state)
{
    (void)state;
    struct cavs__shard_scratch scratch = {0};
    double work[60], alike[60];
    int32_t shared[60], plain[60], plain_alike[60];
    random_state = 8;
    for (int i = 0; i < 60; i++) {
        work[i] = below(9);
        alike[i] = 520301;
    }
    assert_int_equal(cavs__shard_split(60, work, 5, NULL, plain, &scratch), 0);
    assert_int_equal(cavs__shard_split(60, alike, 5, NULL, plain_alike, &scratch), 0);
    for (int i = 0; i < 1000; i++) {
        const double rate = exp(below(1000) / 10.0) / 3, share[] = {rate, rate, rate, rate, rate};

        assert_int_equal(cavs__shard_split(60, work, 5, share, shared, &scratch), 0);
        assert_memory_equal(shared, plain, sizeof plain);
        assert_int_equal(cavs__shard_split(60, alike, 5, share, shared, &scratch), 0);
        assert_memory_equal(shared, plain_alike, sizeof plain_alike);
    }
    cavs__shard_scratch_free(&scratch);
}

static void ties_between_samples_and_shards_go_by_number(void **state)
{
    (void)state;
    static const double work[] = {2, 5, 2, 2, 5, 0, 2};
    static const int32_t expected[] = {2, 0, 2, 2, 1, 1, 0};
    struct cavs__shard_scratch used = {0}, fresh = {0};
    int32_t shard[7], again[7];
    assert_int_equal(cavs__shard_split(7, work, 3, NULL, again, &used), 0);
    assert_int_equal(cavs__shard_split(7, work, 3, NULL, again, &used), 0);
    assert_int_equal(cavs__shard_split(7, work, 3, NULL, shard, &fresh), 0);
    assert_memory_equal(shard, again, sizeof shard);
    for (int i = 0; i < 7; i++)
        assert_int_equal(shard[i], expected[i]);
    cavs__shard_scratch_free(&used);
    cavs__shard_scratch_free(&fresh);
}

/* Blocks are consecutive, complete, not more than asked for, and none much heavier than its
 * share. */
static void blocks_are_consecutive_and_even(void **state)
{
    (void)state;
    enum { N = 40 };
    static const double weight[] = {1, 0, 3};
    struct cavs__vt vt[N];
    struct cavs__schedule s = {.nvt = N, .vt = vt};
    double total = 0, heaviest = 0;
    for (int i = 0; i < N; i++) {
        vt[i] = (struct cavs__vt){.function = i % 3, .n = 1 + i * 7 % 5};
        total += vt[i].n * weight[i % 3];
        heaviest = fmax(heaviest, vt[i].n * weight[i % 3]);
    }
    for (int most = 1; most <= 9; most++) {
        int32_t cut[10];
        int n = cavs__schedule_cut(&s, weight, total / 6, most, cut);
        assert_int_equal(n, most < 6 ? most : 6);
        assert_int_equal(cut[0], 0);
        assert_int_equal(cut[n], N);
        for (int b = 0; b < n; b++) {
            double sum = 0;
            assert_true(cut[b] < cut[b + 1]);
            for (int i = cut[b]; i < cut[b + 1]; i++)
                sum += vt[i].n * weight[i % 3];
            assert_true(sum <= total / n + heaviest);
        }
    }
}

static void light_or_empty_schedules_are_one_block(void **state)
{
    (void)state;
    static const double weight[] = {0};
    struct cavs__vt vt[] = {{.n = 100}, {.n = 3}};
    struct cavs__schedule s = {.nvt = 2, .vt = vt}, none = {0};
    int32_t cut[9] = {7, 7};
    assert_int_equal(cavs__schedule_cut(&s, weight, 1e-3, 8, cut), 1);
    assert_int_equal(cut[1], 2);
    assert_int_equal(cavs__schedule_cut(&none, weight, 1e-3, 8, cut), 1);
    assert_int_equal(cut[0] + cut[1], 0);
}

/* Rows of three keys of few values: equal rows and no others get one number. */
static void equal_rows_get_one_number(void **state)
{
    (void)state;
    enum { N = 500, KEYS = 3 };
    static int32_t keys[N * KEYS], number[N], first[N];
    struct cavs__table scratch = {0};
    for (int i = 0; i < N * KEYS; i++)
        keys[i] = (int32_t)((uint32_t)i * 2654435761u >> 30) - 1;
    int n = cavs__distinct(N, KEYS, keys, number, first, &scratch);
    assert_in_range(n, 2, 64);
    for (int i = 0; i < N; i++) {
        assert_in_range(number[i], 0, n - 1);
        assert_true(first[number[i]] <= i);
        for (int j = 0; j < i; j++)
            assert_int_equal(number[i] == number[j],
                             memcmp(keys + i * KEYS, keys + j * KEYS, KEYS * sizeof *keys) == 0);
    }
    for (int d = 0; d < n; d++) { /* in the order of first appearance */
        assert_int_equal(number[first[d]], d);
        assert_true(d == 0 || first[d - 1] < first[d]);
    }
    assert_int_equal(cavs__distinct(0, KEYS, keys, number, first, &scratch), 0);
    assert_int_equal(cavs__distinct(N, 0, keys, number, first, &scratch), 1);
    cavs__table_free(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_has_a_check),
        cmocka_unit_test(every_schedule_of_a_random_graph_is_right),
        cmocka_unit_test(schedules_of_2000_vertices_are_right),
        cmocka_unit_test(merging_joins_equal_vertices_and_no_others),
        cmocka_unit_test(a_graph_without_vertices_has_no_batching_task),
        cmocka_unit_test(one_vertex_is_one_batching_task),
        cmocka_unit_test(a_chain_has_one_batching_task_a_vertex),
        cmocka_unit_test(a_balanced_tree_has_one_batching_task_a_level),
        cmocka_unit_test(vertices_without_edges_are_one_batching_task),
        cmocka_unit_test(a_vertex_may_have_many_parents_and_a_child_twice),
        cmocka_unit_test(missing_children_at_the_end_are_as_good_as_none),
        cmocka_unit_test(agenda_takes_fewer_steps_through_a_sequence_model),
        cmocka_unit_test(agenda_waits_for_vertices_of_the_same_function),
        cmocka_unit_test(agenda_makes_no_more_tasks_than_depth),
        cmocka_unit_test(agenda_chooses_among_hundreds_of_functions),
        cmocka_unit_test(a_chain_of_any_length_is_scheduled_without_recursion),
        cmocka_unit_test(a_used_schedule_gives_the_same_bytes_as_a_fresh_one),
        cmocka_unit_test(smaller_graphs_allocate_nothing),
        cmocka_unit_test(running_out_of_memory_leaves_the_last_schedule),
        cmocka_unit_test(more_edge_rows_than_numbers_are_refused),
        cmocka_unit_test(a_sound_graph_has_no_fault),
        cmocka_unit_test(a_child_that_is_no_vertex_is_found),
        cmocka_unit_test(too_many_children_are_found),
        cmocka_unit_test(an_unknown_function_is_found),
        cmocka_unit_test(descending_child_pointers_are_found),
        cmocka_unit_test(cycles_are_found),
        cmocka_unit_test(random_cycles_are_found_where_they_are),
        cmocka_unit_test(shards_are_balanced),
        cmocka_unit_test(shards_are_within_a_third_of_the_best),
        cmocka_unit_test(long_samples_share_a_shard),
        cmocka_unit_test(shards_are_even_before_long_samples_share_one),
        cmocka_unit_test(shards_in_proportions_are_done_together),
        cmocka_unit_test(shards_in_equal_proportions_are_those_without),
        cmocka_unit_test(ties_between_samples_and_shards_go_by_number),
        cmocka_unit_test(blocks_are_consecutive_and_even),
        cmocka_unit_test(light_or_empty_schedules_are_one_block),
        cmocka_unit_test(equal_rows_get_one_number),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

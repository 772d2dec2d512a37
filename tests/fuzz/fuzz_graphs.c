/* SPDX-License-Identifier: Apache-2.0 */
/* Input graphs of any arrays: refused, or scheduled by every policy. */
#include <stdlib.h>
#include <string.h>

#include "scheduler/schedule.h"
#include "tests/fuzz/fuzz_model.h"
#include "tests/fuzz/targets.h"

enum { MOST_VERTICES = 64, MOST_EDGES = 256 };

struct arrays {
    int n;
    int function[MOST_VERTICES], ptr[MOST_VERTICES + 1], child[MOST_EDGES];
    int key[MOST_VERTICES], edge_key[MOST_EDGES];
};

/* Numbers that are mostly in range: for each vertex its function, key and number of children, and
 * those. */
static void take(struct arrays *a, struct fuzz_bytes *b)
{
    bool raw = fuzz_byte(b) % 8 == 7;
    int used = 0;

    memset(a, 0, sizeof *a);
    a->n = fuzz_byte(b) % (MOST_VERTICES + 1);
    for (int v = 0; v < a->n; v++) {
        int byte = fuzz_byte(b), n = byte / 16 % 4;

        a->function[v] = raw ? byte - 64 : byte % 3;
        a->key[v] = byte / 64;
        for (int k = 0; k < n && used < MOST_EDGES; k++) {
            a->edge_key[used] = k % 2;
            a->child[used++] = (int8_t)fuzz_byte(b);
        }
        a->ptr[v + 1] = raw ? (int8_t)fuzz_byte(b) : used;
    }
}

/* Every vertex has a row, and children are evaluated in earlier V_t. */
static void check_schedule(const struct cavs__schedule *s, const struct cavs__graph *g)
{
    int rows = 0;

    for (int i = 0; i < s->nvt; i++) {
        FUZZ_MUST(s->vt[i].row0 == rows && s->vt[i].n > 0, "V_%d begins at row %d", i,
                  s->vt[i].row0);
        rows += s->vt[i].n;
    }
    FUZZ_MUST(rows == s->rows && s->rows <= g->n, "%d rows of %d", rows, s->rows);
    for (int v = 0; v < g->n; v++) {
        FUZZ_MUST(s->row_of[v] >= 0 && s->row_of[v] < rows, "row %d", s->row_of[v]);
        for (int k = g->child_ptr[v]; k < g->child_ptr[v + 1]; k++)
            FUZZ_MUST(g->child[k] < 0 || s->row_of[g->child[k]] < s->row_of[v],
                      "vertex %d stands before its child %d", v, g->child[k]);
    }
}

static void schedule(const struct arrays *a)
{
    static const int slots[] = {0, 2, -1};
    const int32_t *keys[] = {a->key}, *edge_keys[] = {a->edge_key};
    struct cavs__graph g = {.n = a->n,
                            .nfunctions = 3,
                            .function = a->function,
                            .child_ptr = a->ptr,
                            .child = a->child,
                            .slots = slots,
                            .nkeys = 1,
                            .keys = keys,
                            .nedge_keys = 1,
                            .edge_keys = edge_keys};
    struct cavs__schedule s;

    cavs__schedule_init(&s);
    for (int policy = 0; policy < CAVS_POLICIES; policy++) {
        for (int merge = 0; merge < 2; merge++) {
            FUZZ_MUST(cavs__schedule_make(&s, &g, &cavs__policies[policy], merge) == 0,
                      "no memory");
            check_schedule(&s, &g);
        }
    }
    cavs__schedule_free(&s);
}

void fuzz_graphs(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    struct cavs_data *d;
    struct arrays a;

    FUZZ_MUST(cavs_data_create(fuzz_model(), &d) == 0, "%s", cavs_error_message());
    while (b.size) {
        take(&a, &b);
        FUZZ_MUST(cavs_data_begin(d) == 0, "%s", cavs_error_message());
        if (cavs_data_graph(d, fuzz_stage(), a.n, a.function, a.ptr, a.child) == 0)
            schedule(&a);
        else
            FUZZ_MUST(*cavs_error_message(), "refused without a message");
        FUZZ_MUST(cavs_data_end(d) < 0 || a.n == 0, "a sample without inputs was taken");
    }
    cavs_data_destroy(d);
}

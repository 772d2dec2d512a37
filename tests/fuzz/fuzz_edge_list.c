/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of named nodes, and splits of them. */
#include <stdlib.h>

#include "apps/common/edge_list.h"
#include "tests/fuzz/targets.h"

static void check_graph(const struct edge_list *g)
{
    for (int i = 0; i < g->nedges; i++)
        FUZZ_MUST(g->from[i] >= 0 && g->from[i] < g->n && g->to[i] >= 0 && g->to[i] < g->n,
                  "edge from %d to %d of %d nodes", g->from[i], g->to[i], g->n);
    for (int v = 0; v < g->n; v++)
        FUZZ_MUST(g->label[v] >= 0 && g->label[v] + 1 < vocab_size(g->labels), "label %d",
                  g->label[v]);
}

static void read_split(const char *path, int n)
{
    struct app_error e = {0};
    int *nodes, count;

    if (edge_list_split(path, n, &nodes, &count, &e) < 0) {
        FUZZ_MUST(e.text[0], "refused without a message");
        return;
    }
    for (int i = 0; i < count; i++)
        FUZZ_MUST(nodes[i] >= 0 && nodes[i] < n, "node %d of %d", nodes[i], n);
    free(nodes);
}

/* What was read is read without its classes, too. */
static void read_unlabelled(const struct fuzz_file *file, const struct edge_list *g)
{
    struct edge_list again = {
        .form = {.width = g->width, .classes = g->labels, .unlabelled = true}};
    struct app_error e = {0};

    FUZZ_MUST(edge_list_load(file[0].path, file[1].path, &again, &e) == 0, "%s", e.text);
    FUZZ_MUST(again.n == g->n && again.nedges == g->nedges, "%d nodes, %d edges", again.n,
              again.nedges);
    edge_list_clear(&again);
}

void fuzz_edge_list(const uint8_t *data, size_t size)
{
    struct fuzz_part part[3];
    struct fuzz_file file[3];
    struct edge_list g = {0};
    struct app_error e = {0};

    fuzz_split(data, size, 3, part);
    for (int i = 0; i < 3; i++)
        file[i] = fuzz_file(part[i].data, part[i].size);
    if (edge_list_load(file[0].path, file[1].path, &g, &e) == 0) {
        check_graph(&g);
        read_split(file[2].path, g.n);
        if (g.width > 0)
            read_unlabelled(file, &g);
    } else {
        FUZZ_MUST(e.text[0], "refused without a message");
    }
    edge_list_clear(&g);
    for (int i = 0; i < 3; i++)
        fuzz_file_close(&file[i]);
}

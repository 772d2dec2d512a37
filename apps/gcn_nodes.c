/* SPDX-License-Identifier: Apache-2.0 */
#include "apps/gcn_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".content"

static const char *const ends[APP_SETS] = {"train", "val", "test"};

/* The path of the file that has the name of `content` but another end; NULL: memory is short. */
static char *beside(const char *content, const char *end)
{
    int stem = (int)(strlen(content) - strlen(SUFFIX));
    char *path;

    return asprintf(&path, "%.*s.%s", stem, content, end) < 0 ? NULL : path;
}

bool gcn_is_content(const char *path)
{
    size_t n = strlen(path), end = strlen(SUFFIX);

    return n >= end && strcmp(path + n - end, SUFFIX) == 0;
}

static int load_graph(const char *content, struct gcn_nodes *n, struct app_error *e)
{
    char *cites = beside(content, "cites");
    int rc = cites ? edge_list_load(content, cites, &n->graph, e) : CAVS_ENOMEM;

    free(cites);
    return rc;
}

static int load_set(const char *content, enum app_set set, struct gcn_nodes *n, struct app_error *e)
{
    char *path = beside(content, ends[set]);
    int rc =
        path ? edge_list_split(path, n->graph.n, &n->set[set], &n->count[set], e) : CAVS_ENOMEM;

    if (rc == 0 && set == APP_TRAIN && n->count[set] == 0)
        rc = app_fail(e, CAVS_EDATA, "%s: no nodes in it to train on", path);
    free(path);
    return rc;
}

int gcn_nodes_load(const char *content, const bool *wanted, struct gcn_nodes *out,
                   struct app_error *e)
{
    int rc;

    if (!gcn_is_content(content))
        return app_fail(e, CAVS_EINVAL, "%s does not end in " SUFFIX, content);
    rc = load_graph(content, out, e);
    for (int i = 0; i < APP_SETS && rc == 0; i++)
        if (wanted[i])
            rc = load_set(content, i, out, e);
    return rc;
}

void gcn_nodes_clear(struct gcn_nodes *n)
{
    for (int i = 0; i < APP_SETS; i++)
        free(n->set[i]);
    edge_list_clear(&n->graph);
    *n = (struct gcn_nodes){0};
}

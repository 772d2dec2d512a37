/* SPDX-License-Identifier: Apache-2.0 */
/* collected_rows.c - see collected_rows.h. */
#include "core/tape/collected_rows.h"

#include <stdlib.h>
#include <string.h>

#include "codelets/device_set.h"
#include "codelets/part.h"
#include "core/base/error.h"
#include "memory/handover.h"

int cavs__collecting_init(struct cavs__collecting *c, int nshards)
{
    c->args = calloc((size_t)nshards, sizeof *c->args);
    if (!c->args || cavs__tensor_init(&c->which, "lines that are asked for", 1, nshards) != 0 ||
        cavs__tensor_init(&c->lines, "rows that are asked for", CAVS__LINE, nshards) != 0)
        return cavs__fail_nomem("tape", (size_t)nshards * sizeof *c->args);
    cavs__lines_codelet(&c->codelet);
    return CAVS_OK;
}

void cavs__collecting_free(struct cavs__collecting *c)
{
    cavs__tensor_free(&c->which);
    cavs__tensor_free(&c->lines);
    free(c->args);
}

bool cavs__is_collected(const struct cavs__engine *e, int shard)
{
    int home = cavs__home_of(e, shard);
    int device = home >= 0 ? e->homes->home[home].device : -1;

    return device >= 0 && cavs__devices->usable(device);
}

int32_t *cavs__collecting_begin(struct cavs__collecting *c, struct cavs__engine *e, int shard,
                                int nlines)
{
    void *which;

    c->args[shard].n = nlines;
    if (cavs__reserve(e, &c->which, shard, nlines) != CAVS_OK ||
        cavs__reserve(e, &c->lines, shard, nlines) != CAVS_OK)
        return NULL;
    which = cavs__tensor_acquire(&c->which, shard, STARPU_W);
    return which;
}

int cavs__collect(struct cavs__collecting *c, const struct cavs__engine *e, int shard,
                  starpu_data_handle_t from)
{
    struct starpu_task *t = starpu_task_create();
    int rc;

    cavs__tensor_release(&c->which, shard);
    t->cl = &c->codelet;
    t->cl_arg = &c->args[shard];
    t->handles[0] = c->lines.chunks[shard].handle;
    t->handles[1] = c->which.chunks[shard].handle;
    t->handles[2] = from;
    cavs__place_task(e, shard, t);
    cavs__handover_submit(t);
    rc = starpu_task_submit(t);
    if (rc == 0)
        return CAVS_OK;
    cavs__task_drop(t);
    return cavs__fail(CAVS_ERUNTIME, "StarPU refused task %s: %s", c->codelet.name, strerror(-rc));
}

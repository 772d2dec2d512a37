/* SPDX-License-Identifier: Apache-2.0 */
/* placement.c - where a task may run: at the home of its shard, off devices, or as a test wants. */
#include <string.h>

#include "codelets/device_set.h"
#include "core/run/engine.h"

static void stay_home(const struct cavs__home *h, struct starpu_task *t)
{
    if (!(t->cl->where & h->where) || (h->device >= 0 && !cavs__devices->usable(h->device)))
        return;
    t->where = (int32_t)h->where;
    if (h->device < 0)
        return;
    t->workerids = (uint32_t *)h->workers;
    t->workerids_len = sizeof h->workers / sizeof *h->workers;
}

bool cavs__is_at_device(const struct starpu_task *t)
{
    return t->workerids_len > 0;
}

static void force(const struct cavs__engine *e, const char *placement, struct starpu_task *t)
{
    uint32_t devices = t->cl->where & cavs__devices->kinds();
    bool device = devices != 0;

    if (!device)
        return;
    if (strcmp(placement, "alternate") == 0)
        device = (e->tasks + e->batches) & 1;
    else
        device = strcmp(placement, "device") == 0;
    t->where = (int32_t)(device ? devices : (uint32_t)STARPU_CPU);
}

void cavs__keep_off(struct starpu_task *t, uint32_t kinds)
{
    uint32_t where = t->where < 0 ? t->cl->where : (uint32_t)t->where;

    if (!(where & kinds))
        return;
    where &= ~kinds;
    t->where = (int32_t)(where ? where : t->cl->where & ~kinds);
    t->workerids = NULL;
    t->workerids_len = 0;
}

void cavs__place_task(const struct cavs__engine *e, int shard, struct starpu_task *t)
{
    int home = cavs__home_of(e, shard);

    if (!e->devices)
        cavs__keep_off(t, cavs__devices->kinds()); /* there are devices, but not for this session */
    else if (e->rt->placement && strcmp(e->rt->placement, "any") != 0)
        force(e, e->rt->placement, t);
    else if (home >= 0)
        stay_home(&e->homes->home[home], t);
}

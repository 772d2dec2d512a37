/* SPDX-License-Identifier: Apache-2.0 */
/*
 * helpers.c - workers that have nothing to do help with a task: which tasks, and the tasks of the
 * helpers.
 *
 * A batch of few shards has less to do at a time than there are workers.  Rows of a thin V_t cannot
 * be cut, but columns of its products can, and rows of updates (codelets/products/claims.h).  The
 * task that runs them submits tasks for helpers when it begins: no helper waits for a task that has
 * not begun, and who begins when it is over has nothing to do.  Helpers touch data while the task
 * runs only, which has taken all of them, so they take none themselves; and they belong to the
 * batch.
 */
#include <math.h>
#include <sched.h>
#include <stdatomic.h>

#include "codelets/products/claims.h"
#include "core/run/pieces.h"
#include "core/run/simulated.h"
#include "memory/handover.h"

/* ---- helpers ---- */

/* Behind all other tasks, also those of gradients (submit_kind.c): a worker that has something else
 * to do does not help. */
enum { PRIORITY = -(1 << 30) - 1 };

/* Nanoseconds that a helper waits for something to do before it goes; and where the task is all
 * that there is to do. */
enum { PATIENCE = 60000, ALL_LONG = 1000000 };

/* The tasks of a shard in a batch with which others help. */
struct cavs__helped {
    struct cavs__helping task; /* has to be first; its claims are NULL before the first task */
    struct cavs__engine *engine;
    int slot, most;
    int tasks;         /* how many have been submitted; the submitting thread's */
    atomic_bool owned; /* a task has opened its products to others; two tasks may run at once */
    atomic_int called; /* helpers that have been submitted and are not gone */
    atomic_int ended;  /* how many tasks have ended */
    atomic_int all;    /* how many tasks there are; negative: there may be more */
};

static void run_helper(void *descr[], void *arg)
{
    struct cavs__helped *h = arg;
    struct cavs__engine *e;

    (void)descr;
    cavs__handover_begin();
    e = h->engine;
    cavs__claims_help(h->task.claims, starpu_worker_get_id(),
                      e->options->measure ? &e->nanoseconds[CAVS__COST_PRODUCT] : NULL);
    atomic_fetch_sub(&h->called, 1);
    cavs__handover_end();
}

static struct starpu_codelet codelet = {.cpu_funcs = {run_helper},
                                        .cpu_funcs_name = {"cavs_help"},
                                        .where = STARPU_CPU,
                                        .name = "cavs_help"};

/* Submits a helper.  It is not counted among the tasks of the batch, since there may be more of
 * them or fewer; but the batch waits for it.  Where StarPU refuses it, there is none. */
static void call(struct cavs__helped *h)
{
    struct cavs__slot *slot = &h->engine->slots[h->slot];
    struct starpu_task *t = cavs__task_create(h->engine, h->slot, -1, &codelet, h);

    t->priority = PRIORITY;
    atomic_fetch_add(&h->called, 1);
    cavs__slot_hold(slot);
    cavs__handover_submit(t);
    if (starpu_task_submit(t) == 0)
        return;
    cavs__task_drop(t);
    cavs__slot_release(slot->laps);
    atomic_fetch_sub(&h->called, 1);
}

static void begin(struct cavs__helping *task)
{
    struct cavs__helped *h = (struct cavs__helped *)task;

    if (atomic_exchange(&h->owned, true))
        return;
    cavs__claims_open(h->task.claims, starpu_worker_get_id());
    for (int i = atomic_load(&h->called); i < h->most; i++)
        call(h);
}

/* Closes the claims when the last task has ended; called when one has, and when it becomes known
 * how many there are. */
static void close_after_last(struct cavs__helped *h)
{
    if (atomic_load(&h->ended) == atomic_load(&h->all))
        cavs__claims_close(h->task.claims);
}

static void end(struct cavs__helping *task)
{
    struct cavs__helped *h = (struct cavs__helped *)task;

    if (cavs__claims_open(NULL, 0))
        atomic_store(&h->owned, false);
    atomic_fetch_add(&h->ended, 1);
    close_after_last(h);
}

/* ---- which batches ---- */

/* Does the part read weights that do not stay in the cache of one worker from one V_t to the next?
 * Those of half a cache do not: between a V_t of the forward pass and that of the next batch the
 * backward pass reads as much. */
static bool has_large_weights(const struct cavs__engine *e, const struct cavs__part *p)
{
    return p && 2 * p->panel_bytes >= e->rt->l2_bytes;
}

static bool is_large(const struct cavs__engine *e, const struct cavs__task_kind *k)
{
    for (int i = 0; i < k->nparts; i++) {
        if (has_large_weights(e, k->parts[i]))
            return true;
    }
    return false;
}

/* The number of the stage whose chain has large weights; -1: there is none, or more than one.
 * Chains of several stages may run side by side, which is better than any help. */
static int large_chain(const struct cavs__engine *e)
{
    int number = -1;

    for (int i = 0; i < e->plan->model->nstages; i++) {
        const struct cavs__stage_plan *sp = &e->plan->stages[i];
        bool large = false;

        for (int j = 0; j < sp->nkinds; j++)
            large |= cavs__chain_of(sp->kinds[j]) && is_large(e, sp->kinds[j]);
        if (large && number >= 0)
            return -1;
        number = large ? i : number;
    }
    return number;
}

/* The number of the stage with whose chain workers help, if some have nothing to do; -1: none.
 * They stay for as long as the chain takes, so they do not help where others count on them. */
static int helped_stage(const struct cavs__engine *e)
{
    const struct cavs_runtime *rt = e->rt;

    if (!rt->one_memory || e->devices || rt->ranks || rt->leave_to_workers ||
        cavs__simulated_cores() > 0 || cavs__policies[e->options->policy].alone)
        return -1;
    return large_chain(e);
}

/* How many helpers each shard of a batch gets: workers that have no shard. */
static int helpers(const struct cavs__engine *e, int shards)
{
    const int idle = e->rt->workers / shards - 1;

    if (idle < 1 || helped_stage(e) < 0)
        return 0;
    return idle < CAVS__CLAIMANTS - 1 ? idle : CAVS__CLAIMANTS - 1;
}

bool cavs__may_help(const struct cavs__engine *e)
{
    return helpers(e, 1) > 0;
}

/* ---- shards ---- */

/* What a shard has, at least one of both, if others can help with it: with less a second shard,
 * whose worker reads all weights again for as thin V_t, gains less than a helper. */
enum { SAMPLES = 4, VERTICES = 256 };

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int cavs__shards_of_few(const struct cavs__engine *e, const struct cavs_data *d, const int *samples,
                        int n)
{
    /* So many give all cores something to do, even if that is more than there are workers: how a
     * batch is cut does not depend on how many these are. */
    const int least = (e->nshards + CAVS__CLAIMANTS - 1) / CAVS__CLAIMANTS;
    const int stage = e->options->shards == 0 && n < SAMPLES * e->nshards ? helped_stage(e) : -1;
    const int64_t *start = stage >= 0 ? cavs__starts(&d->stages[stage]) : NULL;
    int64_t vertices = 0, most;

    for (int i = 0; start && i < n; i++)
        vertices += start[samples[i] + 1] - start[samples[i]];
    most = larger(least, larger(n / SAMPLES, vertices / VERTICES));
    return start && most < e->nshards ? (int)most : e->nshards;
}

/* ---- which tasks ---- */

/* Does help pay?  The largest weights of a task decide: smaller ones beside them are helped with,
 * too. */
static bool pays(const struct cavs__piece *w)
{
    for (int i = 0; i < w->n; i++) {
        if (has_large_weights(w->of->e, w->k->parts[w->segments[i].function]))
            return true;
    }
    return false;
}

/* ---- submitting ---- */

/* One shard's tasks wait for one another.  Where they are small all of them are one task then, with
 * whose products and updates the others help: nothing is handed from one to another but what they
 * claim. */
static void join_all(struct cavs__engine *e)
{
    if (e->join.grain <= 0)
        return;
    e->join.grain = INFINITY;
    e->join.helping = &e->helped->task;
}

void cavs__helped_begin(const struct cavs__submission *of, int shards)
{
    struct cavs__engine *e = of->e;
    const int n = of->b->nshards, most = e->here.now ? 0 : helpers(e, shards);
    struct cavs__helped *h = most > 0 ? cavs__arena_alloc(of->arena, (size_t)n * sizeof *h) : NULL;

    for (int i = 0; h && i < n; i++) {
        h[i] = (struct cavs__helped){
            .task = {.begin = begin, .end = end}, .engine = e, .slot = of->slot, .most = most};
        atomic_init(&h[i].owned, false);
        atomic_init(&h[i].called, 0);
        atomic_init(&h[i].ended, 0);
        atomic_init(&h[i].all, -1);
    }
    e->helped = h;
    e->join.helping = NULL;
    if (h && n == 1)
        join_all(e);
}

bool cavs__helping_task(struct cavs__engine *e, struct cavs__arena *arena,
                        struct cavs__helping *helping)
{
    struct cavs__helped *h = (struct cavs__helped *)helping;
    void *room;

    if (!helping->claims) {
        room = cavs__arena_alloc(arena, cavs__claims_bytes());
        helping->claims =
            room ? cavs__claims_init(room, 1 + h->most, e->join.helping ? ALL_LONG : PATIENCE)
                 : NULL;
    }
    h->tasks += helping->claims != NULL;
    return helping->claims != NULL;
}

struct cavs__helping *cavs__helping_of(const struct cavs__piece *w)
{
    struct cavs__engine *e = w->of->e;
    struct cavs__helping *helping = &e->helped[w->shard].task;

    if (!pays(w))
        return NULL;
    cavs__count_cuts(&cavs__cuts_of(w)->helped, 1);
    return !e->join.helping && cavs__helping_task(e, w->of->arena, helping) ? helping : NULL;
}

/* The task does not run on the core of the thread that prepares batches, which pushes a worker
 * aside once a batch: a helper can be done without. */
void cavs__helped_place(const struct cavs__engine *e, struct starpu_task *t)
{
    const int core = sched_getcpu();
    int i = 0;

    while (i + 1 < e->rt->workers && starpu_worker_get_bindid(i) == core)
        i++;
    t->execute_on_a_specific_worker = 1;
    t->workerid = (unsigned)i;
}

void cavs__helped_end(struct cavs__engine *e, int shards)
{
    for (int i = 0; e->helped && i < shards; i++) {
        struct cavs__helped *h = &e->helped[i];

        if (!h->task.claims)
            continue;
        atomic_store(&h->all, h->tasks);
        close_after_last(h);
    }
    e->helped = NULL;
    e->join.helping = NULL;
}

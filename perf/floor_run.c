/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_run.c - threads and batches of the hand-written models.
 *
 * Two barriers a batch: one after the gradients, one after the update.  Threads spin in them, as a
 * batch may take no more than a few milliseconds.
 */
#include <sched.h>
#include <stdlib.h>

#include "perf/floor_run.h"

/* ---- a barrier that spins -------------------------------------------------------------------- */

static void meet(struct floor_barrier *b)
{
    int round = atomic_load(&b->round);

    if (atomic_fetch_add(&b->arrived, 1) + 1 == b->threads) {
        atomic_store(&b->arrived, 0);
        atomic_store(&b->round, round + 1);
        return;
    }
    for (int spins = 0; atomic_load(&b->round) == round; spins++)
        if (spins > 20000)
            sched_yield(); /* there may be fewer cores than threads */
}

/* ---- the trees of a batch -------------------------------------------------------------------- */

static int tree_size(const struct floor_run *run, int tree)
{
    const struct forest *f = run->set->forest;

    return f->first[tree + 1] - f->first[tree];
}

static int larger_first(const void *a, const void *b)
{
    const struct floor_sized_tree *x = a, *y = b;

    return x->vertices != y->vertices ? y->vertices - x->vertices : x->tree - y->tree;
}

/* Largest tree first, always to the thread that has least so far. */
static void divide(struct floor_run *run, const int *samples, int n)
{
    int threads = run->set->threads;
    int64_t load[FLOOR_THREADS] = {0};

    for (int i = 0; i < n; i++)
        run->sorted[i] = (struct floor_sized_tree){samples[i], tree_size(run, samples[i])};
    qsort(run->sorted, n, sizeof *run->sorted, larger_first);
    for (int t = 0; t < threads; t++)
        run->members[t].ntrees = 0;
    for (int i = 0; i < n; i++) {
        int least = 0;

        for (int t = 1; t < threads; t++)
            if (load[t] < load[least])
                least = t;
        load[least] += run->sorted[i].vertices;
        run->members[least].trees[run->members[least].ntrees++] = run->sorted[i].tree;
    }
}

/* ---- an epoch -------------------------------------------------------------------------------- */

/* One thread only; the others wait. */
static void begin_batch(struct floor_run *run, const int *samples, int n)
{
    if (run->set->before_batch)
        run->set->before_batch(run->set->context, samples, n);
    divide(run, samples, n);
    run->step++;
}

static void run_trees(struct floor_member *m)
{
    const struct floor_settings *set = m->run->set;
    struct floor_part *p = &m->part;

    p->loss = 0;
    p->count = 0;
    if (m->ntrees == 0)
        return;
    floor_levels_build(&p->levels, set->forest, m->trees, m->ntrees);
    set->model->forward(p);
    if (set->train)
        set->model->backward(p);
}

static void sum_losses(struct floor_run *run)
{
    for (int t = 0; t < run->set->threads; t++) {
        run->loss += run->members[t].part.loss;
        run->count += run->members[t].part.count;
    }
}

static void run_batch(struct floor_member *m)
{
    struct floor_run *run = m->run;

    run_trees(m);
    meet(&run->barrier);
    if (run->set->train)
        floor_update(m);
    if (m->part.thread == 0)
        sum_losses(run);
    meet(&run->barrier);
}

/* Threads stay on one core each, as those of a runtime do. */
static void bind_to_core(int thread)
{
    cpu_set_t allowed, one;
    int seen = 0;

    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && seen++ == thread)
            CPU_SET(cpu, &one);
    if (CPU_COUNT(&one))
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *run_member(void *arg)
{
    struct floor_member *m = arg;
    struct floor_run *run = m->run;
    int batch = run->set->batch;

    bind_to_core(m->part.thread);
    for (int i = 0; i < run->samples; i += batch) {
        int n = run->samples - i < batch ? run->samples - i : batch;

        if (m->part.thread == 0)
            begin_batch(run, run->order + i, n);
        meet(&run->barrier);
        run_batch(m);
    }
    return NULL;
}

double floor_run_epoch(struct floor_run *run, const int *order, int n)
{
    int threads = run->set->threads;

    run->order = order;
    run->samples = n;
    run->loss = 0;
    run->count = 0;
    for (int t = 0; t < threads; t++)
        if (pthread_create(&run->members[t].thread, NULL, run_member, &run->members[t]) != 0)
            abort(); /* the others would wait for it for ever */
    for (int t = 0; t < threads; t++)
        pthread_join(run->members[t].thread, NULL);
    return run->loss / run->count;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

/* What one thread may have to hold: the largest trees make a batch, and LPT leaves no thread with
 * more than its share and one tree. */
static int most_vertices(const struct floor_run *run)
{
    int trees = run->set->forest->trees, batch = run->set->batch;
    struct floor_sized_tree *all = floor_zeros(trees, sizeof *all);
    int64_t sum = 0;

    for (int i = 0; i < trees; i++)
        all[i] = (struct floor_sized_tree){i, tree_size(run, i)};
    qsort(all, trees, sizeof *all, larger_first);
    for (int i = 0; i < trees && i < batch; i++)
        sum += all[i].vertices;
    sum = sum / run->set->threads + all[0].vertices;
    free(all);
    return (int)sum;
}

static void create_touched(struct floor_touched *w, int words, int leaves)
{
    w->stamp = floor_zeros(words, sizeof *w->stamp);
    w->number = floor_zeros(words, sizeof *w->number);
    w->ids = floor_zeros(leaves, sizeof *w->ids);
    w->ptr = floor_zeros(leaves + 1, sizeof *w->ptr);
    w->source = floor_zeros(leaves, sizeof *w->source);
    w->row = floor_zeros(leaves, sizeof *w->row);
    w->next = floor_zeros(leaves, sizeof *w->next);
}

static void create_member(struct floor_run *run, int thread, int vertices, int depth)
{
    const struct floor_settings *set = run->set;
    struct floor_member *m = &run->members[thread];

    m->run = run;
    m->trees = floor_zeros(set->batch, sizeof *m->trees);
    m->part = (struct floor_part){.thread = thread,
                                  .sizes = set->sizes,
                                  .train = set->train,
                                  .blas = cavs__gemm(),
                                  .params = run->params};
    floor_levels_create(&m->part.levels, set->batch, vertices, depth);
    set->model->create(&m->part, set->batch, vertices);
    create_touched(&m->touched, set->sizes.words, vertices * set->threads);
}

struct floor_run *floor_run_create(const struct floor_settings *s, struct floor_params *params)
{
    struct floor_run *run = floor_zeros(1, sizeof *run);
    struct forest_stats stats = {0};
    struct app_error error;
    int vertices;

    run->set = s;
    run->params = params;
    run->barrier.threads = s->threads;
    run->members = floor_zeros(s->threads, sizeof *run->members);
    run->sorted = floor_zeros(s->batch, sizeof *run->sorted);
    forest_measure(s->forest, &stats, &error);
    vertices = most_vertices(run);
    for (int t = 0; t < s->threads; t++)
        create_member(run, t, vertices, stats.max_levels);
    return run;
}

static void destroy_member(struct floor_run *run, struct floor_member *m)
{
    run->set->model->destroy(&m->part);
    floor_levels_destroy(&m->part.levels);
    free(m->trees);
    free(m->touched.stamp);
    free(m->touched.number);
    free(m->touched.ids);
    free(m->touched.ptr);
    free(m->touched.source);
    free(m->touched.row);
    free(m->touched.next);
}

void floor_run_destroy(struct floor_run *run)
{
    for (int t = 0; t < run->set->threads; t++)
        destroy_member(run, &run->members[t]);
    free(run->members);
    free(run->sorted);
    free(run);
}

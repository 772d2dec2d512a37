/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor_run.c - threads, batches and updates of the hand-written models.
 *
 * Two barriers a batch: one after the gradients, one after the update.  Threads spin in them, as a
 * batch may take no more than a few milliseconds.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "codelets/products/panels.h"
#include "perf/floor.h"

/* ---- a barrier that spins -------------------------------------------------------------------- */

struct barrier {
    int threads;
    atomic_int arrived, round;
};

static void meet(struct barrier *b)
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

/* ---- one thread ------------------------------------------------------------------------------ */

/* The table's rows that a thread updates: where each one's gradients are. */
struct touched {
    int64_t *stamp; /* [words]: the batch that a word was last seen in */
    int *number;    /* [words]: its place in ids */
    int32_t *ids, *ptr, *source, *row, *next;
};

struct member {
    struct floor_part part;
    struct floor_run *run;
    pthread_t thread;
    int *trees; /* of the batch */
    int ntrees;
    struct touched touched;
};

struct sized_tree {
    int tree, vertices;
};

struct floor_run {
    const struct floor_settings *set;
    struct floor_params *params;
    struct barrier barrier;
    struct member *members;
    const int *order;
    int samples;
    int64_t step; /* updates so far */
    double loss;  /* of the epoch */
    int64_t count;
    struct sized_tree *sorted; /* [batch]: its trees, largest first */
};

static int tree_size(const struct floor_run *run, int tree)
{
    const struct forest *f = run->set->forest;

    return f->first[tree + 1] - f->first[tree];
}

static int larger_first(const void *a, const void *b)
{
    const struct sized_tree *x = a, *y = b;

    return x->vertices != y->vertices ? y->vertices - x->vertices : x->tree - y->tree;
}

/* Largest tree first, always to the thread that has least so far. */
static void divide(struct floor_run *run, const int *samples, int n)
{
    int threads = run->set->threads;
    int64_t load[FLOOR_THREADS] = {0};

    for (int i = 0; i < n; i++)
        run->sorted[i] = (struct sized_tree){samples[i], tree_size(run, samples[i])};
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

/* ---- updates --------------------------------------------------------------------------------- */

/* Threads that have trees in this batch: the others' gradients are not looked at. */
static int dense_gradients(const struct floor_run *run, const struct floor_param *p,
                           const float **grad)
{
    int n = 0;

    for (int t = 0; t < run->set->threads; t++)
        if (run->members[t].ntrees)
            grad[n++] = p->grad[t];
    return n;
}

/* A share of the rows, in multiples of a panel's columns, which the transpose's are. */
static int first_row(int rows, int thread, int threads)
{
    int row = (int)((int64_t)cavs__panels(rows) * thread / threads) * CAVS__PANEL;

    return row < rows ? row : rows;
}

static void update_matrix(const struct floor_run *run, const struct cavs__update *u, int thread,
                          struct floor_param *p)
{
    int from = first_row(p->rows, thread, run->set->threads);
    int end = first_row(p->rows, thread + 1, run->set->threads);
    const float *grad[FLOOR_THREADS];
    int n = dense_gradients(run, p, grad);
    size_t at = (size_t)from * p->cols;
    struct cavs__copy copies[2];

    for (int i = 0; i < n; i++)
        grad[i] += at;
    cavs__update_dense(u, 0, end - from, p->cols, p->w + at, p->cols, p->s0 + at, p->s1 + at, n,
                       grad, p->cols, floor_copies_from(p, from, copies), copies);
}

/* The words of the batch that are this thread's, and how often each occurs (in ptr[1 ...]). */
static int count_words(const struct floor_run *run, struct touched *w, int thread)
{
    int n = 0, threads = run->set->threads;

    for (int t = 0; t < threads; t++) {
        const struct floor_levels *l = &run->members[t].part.levels;

        for (int i = 0; run->members[t].ntrees && i < l->leaves; i++) {
            int id = l->word[i];

            if (id % threads != thread)
                continue;
            if (w->stamp[id] != run->step) {
                w->stamp[id] = run->step;
                w->number[id] = n;
                w->ids[n++] = id;
                w->ptr[n] = 0;
            }
            w->ptr[w->number[id] + 1]++;
        }
    }
    return n;
}

/* Lists the rows of each word's gradients, after count_words(). */
static void list_rows(const struct floor_run *run, struct touched *w, int thread, int n)
{
    int threads = run->set->threads;

    w->ptr[0] = 0;
    for (int k = 0; k < n; k++)
        w->next[k] = w->ptr[k], w->ptr[k + 1] += w->ptr[k];
    for (int t = 0; t < threads; t++) {
        const struct floor_part *p = &run->members[t].part;

        for (int i = 0; run->members[t].ntrees && i < p->levels.leaves; i++) {
            int id = p->levels.word[i], at;

            if (id % threads != thread)
                continue;
            at = w->next[w->number[id]]++;
            w->source[at] = t;
            w->row[at] = run->set->model->table_row(p, i);
        }
    }
}

static void update_table(const struct floor_run *run, const struct cavs__update *u,
                         struct member *m, struct floor_param *p)
{
    struct touched *w = &m->touched;
    const float *grad[FLOOR_THREADS];
    int n = count_words(run, w, m->part.thread);

    list_rows(run, w, m->part.thread, n);
    for (int t = 0; t < run->set->threads; t++)
        grad[t] = run->set->model->table_grad(&run->members[t].part);
    cavs__update_sparse(u, n, w->ids, w->ptr, w->source, w->row, p->cols, p->w, p->cols, p->s0,
                        p->s1, grad, p->cols);
}

static double power(double x, int64_t n)
{
    double y = 1;

    for (; n > 0; n /= 2, x *= x)
        y *= n % 2 ? x : 1;
    return y;
}

static void update(struct member *m)
{
    const struct floor_run *run = m->run;
    struct cavs__update u = run->set->update;

    u.correction1 = (float)(1 - power(u.beta1, run->step));
    u.correction2 = (float)(1 - power(u.beta2, run->step));
    for (int i = 0; i < run->params->n; i++) {
        struct floor_param *p = &run->params->p[i];

        if (p->table)
            update_table(run, &u, m, p);
        else
            update_matrix(run, &u, m->part.thread, p);
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

static void run_trees(struct member *m)
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

static void run_batch(struct member *m)
{
    struct floor_run *run = m->run;

    run_trees(m);
    meet(&run->barrier);
    if (run->set->train)
        update(m);
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
    struct member *m = arg;
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
    struct sized_tree *all = floor_zeros(trees, sizeof *all);
    int64_t sum = 0;

    for (int i = 0; i < trees; i++)
        all[i] = (struct sized_tree){i, tree_size(run, i)};
    qsort(all, trees, sizeof *all, larger_first);
    for (int i = 0; i < trees && i < batch; i++)
        sum += all[i].vertices;
    sum = sum / run->set->threads + all[0].vertices;
    free(all);
    return (int)sum;
}

static void create_touched(struct touched *w, int words, int leaves)
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
    struct member *m = &run->members[thread];

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

static void destroy_member(struct floor_run *run, struct member *m)
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

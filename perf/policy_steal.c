/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy_steal.c - a scheduling policy of our own, to be measured against StarPU's (perf/policies):
 * "cavs-steal".
 *
 * A ready task goes to the worker that made it ready, whose cache holds what it reads; tasks that
 * the main thread makes ready go to the worker with the fewest.  A worker takes its own tasks in
 * order of urgency: updates and chains first, then eager and lazy parts, then gradients.  Without
 * any it steals from its neighbours, nearest first (StarPU binds workers to cores in order, so near
 * numbers share caches), and the least urgent work first: a chain stays where its values are.
 *
 * A module that StarPU loads: STARPU_SCHED_LIB=perf/.libs/policy_steal.so STARPU_SCHED=cavs-steal.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>
#include <starpu_scheduler.h>

enum { URGENT, USUAL, PATIENT, CLASSES };

struct queue {
    pthread_mutex_t lock;
    struct starpu_task_list tasks[CLASSES]; /* oldest first */
    int n;
};

static struct queue queues[STARPU_NMAXWORKERS];
static int workers[STARPU_NMAXWORKERS], nworkers;

static int class_of(const struct starpu_task *t)
{
    return t->priority > 0 ? URGENT : t->priority == 0 ? USUAL : PATIENT;
}

static void init(unsigned context)
{
    (void)context;
    memset(queues, 0, sizeof queues);
    nworkers = 0;
    for (int i = 0; i < STARPU_NMAXWORKERS; i++) {
        pthread_mutex_init(&queues[i].lock, NULL);
        for (int c = 0; c < CLASSES; c++)
            starpu_task_list_init(&queues[i].tasks[c]);
    }
    starpu_sched_ctx_set_min_priority(context, -1);
    starpu_sched_ctx_set_max_priority(context, 2);
}

static void finish(unsigned context)
{
    (void)context;
    for (int i = 0; i < STARPU_NMAXWORKERS; i++)
        pthread_mutex_destroy(&queues[i].lock);
}

static void add_workers(unsigned context, int *ids, unsigned n)
{
    (void)context;
    for (unsigned i = 0; i < n; i++)
        workers[nworkers++] = ids[i];
}

static int emptiest(const struct starpu_task *t)
{
    int best = -1;

    for (int i = 0; i < nworkers; i++) {
        int n = __atomic_load_n(&queues[workers[i]].n, __ATOMIC_RELAXED);

        if (starpu_worker_can_execute_task((unsigned)workers[i], (struct starpu_task *)t, 0) &&
            (best < 0 || n < __atomic_load_n(&queues[best].n, __ATOMIC_RELAXED)))
            best = workers[i];
    }
    return best;
}

static int push(struct starpu_task *t)
{
    int self = starpu_worker_get_id();
    int to = self >= 0 && starpu_worker_can_execute_task((unsigned)self, t, 0) ? self : emptiest(t);
    struct queue *q = &queues[to];

    starpu_worker_relax_on();
    pthread_mutex_lock(&q->lock);
    starpu_worker_relax_off();
    starpu_task_list_push_back(&q->tasks[class_of(t)], t);
    __atomic_add_fetch(&q->n, 1, __ATOMIC_RELAXED);
    starpu_push_task_end(t);
    pthread_mutex_unlock(&q->lock);
    for (int i = 0; i < nworkers; i++)
        starpu_wake_worker_relax_light(workers[i]);
    return 0;
}

/* The first task of the queue that the worker can run, taking classes from `first` in steps. */
static struct starpu_task *take(struct queue *q, int self, int first, int step)
{
    struct starpu_task *t = NULL;

    if (__atomic_load_n(&q->n, __ATOMIC_RELAXED) == 0)
        return NULL;
    pthread_mutex_lock(&q->lock);
    for (int c = first; c >= 0 && c < CLASSES && !t; c += step) {
        for (t = starpu_task_list_begin(&q->tasks[c]); t != starpu_task_list_end(&q->tasks[c]);
             t = starpu_task_list_next(t)) {
            if (starpu_worker_can_execute_task_first_impl((unsigned)self, t, NULL))
                break;
        }
        if (t)
            starpu_task_list_erase(&q->tasks[c], t);
    }
    if (t)
        __atomic_sub_fetch(&q->n, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&q->lock);
    return t;
}

static int position(int worker)
{
    int i = 0;

    while (i < nworkers && workers[i] != worker)
        i++;
    return i;
}

static struct starpu_task *pop(unsigned context)
{
    int self = starpu_worker_get_id(), at = position(self);
    struct starpu_task *t;

    (void)context;
    starpu_worker_relax_on();
    t = take(&queues[self], self, URGENT, 1);
    for (int d = 1; d < nworkers && !t; d++) {
        if (at + d < nworkers)
            t = take(&queues[workers[at + d]], self, PATIENT, -1);
        if (!t && at - d >= 0)
            t = take(&queues[workers[at - d]], self, PATIENT, -1);
    }
    starpu_worker_relax_off();
    return t;
}

static struct starpu_sched_policy policy = {
    .init_sched = init,
    .deinit_sched = finish,
    .add_workers = add_workers,
    .push_task = push,
    .pop_task = pop,
    .policy_name = "cavs-steal",
    .policy_description = "own tasks by urgency, steal the least urgent from the nearest",
};

/* How StarPU asks a module what it has. */
struct starpu_sched_policy **starpu_get_sched_lib_policies(void)
{
    static struct starpu_sched_policy *all[] = {&policy, NULL};

    return all;
}

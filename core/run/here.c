/* SPDX-License-Identifier: Apache-2.0 */
/*
 * here.c - batches, and increments of tapes, that are worth less than waking a worker: one tree, a
 * sentence, a value that is asked for.
 *
 * Where nothing else is in flight the calling thread runs the tasks of such a one itself, in the
 * order in which they would be submitted.  StarPU learns nothing of them, and need not: nobody can
 * touch the same data before they are done.  Meanwhile, and until there is a task again, workers
 * sleep: a worker without a task looks for one all the time, which takes a core from the calling
 * thread, for milliseconds at a time, where there are as many workers as cores.
 */
#include <math.h>
#include <stdlib.h>

#include "core/run/engine.h"
#include "core/run/simulated.h"
#include "memory/handover.h"

enum {
    IN_TURN = 4,   /* after so many batches in turn more of the kind are expected */
    PASSING = 24,  /* limit of a batch that is not waited for, in costs of a task */
    AWAITED = 48,  /* of one that is waited for, in training, in costs of a task */
    ALONE = 2,     /* so many times that for a single sample: workers share less in it */
    EVALUATED = 4, /* grains of a single sample, evaluated and waited for; of several, one */
    RECENT = 8,    /* about how many batches of a kind count in its mean */
    OUTLIER = 4    /* times the limit: above that the workers do it, whatever the mean is */
};

/* What a batch may be worth at most, as estimated, which leaves out updates.  Where tasks take
 * longer, the workers gain what waking them loses: they share in a batch, and if the caller does
 * not wait for its end, the next one is prepared meanwhile.  The numbers are from Tree-LSTM, by
 * perf/one_tree and with --batch 1, on two cores where a task costs 6 us. */
static double limit(const struct cavs__engine *e, const struct cavs__worth *b)
{
    double task = e->rt->cost.task, grain = cavs__grain(e);

    if (!e->here.awaited)
        return fmin(grain, PASSING * task);
    if (b->run == CAVS__RUN_EVALUATE)
        return (b->one_sample ? EVALUATED : 1) * grain;
    return (b->one_sample ? ALONE : 1) * fmin(grain, AWAITED * task);
}

/* What the batch is compared by: the mean of batches of its kind.  If each were looked at alone,
 * those near the limit would go to either side; and after one that goes to the workers these look
 * for tasks until IN_TURN others have been run here, and take a core from the caller for 6 ms at a
 * time: many trees. */
static double usual_seconds(struct cavs__engine *e, const struct cavs__worth *b)
{
    double *mean = &e->here.mean[b->run == CAVS__RUN_EVALUATE][b->one_sample];

    *mean = *mean > 0 ? *mean + (b->seconds - *mean) / RECENT : b->seconds;
    return fmax(*mean, b->seconds / OUTLIER);
}

static bool is_busy(struct cavs__slot *slot)
{
    bool busy;

    starpu_pthread_mutex_lock(&slot->lock);
    busy = slot->busy;
    starpu_pthread_mutex_unlock(&slot->lock);
    return busy;
}

/* Is nothing else in flight?  A batch that is as small is waited for, as tasks of this batch would
 * wait for it; else one larger batch would make tasks of all that follow. */
static bool is_alone(struct cavs__engine *e, double most, int slot)
{
    for (int i = 0; i < CAVS__SLOTS; i++) {
        if (i == slot || !is_busy(&e->slots[i]))
            continue;
        if (e->slots[i].seconds > most)
            return false;
        cavs__slot_wait(&e->slots[i]);
    }
    return true;
}

static bool reserve_scratch(struct cavs__engine *e)
{
    if (e->here.floats >= e->scratch_floats)
        return true;
    free(e->here.scratch);
    e->here.floats = 0;
    e->here.scratch = aligned_alloc(64, (e->scratch_floats * sizeof(float) + 63) / 64 * 64);
    if (!e->here.scratch)
        return false;
    e->here.floats = e->scratch_floats;
    return true;
}

void cavs__choose_clock(struct cavs__engine *e)
{
    e->here.undisturbed = e->here.in_turn >= IN_TURN;
}

double cavs__caller_seconds(const struct cavs__engine *e)
{
    return e->here.undisturbed ? starpu_timing_now() * 1e-6 : cavs__busy_seconds();
}

void cavs__here_begin(struct cavs__engine *e, const struct cavs__worth *b, int slot)
{
    double seconds = usual_seconds(e, b), most = limit(e, b);
    bool small = cavs__joins_tasks(e) && seconds < most;

    e->slots[slot].seconds = seconds;
    e->here.now = small && !e->rt->leave_to_workers && !e->rt->ranks && !e->rt->record &&
                  cavs__simulated_cores() == 0 && is_alone(e, most, slot) && reserve_scratch(e);
    e->here.in_turn = e->here.now ? e->here.in_turn + 1 : 0;
    if (e->here.in_turn >= IN_TURN)
        cavs__workers_rest();
    e->here.began = starpu_timing_now();
    e->here.busy = e->here.now ? cavs__caller_seconds(e) : 0;
}

void cavs__here_end(struct cavs__engine *e)
{
    if (e->here.now) {
        e->here.took = starpu_timing_now() - e->here.began;
        e->here.busy = cavs__caller_seconds(e) - e->here.busy;
    }
    e->here.now = e->here.awaited = false;
}

void cavs__run_here(struct cavs__engine *e, struct starpu_task *t)
{
    struct starpu_matrix_interface scratch = {.ptr = (uintptr_t)e->here.scratch};
    void *descr[t->nbuffers + 1];

    for (int i = 0; i < t->nbuffers; i++) {
        starpu_data_handle_t h = STARPU_TASK_GET_HANDLE(t, i);

        descr[i] =
            h == e->scratch ? &scratch : starpu_data_get_interface_on_node(h, STARPU_MAIN_RAM);
    }
    cavs__handover_here(t);
    t->cl->cpu_funcs[0](descr, t->cl_arg);
    cavs__handover_here(NULL);
    cavs__task_drop(t);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noted_readers.c - what StarPU notes of the tasks that read parameters.
 *
 * A StarPU that can trace notes of everything which tasks have read it, until a task writes to it,
 * whether a trace is recorded or not.  Nothing writes to the parameters of a program that only
 * predicts, nor to frozen ones: a server would take 32 bytes more for each of them with every task,
 * without end.  The notes are gone once the caller has had a parameter to write to, even if nothing
 * was written.
 */
#include "core/run/window.h"

enum { MOST = 4096 }; /* noted tasks: up to 128 KB a parameter */

static void forget_readers_of(struct cavs__tensor *t)
{
    if (!cavs__is_there(t))
        return;
    cavs__tensor_acquire(t, 0, STARPU_RW);
    cavs__tensor_release(t, 0);
}

void cavs__forget_readers(struct cavs_session *s, enum cavs__run run)
{
    const struct cavs_model *m = s->model;

    if (__atomic_load_n(&s->engine.noted, __ATOMIC_RELAXED) < MOST)
        return;
    __atomic_store_n(&s->engine.noted, 0, __ATOMIC_RELAXED);
    for (int i = 0; i < m->nstored; i++) {
        struct cavs__store_entry *x = s->optimizer.stored[i];

        if (!x || (run == CAVS__RUN_TRAIN && cavs__is_trained(s->plan, m->params[i])))
            continue;
        forget_readers_of(&x->value);
        for (int l = 0; l < CAVS__LAYOUTS; l++)
            forget_readers_of(&x->copies[l]);
    }
}

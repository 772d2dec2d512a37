/* SPDX-License-Identifier: Apache-2.0 */
/* scribes.c - see scribes.h. */
#include "core/tape/scribes.h"

#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/error.h"

/* ---- life ---- */

static struct cavs__scribe *new_scribe(struct cavs_tape *t)
{
    struct cavs__scribe *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->tape.session = t->session;
    s->tape.in_sample = true;
    s->as = -1;
    cavs__recording_init_aside(&s->tape.recording, &t->recording.signatures.stage);
    return s;
}

static int reserve_scribes(struct cavs_tape *t, int n)
{
    while (t->nscribes < n) {
        struct cavs__scribe *s = new_scribe(t);

        if (!s || !CAVS__APPEND(t->scribes, t->nscribes, s)) {
            free(s);
            return cavs__fail_nomem("recordings", sizeof *s);
        }
    }
    return CAVS_OK;
}

void cavs__scribes_free(struct cavs_tape *t)
{
    for (int i = 0; i < t->nscribes; i++) {
        cavs__foresee_free(t->scribes[i]);
        cavs__recording_free(&t->scribes[i]->tape.recording);
        free(t->scribes[i]);
    }
    free(t->scribes);
}

/* ---- writing ---- */

static void give_uses(struct cavs__recording *r, struct cavs_function *to)
{
    const struct cavs__uses *uses = &r->uses[r->generation & 1];

    for (size_t i = 0; i < uses->room; i++) {
        if (uses->of[i])
            uses->of[i]->function = to;
    }
}

/* Gets the scribe ready to write samples of the tape's recording.  What it has written of this
 * recording before stays. */
static bool begin(struct cavs__scribe *s, const struct cavs__writing *w)
{
    const struct cavs__recording *tape = &w->t->recording;
    struct cavs__recording *r = &s->tape.recording;

    if (s->as != tape->sites.changes || r->sites.changes != s->as ||
        (w->foresees && s->known != w->t->blocks.nknown)) {
        if (!cavs__sites_become(&r->sites, &tape->sites))
            return false;
        s->as = tape->sites.changes;
        s->known = w->t->blocks.nknown;
    }
    if (!r->open || r->generation != tape->generation) {
        r->generation = tape->generation - 1;
        cavs__recording_begin(r, tape->run);
    }
    r->signatures = tape->signatures;
    r->recorder.present->finished = false;
    give_uses(r, r->recorder.present);
    return cavs__reserve_turns(r, w->sample + w->n) &&
           (!w->foresees || cavs__foresee_begin(s, w->t));
}

static void end(struct cavs__scribe *s)
{
    struct cavs_function *f = s->tape.recording.recorder.present;

    f->finished = true;
    free(f->message);
    f->message = NULL;
    f->error = 0;
}

/* ---- all that a worker does ---- */

/* Has the user's function record sample i.  Is what it recorded of use? */
static bool write_sample(struct cavs__scribe *s, struct cavs__writing *w, int i)
{
    struct cavs__recording *r = &s->tape.recording;
    struct cavs__written *x = &w->samples[i];
    int sample = w->sample + i;

    r->nturns = 0;
    if (!cavs__take_turn(r, sample, sample + 1))
        return false;
    r->count[sample] = 0;
    x->from = cavs__extent_of(r);
    if (w->call->record(&s->tape, w->call->first + i, w->call->user))
        return false;
    cavs__sites_end(&r->sites);
    if (r->recorder.present->error || r->sites.changes != s->as)
        return false;
    if (w->foresees && !atomic_load(&w->unforeseen) && !cavs__foresee_sample(s, &x->from))
        atomic_store(&w->unforeseen, true);
    x->end = cavs__extent_of(r);
    x->number = r->count[sample];
    starpu_pthread_mutex_lock(&w->lock);
    x->by = r;
    starpu_pthread_mutex_unlock(&w->lock);
    return true;
}

/* Writes one sample after the other, up to the first that is no use; those before it are written by
 * whoever has begun with them. */
static int write_samples(void *of, int scribe)
{
    struct cavs__writing *w = of;
    struct cavs__scribe *s = w->t->scribes[scribe];
    bool useful;
    int i;

    s->copied = 0;
    useful = begin(s, w);
    while (useful && !atomic_load(&w->stop) && (i = atomic_fetch_add(&w->next, 1)) < w->n) {
        useful = write_sample(s, w, i);
        cavs__copy_placed(w, s);
    }
    if (!useful)
        atomic_store(&w->stop, true);
    end(s);
    return CAVS_OK;
}

/* ---- all ---- */

/* Has all scribes write.  Nothing may be recorded on the tape itself meanwhile, nor anything else
 * be done with it: where something was to be recorded there, nothing that the scribes wrote is of
 * use. */
static int write_all(struct cavs__writing *w, int scribes)
{
    struct cavs__recorder *own = &w->t->recording.recorder;
    int rc;

    own->asked = false;
    own->elsewhere = own->present->finished = w->t->in_sample = true;
    rc = cavs__side_by_side(&w->t->session->engine, scribes, write_samples, w);
    own->elsewhere = own->present->finished = w->t->in_sample = false;
    for (int i = 0; i < scribes; i++)
        give_uses(&w->t->scribes[i]->tape.recording, own->present);
    if (own->asked || rc)
        w->n = 0;
    return rc;
}

/* Makes room for the samples of the call, and for their turns on the tape. */
static bool prepare(struct cavs__writing *w)
{
    struct cavs__recording *r = &w->t->recording;

    w->end = cavs__extent_of(r);
    w->samples = calloc((size_t)w->n, sizeof *w->samples);
    return w->samples && cavs__reserve_turns(r, w->sample + w->n);
}

int cavs__write_side_by_side(struct cavs_tape *t, const struct cavs__to_record *call, int *useful)
{
    struct cavs__writing w = {
        .t = t, .call = call, .sample = t->recording.nsamples, .n = call->n - call->first};
    int scribes = (int)starpu_cpu_worker_get_count(), rc;

    *useful = 0;
    scribes = scribes < w.n ? scribes : w.n;
    rc = reserve_scribes(t, scribes);
    if (!rc && !prepare(&w))
        rc = cavs__fail_nomem("samples", (size_t)w.n * sizeof *w.samples);
    w.foresees = cavs__may_foresee(t);
    starpu_pthread_mutex_init(&w.lock, NULL);
    if (!rc)
        rc = write_all(&w, scribes);
    if (!rc && w.n > 0 && !cavs__join_written(&w, scribes))
        rc = CAVS_ENOMEM;
    if (!rc)
        *useful = w.n;
    starpu_pthread_mutex_destroy(&w.lock);
    free(w.samples);
    return rc;
}

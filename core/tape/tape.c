/* SPDX-License-Identifier: Apache-2.0 */
/* tape.c - life of a tape, and the calls that record; see tape.h. */
#include "core/tape/tape.h"

#include <stdlib.h>

#include "core/base/error.h"

/* ---- life ---- */

struct cavs_tape_options cavs_tape_defaults(void)
{
    return (struct cavs_tape_options){.policy = CAVS_POLICY_AUTO, .most_symbols = (int64_t)1 << 28};
}

static int check_options(const struct cavs_tape_options *o)
{
    if (o->policy >= CAVS_POLICIES)
        return cavs__fail(CAVS_EINVAL, "tape options: unknown policy");
    if (o->most_symbols < 1 || o->most_symbols > INT32_MAX)
        return cavs__fail(CAVS_EINVAL, "tape options: most_symbols %lld is not in 1..%d",
                          (long long)o->most_symbols, INT32_MAX);
    return CAVS_OK;
}

int cavs_tape_create(struct cavs_session *s, const struct cavs_tape_options *options,
                     struct cavs_tape **out)
{
    struct cavs_tape_options o = options ? *options : cavs_tape_defaults();
    int rc = cavs__session_ready(s, "cavs_tape_create");
    struct cavs_tape *t;

    if (!rc && !out)
        rc = cavs__fail(CAVS_EINVAL, "nowhere to put the tape (NULL)");
    if (!rc)
        rc = check_options(&o);
    if (rc)
        return rc;
    t = calloc(1, sizeof *t);
    if (!t)
        return cavs__fail_nomem("tape", sizeof *t);
    t->session = s;
    t->options = o;
    cavs__session_hold(s);
    rc = cavs__recording_init(&t->recording, (struct cavs_model *)s->model, s->model->nstages,
                              o.most_symbols);
    if (rc) {
        cavs_tape_destroy(t);
        return rc;
    }
    *out = t;
    return CAVS_OK;
}

void cavs_tape_destroy(struct cavs_tape *t)
{
    if (!t || cavs__session_ready(t->session, "cavs_tape_destroy"))
        return; /* a child has its parent's memory, but not its workers */
    cavs__recording_free(&t->recording);
    cavs__session_release(t->session);
    free(t);
}

/* ---- recording ---- */

/* What the recording so far has had. */
static void count_recorded(struct cavs_tape *t)
{
    t->stats.samples += t->recording.nsamples;
    t->stats.symbols += cavs__symbols_of(&t->recording);
}

int cavs_tape_begin(struct cavs_tape *t, enum cavs_tape_run run)
{
    int rc = cavs__session_ready(t ? t->session : NULL, "cavs_tape_begin");

    if (rc)
        return rc;
    if (run != CAVS_TAPE_EVALUATE && t->session->options.inference)
        return cavs__fail(CAVS_ESTATE, "cavs_tape_begin: the session was created for inference: it "
                                       "cannot train or give gradients");
    if (run > CAVS_TAPE_TRAIN)
        return cavs__fail(CAVS_EINVAL, "cavs_tape_begin: there is no run %d", (int)run);
    count_recorded(t);
    cavs__recording_begin(&t->recording, run);
    t->stats.recordings++;
    return CAVS_OK;
}

struct cavs_function *cavs_tape_sample(struct cavs_tape *t)
{
    return t ? cavs__next_sample(&t->recording) : NULL;
}

struct cavs_function *cavs_tape_function(struct cavs_tape *t)
{
    return t && t->recording.open && t->recording.nsamples > 0 ? t->recording.recorder.present
                                                               : NULL;
}

struct cavs_symbol *cavs_tape_row_at(struct cavs_tape *t, int width, const float *row,
                                     struct cavs_place at)
{
    return t ? cavs__record_row(&t->recording, width, row, at) : NULL;
}

struct cavs_symbol *cavs_tape_id_at(struct cavs_tape *t, int id, struct cavs_place at)
{
    return t ? cavs__record_id(&t->recording, id, at) : NULL;
}

int64_t cavs_tape_mark(const struct cavs_tape *t)
{
    return t ? cavs__recording_mark(&t->recording)
             : cavs__fail(CAVS_EINVAL, "cavs_tape_mark(NULL)");
}

int cavs_tape_rewind(struct cavs_tape *t, int64_t mark)
{
    return t ? cavs__recording_rewind(&t->recording, mark)
             : cavs__fail(CAVS_EINVAL, "cavs_tape_rewind(NULL)");
}

/* ---- questions ---- */

void cavs_tape_stats(const struct cavs_tape *t, struct cavs_tape_stats *out)
{
    if (!t || !out)
        return;
    *out = t->stats;
    out->signatures = t->recording.signatures.n;
}

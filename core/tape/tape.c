/* SPDX-License-Identifier: Apache-2.0 */
/* tape.c - life of a tape, and the calls that record; see tape.h. */
#include "core/tape/tape.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/tape/scribes.h"

/* ---- life ---- */

struct cavs_tape_options cavs_tape_defaults(void)
{
    return (struct cavs_tape_options){
        .policy = CAVS_POLICY_AUTO, .most_symbols = (int64_t)1 << 28, .blocks_after = 8};
}

static int check_options(const struct cavs_tape_options *o)
{
    if (o->policy >= CAVS_POLICIES)
        return cavs__fail(CAVS_EINVAL, "tape options: policy %d: not in 0..%d", (int)o->policy,
                          CAVS_POLICIES - 1);
    if (o->most_symbols < 1 || o->most_symbols > INT32_MAX)
        return cavs__fail(CAVS_EINVAL,
                          "tape options: most_symbols %lld is not in 1..%d (cavs_tape_defaults() "
                          "fills the options in)",
                          (long long)o->most_symbols, INT32_MAX);
    if (o->blocks_after < 0)
        return cavs__fail(CAVS_EINVAL, "tape options: blocks_after %d is negative",
                          o->blocks_after);
    return CAVS_OK;
}

/* When this fails, cavs_tape_destroy() frees what has been made. */
static int create_parts(struct cavs_tape *t)
{
    struct cavs_session *s = t->session;
    size_t n = (size_t)s->engine.nshards;
    int rc = cavs__recording_init(&t->recording, (struct cavs_model *)s->model,
                                  cavs__plan_next_stage(s->plan), t->options.most_symbols);

    if (!rc)
        rc = cavs__order_init(&t->order, (int)n, t->options.policy);
    if (!rc)
        rc = cavs__collecting_init(&t->collecting, (int)n);
    /* Recording has the cores of workers now and then, so the thread that records is to be further
     * ahead.  Homes are timed with a single batch in flight beside the one that is prepared. */
    if (!s->engine.homes)
        cavs__engine_prepare_ahead(&s->engine);
    t->shards = calloc(n, sizeof *t->shards);
    t->fresh = calloc(n, sizeof *t->fresh);
    if (!rc && (!t->shards || !t->fresh))
        rc = cavs__fail_nomem("tape", n * (sizeof *t->shards + sizeof *t->fresh));
    if (!rc)
        rc = cavs__plan_add_stage(s->plan, &t->recording.signatures.stage);
    t->planned = !rc;
    return rc ? rc : cavs__session_follow_plan(s);
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
    t->blocks.worth = CAVS__WORTH_A_BLOCK;
    if (!s->options.check_finite) /* that tells symbols, not blocks */
        t->blocks.after = o.blocks_after;

    t->of_session.describe = cavs__describe_found;
    cavs__session_hold(s, &t->of_session);
    rc = create_parts(t);
    if (rc) {
        cavs_tape_destroy(t);
        return rc;
    }
    *out = t;
    return CAVS_OK;
}

/* Frees what the stage of the tape has.  The plan keeps its number and its tensors, which are empty
 * from now on, for the next tape. */
static void drop_stage(struct cavs_tape *t)
{
    const struct cavs__stage_plan *sp = cavs__tape_plan(t);
    struct cavs__engine *e = &t->session->engine;
    const int tensors[] = {sp->state, sp->push[0], sp->edge, sp->index,
                           sp->input[CAVS__GIVEN_INPUT]};

    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        if (tensors[i] >= 0 && tensors[i] < e->ntensors)
            cavs__tensor_free(&e->tensors[tensors[i]]);
    cavs__plan_drop_stage(t->session->plan, t->recording.signatures.stage.number);
}

void cavs_tape_destroy(struct cavs_tape *t)
{
    if (!t || cavs__session_ready(t->session, "cavs_tape_destroy") ||
        cavs__not_in_sample(t, "cavs_tape_destroy"))
        return; /* a child has its parent's memory, but not its workers */
    cavs__wait_slots(&t->session->engine);
    cavs__end_blocks(t);
    if (t->planned)
        drop_stage(t);
    cavs__scribes_free(t);
    cavs__recording_free(&t->recording);
    cavs__order_free(&t->order);
    cavs__blocks_free(&t->blocks);
    cavs__collecting_free(&t->collecting);
    cavs__session_release(t->session, &t->of_session); /* StarPU may stop with it */
    free(t->shards);
    free(t->fresh);
    free(t);
}

/* ---- recording ---- */

/* Adds to the statistics what the recording had that ends now. */
static void count_recorded(struct cavs_tape *t)
{
    t->stats.samples += t->recording.nsamples;
    t->stats.symbols += cavs__symbols_of(&t->recording);
}

/* It counts the updates that were made before the recording begins, whatever other tapes do in the
 * middle of it: so the backward pass drops what the forward pass has dropped. */
static uint64_t noise_of_recording(const struct cavs_tape *t)
{
    const struct cavs_session *s = t->session;

    if (t->recording.run == CAVS_TAPE_EVALUATE)
        return 0;
    return cavs__batch_noise(s->options.seed, s->optimizer.store->step) | 1;
}

int cavs_tape_begin(struct cavs_tape *t, enum cavs_tape_run run)
{
    int rc = t ? cavs__session_ready(t->session, "cavs_tape_begin")
               : cavs__fail(CAVS_EINVAL, "cavs_tape_begin(NULL)");

    if (!rc)
        rc = cavs__not_in_sample(t, "cavs_tape_begin");
    if (rc)
        return rc;
    if (run != CAVS_TAPE_EVALUATE && t->session->options.inference)
        return cavs__fail(CAVS_ESTATE, "cavs_tape_begin: the session was created for inference: it "
                                       "cannot train or give gradients");
    if (run > CAVS_TAPE_TRAIN)
        return cavs__fail(CAVS_EINVAL, "cavs_tape_begin: there is no run %d", (int)run);
    count_recorded(t);
    cavs__recording_begin(&t->recording, run);
    t->noise = noise_of_recording(t);
    cavs__order_begin(&t->order);
    memset(t->shards, 0, (size_t)t->order.nshards * sizeof *t->shards);
    t->finished = false;
    t->foreseen.symbols = 0;
    t->foreseen.wait -= t->foreseen.wait > 0;
    if (!cavs__recall_found(t)) {
        rc = cavs__fail_nomem("what the tape had found before", 0);
        cavs__recording_spoil(&t->recording, rc, "%s", cavs_error_text(rc));
    }
    t->stats.recordings++;
    return rc;
}

struct cavs_function *cavs_tape_sample(struct cavs_tape *t)
{
    if (!t || cavs__not_in_sample(t, "cavs_tape_sample"))
        return NULL;
    cavs__workers_rest_when_idle(t->session->rt);
    return cavs__next_sample(&t->recording);
}

struct cavs_function *cavs_tape_resume(struct cavs_tape *t, int sample)
{
    return t && !cavs__not_in_sample(t, "cavs_tape_resume")
               ? cavs__resume_sample(&t->recording, sample)
               : NULL;
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

struct cavs_symbol *cavs_tape_list_at(struct cavs_tape *t, int n, struct cavs_symbol *const *xs,
                                      struct cavs_place at)
{
    return t ? cavs__record_list(t->recording.recorder.present, n, xs, at) : NULL;
}

/* The run ends at a mark, since otherwise a part of a block might be taken back. */
int64_t cavs_tape_mark(struct cavs_tape *t)
{
    int rc = t ? cavs__not_in_sample(t, "cavs_tape_mark")
               : cavs__fail(CAVS_EINVAL, "cavs_tape_mark(NULL)");

    if (rc)
        return rc;
    cavs__sites_leave(&t->recording.sites);
    return cavs__recording_mark(&t->recording);
}

int cavs_tape_rewind(struct cavs_tape *t, int64_t mark)
{
    int rc = t ? cavs__not_in_sample(t, "cavs_tape_rewind")
               : cavs__fail(CAVS_EINVAL, "cavs_tape_rewind(NULL)");

    if (!rc)
        rc = cavs__recording_rewind(&t->recording, mark);
    if (rc)
        return rc;
    cavs__forget_foreseen(t);
    if (t->symbols_finished > cavs__symbols_of(&t->recording))
        t->symbols_finished = cavs__symbols_of(&t->recording);
    cavs__order_rewind(&t->order, t->recording.nsamples);
    for (int i = 0; i < t->order.nshards; i++) {
        for (struct cavs__increment *d = t->shards[i].last; d; d = d->before)
            cavs__take_rows_back(&t->recording, d, cavs__symbols_of(&t->recording));
    }
    return CAVS_OK;
}

/* ---- questions ---- */

void cavs_tape_stats(const struct cavs_tape *t, struct cavs_tape_stats *out)
{
    if (!t || !out)
        return;
    *out = t->stats;
    out->signatures = t->recording.signatures.n - t->blocks.made;
    out->blocks = t->blocks.made;
}

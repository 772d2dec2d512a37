/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_samples.c - cavs_tape_record(): samples that a function of the user's records, one a call:
 * on the workers where that is of use, else here (scribes.h).
 *
 * While much is new it is not: then more and more samples are recorded here, one after the other,
 * until workers try again.
 */
#include "core/base/error.h"
#include "core/run/simulated.h"
#include "core/tape/scribes.h"

enum { MOST_ALONE = 1 << 12 };

int cavs__not_in_sample(const struct cavs_tape *t, const char *call)
{
    return t->in_sample ? cavs__fail(CAVS_ESTATE, "%s: within cavs_tape_record()", call) : CAVS_OK;
}

int cavs__recording_begun(const struct cavs_tape *t, const char *call)
{
    int rc = cavs__session_ready(t ? t->session : NULL, call);

    if (!rc)
        rc = cavs__not_in_sample(t, call);
    if (!rc && !t->recording.open)
        rc = cavs__fail(CAVS_ESTATE, "%s: no recording has begun (cavs_tape_begin)", call);
    return rc;
}

static int check(const struct cavs_tape *t, int n, cavs__record_sample *record)
{
    const char *call = "cavs_tape_record";
    int rc = cavs__recording_begun(t, call);

    if (rc)
        return rc;
    if (n < 0 || n > INT32_MAX - t->recording.nsamples || (n > 0 && !record))
        return cavs__fail(CAVS_EINVAL, "%s: %d samples, or no function that records them", call, n);
    return cavs__recording_error(&t->recording);
}

/* Here, as the next sample. */
static int record_here(struct cavs_tape *t, const struct cavs__to_record *call)
{
    int rc;

    if (!cavs_tape_sample(t))
        return CAVS_ENOMEM;
    t->in_sample = true;
    rc = call->record(t, call->first, call->user);
    t->in_sample = false;
    cavs__sites_end(&t->recording.sites);
    if (t->recording.recorder.present->error)
        return cavs__recording_error(&t->recording);
    if (rc)
        cavs__recording_spoil(&t->recording, rc,
                              "cavs_tape_record: the function returned %d for i = %d", rc,
                              call->first);
    return rc;
}

static bool may_write(const struct cavs_tape *t, int samples)
{
    return samples > 1 && !t->options.one_recorder && starpu_cpu_worker_get_count() > 1 &&
           cavs__simulated_cores() == 0;
}

/* Some samples; *done: how many. */
static int write_some(struct cavs_tape *t, const struct cavs__to_record *call, int *done)
{
    int rc;

    cavs__sites_end(&t->recording.sites);
    rc = cavs__write_side_by_side(t, call, done);
    cavs__workers_rest_when_idle(t->session->rt);
    t->stats.side_by_side += *done;
    return rc;
}

/* After a try: how many samples are recorded here before the next. */
static int wait_after(int before, int tried, int done)
{
    if (done == tried)
        return 0;
    if (done > tried / 2)
        return 1;
    return before == 0 ? 1 : before < MOST_ALONE ? 2 * before : MOST_ALONE;
}

static int record_all(struct cavs_tape *t, struct cavs__to_record *call)
{
    int rc = CAVS_OK;

    while (!rc && call->first < call->n) {
        int done = 0, tried = call->n - call->first;

        if (t->alone == 0 && may_write(t, tried)) {
            rc = write_some(t, call, &done);
            call->first += done;
            t->waits = wait_after(t->waits, tried, done);
            t->alone = t->waits;
            continue;
        }
        rc = record_here(t, call);
        call->first++;
        t->alone -= t->alone > 0;
    }
    return rc;
}

int cavs_tape_record(struct cavs_tape *t, int n,
                     int (*record)(struct cavs_tape *t, int i, void *user), void *user)
{
    struct cavs__to_record call = {.n = n, .record = record, .user = user};
    int rc = check(t, n, record);

    if (rc)
        return rc;
    rc = record_all(t, &call);
    if (rc) /* the recording lacks samples */
        cavs__recording_spoil(&t->recording, rc, "%s", cavs_error_text(rc));
    return rc;
}

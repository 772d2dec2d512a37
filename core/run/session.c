/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - life of a session; see session.h for the other files. */
#include "core/run/session.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "codelets/device_set.h"
#include "codelets/groups/elementwise.h"
#include "codelets/products/gemm.h"
#include "core/base/error.h"
#include "core/base/notice.h"

/* ---- options ---- */

struct cavs_session_options cavs_session_defaults(void)
{
    struct cavs_session_options o = {
        .policy = CAVS_POLICY_FRONTIER, .optimizer = CAVS_SGD, .lr = 0.01f, .keep_mb = 256};

    for (const struct cavs__hyperparameter *h = cavs__hyperparameters; h->name; h++)
        *cavs__number_at(&o, h->option) = h->standard;
    return o;
}

/* Options that the optimizer in use does not look at are checked, too: a NaN there is a mistake. */
static int check_rule(const struct cavs_session_options *o)
{
    for (const struct cavs__hyperparameter *h = cavs__hyperparameters; h->name; h++) {
        float x = *cavs__number_at(o, h->option);

        if (isfinite(x) && x >= h->lo && x < h->hi)
            continue;
        if (isfinite(h->lo) && isfinite(h->hi))
            return cavs__fail(CAVS_EINVAL, "session options: %s %g is not from %g up to %g",
                              h->title, (double)x, (double)h->lo, (double)h->hi);
        return cavs__fail(CAVS_EINVAL, "session options: %s %g is out of range", h->title,
                          (double)x);
    }
    return CAVS_OK;
}

static int check_numbers(const struct cavs_session_options *o)
{
    const struct {
        const char *name;
        float value;
        bool negative; /* it may be */
    } numbers[] = {{"lr", o->lr, true},
                   {"clip", o->clip, false},
                   {"scale", o->scale, true},
                   {"grain", o->grain, false}};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i].negative ? !isfinite(numbers[i].value) : !(numbers[i].value >= 0))
            return cavs__fail(CAVS_EINVAL, "session options: %s %g is out of range",
                              numbers[i].name, (double)numbers[i].value);
    }
    if (o->epsilon == 0) /* as in options that begin as zeros: the first update would make NaNs */
        return cavs__fail(CAVS_EINVAL, "session options: epsilon 0, by which gradients of 0 would "
                                       "be divided (cavs_session_defaults() fills the options in)");
    return CAVS_OK;
}

static int check_choice(const char *what, int choice, int choices)
{
    return choice >= 0 && choice < choices
               ? CAVS_OK
               : cavs__fail(CAVS_EINVAL, "session options: %s %d: not in 0..%d", what, choice,
                            choices - 1);
}

static int check_options(const struct cavs_session_options *o)
{
    int rc = check_choice("policy", (int)o->policy, CAVS_POLICIES);

    if (!rc)
        rc = check_choice("optimizer", (int)o->optimizer, CAVS_OPTIMIZERS);
    if (!rc)
        rc = check_choice("precision", (int)o->precision, CAVS_PRECISIONS);
    if (rc)
        return rc;
    if (o->shards < 0 || o->shards > CAVS__MAX_SHARDS)
        return cavs__fail(CAVS_EINVAL, "session options: %d shards: not in 0..%d (0: one per core)",
                          o->shards, CAVS__MAX_SHARDS);
    if (o->keep_mb < 0)
        return cavs__fail(CAVS_EINVAL, "session options: %d MB for batches", o->keep_mb);
    rc = check_numbers(o);
    return rc ? rc : check_rule(o);
}

/* ---- life ---- */

static int rounding_devices(void)
{
    int n = 0;

    for (int i = 0; i < CAVS__MAX_DEVICES; i++)
        n += cavs__devices->facts(i).rounds;
    return n;
}

/* Are operands of products rounded to bfloat16?  CPUs want weights packed for such products, and
 * share them with devices, which do not. */
static bool rounds(const struct cavs_session *s)
{
    if (s->options.precision != CAVS_BFLOAT16 || !s->engine.devices)
        return s->options.precision == CAVS_BFLOAT16;
    if (rounding_devices() < cavs__devices->count() || starpu_cpu_worker_get_count() > 0)
        cavs__notice("precision bfloat16: CPU workers beside devices, and devices whose library "
                     "does not round, multiply float32 numbers");
    return rounding_devices() > 0;
}

static const char *why_on_cpus_only(const struct cavs_session *s)
{
    if (s->options.check_finite)
        return "the check for finite numbers is there only";
    return s->engine.devices || cavs__devices->count() == 0
               ? NULL
               : "no device has room for the parameters";
}

static int create_plan(struct cavs_session *s)
{
    const bool bf16 = rounds(s), text = getenv("CAVS_DEVICE_TEXT") != NULL;
    struct cavs__plan_options o = {
        .no_lazy = s->options.no_lazy,
        .no_eager = s->options.no_eager,
        .no_fusion = s->options.no_fusion,
        .no_sharing = s->options.no_dedup || s->options.no_eager,
        .training = !s->options.inference,
        .panels = !s->engine.devices && cavs__gemm()->gemm_panels,
        .in_place = !s->engine.devices && !text && !s->options.check_finite,
        .few_launches = (s->engine.devices && cavs__devices->launches_cost()) || text,
        .bf16 = bf16 && !s->engine.devices,
        .device_bf16 = bf16 && s->engine.devices,
        .require = s->rt->require,
        .no_cpus = starpu_cpu_worker_get_count() == 0,
        .cpu_only = why_on_cpus_only(s),
        .l2_bytes = s->rt->l2_bytes,
        .l3_bytes = s->rt->l3_bytes,
        .rates = cavs__nominal_rates};
    struct cavs__ew_compiling cores;
    int rc;

    cavs__ew_batch_begin();
    rc = cavs__plan_create(s->model, &o, &s->plan);
    cavs__ew_batch_end_aside(s->engine.devices, &cores); /* whose compilers take long, too */
    if (!rc && o.bf16)
        cavs__cost_measure_bf16(&s->engine.rates);
    if (!rc)
        rc = cavs__plan_devices(s->plan);
    cavs__ew_batch_wait(&cores);
    return rc;
}

/* Not with devices, where shards move, nor with several ranks, which tell one another what each
 * batch touches. */
static bool keeps_batches(const struct cavs_session *s)
{
    return !s->engine.devices && !s->engine.homes && !s->rt->ranks;
}

static int create_batch(struct cavs_session *s)
{
    const struct cavs_session_options *o = &s->options;
    struct cavs__preparing how = {.policy = &cavs__policies[o->policy],
                                  .apart = o->no_dedup,
                                  .block_seconds =
                                      o->grain > 0 ? (double)o->grain : CAVS__BLOCK_SECONDS,
                                  .most_shards = s->engine.nshards};

    int rc = cavs__batch_init(&s->fresh, s->plan, &how);

    s->batch = &s->fresh;
    return rc ? rc : cavs__kept_init(&s->kept, keeps_batches(s) ? (size_t)o->keep_mb << 20 : 0);
}

/* When this fails, cavs_session_destroy() frees what has been made. */
static int create_parts(struct cavs_session *s, const struct cavs_session *other)
{
    bool room;
    int why = cavs__check_device_room(s, &room);
    int rc = cavs__engine_init(&s->engine, s->rt, &s->options, room);

    if (!rc)
        rc = why;
    if (!rc)
        rc = create_plan(s);
    if (!rc)
        rc = create_batch(s);
    if (!rc)
        rc = cavs__engine_create_tensors(&s->engine, s->plan);
    if (!rc)
        rc = cavs__optimizer_init(&s->optimizer, &s->engine, other ? &other->optimizer : NULL);
    if (!rc)
        rc = cavs__exchange_create(&s->engine, s->optimizer.stored, &s->optimizer.exchange);
    if (!rc)
        rc = cavs__create_params(s);
    return rc ? rc : cavs__reserve_scratch(&s->engine, s->plan->scratch);
}

int cavs_session_create(struct cavs_runtime *rt, const struct cavs_model *m,
                        const struct cavs_session_options *options, struct cavs_session **out)
{
    return cavs_session_create_with(rt, m, options, NULL, out);
}

int cavs_session_create_with(struct cavs_runtime *rt, const struct cavs_model *m,
                             const struct cavs_session_options *options,
                             const struct cavs_session *other, struct cavs_session **out)
{
    struct cavs_session_options defaults = cavs_session_defaults();
    struct cavs_session *s;
    int rc;

    if (!rt || !m || !m->finished || !out)
        return cavs__fail(out ? CAVS_ESTATE : CAVS_EINVAL,
                          out ? "a session needs a runtime and a finished model (cavs_model_finish)"
                              : "nowhere to put the session (NULL)");
    if (!options)
        options = &defaults;
    rc = cavs__runtime_ready(rt, "cavs_session_create");
    if (!rc && other && other->rt != rt)
        rc = cavs__fail(CAVS_EINVAL, "cavs_session_create_with: the other session has another "
                                     "runtime");
    if (!rc)
        rc = check_options(options);
    if (rc)
        return rc;
    s = calloc(1, sizeof *s);
    if (!s)
        return cavs__fail_nomem("session", sizeof *s);
    s->rt = rt;
    __atomic_add_fetch(&rt->sessions, 1, __ATOMIC_RELAXED);
    s->model = m;
    cavs__model_hold(m);
    s->options = *options;
    s->launched_before = cavs__devices->launched();
    rc = cavs__session_agree(s, create_parts(s, other));
    if (rc) {
        cavs_session_destroy(s);
        return rc;
    }
    if (s->plan->options.training)
        cavs__store_set_rule(s->optimizer.store, (int)s->options.optimizer);
    s->devices_failed = cavs__devices->failed();
    *out = s;
    return CAVS_OK;
}

static void session_free(struct cavs_session *s)
{
    cavs__wait_slots(&s->engine);
    cavs__exchange_free(s->optimizer.exchange);
    cavs__engine_free(&s->engine);
    cavs__optimizer_free(&s->optimizer, s->model);
    cavs__kept_free(&s->kept);
    cavs__batch_free(&s->fresh);
    cavs__plan_destroy(s->plan);
    json_decref(s->notes);
    json_decref(s->found);
    cavs__model_release(s->model);
    cavs__runtime_release(s->rt);
    free(s);
}

void cavs_session_destroy(struct cavs_session *s)
{
    if (!s || s->rt->pid != getpid()) /* a child has its parent's memory, but not its workers */
        return;
    s->destroyed = true;
    if (!s->tapes)
        session_free(s);
}

static struct cavs__session_tape **find_tape(struct cavs_session *s,
                                             const struct cavs__session_tape *tape)
{
    struct cavs__session_tape **at = &s->tapes;

    while (*at && *at != tape)
        at = &(*at)->next;
    return at;
}

void cavs__session_hold(struct cavs_session *s, struct cavs__session_tape *tape)
{
    *find_tape(s, NULL) = tape;
    tape->next = NULL;
}

void cavs__session_release(struct cavs_session *s, struct cavs__session_tape *tape)
{
    *find_tape(s, tape) = tape->next;
    if (!s->tapes && s->destroyed)
        session_free(s);
}

/* ---- questions ---- */

int cavs__session_ready(const struct cavs_session *s, const char *call)
{
    if (!s)
        return cavs__fail(CAVS_EINVAL, "%s: no session (NULL)", call);
    return cavs__runtime_ready(s->rt, call);
}

int cavs__settle(struct cavs_session *s)
{
    cavs__wait_slots(&s->engine);
    s->engine.here.awaited = true;
    return cavs__check_devices(s);
}

int cavs_session_wait(struct cavs_session *s)
{
    int rc = cavs__session_ready(s, "cavs_session_wait");

    return rc ? rc : cavs__settle(s);
}

int cavs_session_set_lr(struct cavs_session *s, float lr)
{
    if (!s)
        return cavs__fail(CAVS_EINVAL, "cavs_session_set_lr: no session (NULL)");
    if (!isfinite(lr))
        return cavs__fail(CAVS_EINVAL, "learning rate %g: it has to be finite", (double)lr);
    cavs__exchange_given(s->optimizer.exchange, &lr, sizeof lr);
    s->optimizer.rule.lr = lr;
    return CAVS_OK;
}

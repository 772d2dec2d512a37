/* SPDX-License-Identifier: Apache-2.0 */
/* device_room.c - whether devices have room for the parameters of a session: StarPU brings all that
 * a task wants to a device, and looks for room for ever where there is none. */
#include "codelets/device_set.h"
#include "codelets/update.h"
#include "core/base/error.h"
#include "core/base/notice.h"
#include "core/run/session.h"

/* Devices have the values of a parameter as they are, and transposed. */
enum { COPIES = 2 };

struct wanted {
    double by_update; /* bytes of the largest update: the numbers, gradients, and states */
    double by_tasks;  /* bytes of all parameters, as tasks read them */
    const char *of;   /* the parameter of that update */
};

static struct wanted wanted(const struct cavs_session *s)
{
    int states = cavs__rules[s->options.optimizer].states;
    struct wanted w = {.of = ""};

    for (int i = 0; i < s->model->nstored; i++) {
        const struct cavs_param *p = s->model->params[i];
        double bytes = p->merged ? 0 : (double)p->rows * p->cols * sizeof(float);
        double update = bytes * (s->options.inference || p->frozen ? COPIES : COPIES + 1 + states);

        w.by_tasks += COPIES * bytes;
        if (update > w.by_update) {
            w.by_update = update;
            w.of = p->name;
        }
    }
    return w;
}

/* Is there room beside a shard, which may take half of the device's memory (homes.c)? */
static bool has_room(const struct cavs__device_facts *f, const struct wanted *w)
{
    double bytes = (double)f->bytes;

    return f->bytes <= 0 || (w->by_update <= bytes && w->by_tasks <= bytes / 2);
}

static int refuse(const struct cavs__device_facts *f, const struct wanted *w, bool required)
{
    const char *format =
        "%s has %d MB that StarPU may use; parameters take %d MB, the update of %s %d MB: %s";
    int has = (int)(f->bytes >> 20), all = (int)(w->by_tasks / (1 << 20)),
        update = (int)(w->by_update / (1 << 20));

    if (required || starpu_cpu_worker_get_count() == 0)
        return cavs__fail(CAVS_ERUNTIME, format, f->name, has, all, w->of, update,
                          required ? "it cannot be used" : "no CPU worker takes part");
    cavs__notice(format, f->name, has, all, w->of, update, "CPU workers take all tasks");
    return CAVS_OK;
}

int cavs__check_device_room(const struct cavs_session *s, bool *there)
{
    const struct wanted w = wanted(s);
    int rc = CAVS_OK;

    *there = true;
    for (int i = 0; i < CAVS__MAX_DEVICES && *there; i++) {
        const struct cavs__device_facts f =
            cavs__devices->usable(i) ? cavs__devices->facts(i) : (struct cavs__device_facts){0};

        *there = has_room(&f, &w);
        if (!*there)
            rc = refuse(&f, &w, s->rt->require);
    }
    return rc;
}

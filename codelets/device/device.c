/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - which devices there are, what each worker has, and launching. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "config.h"

#include "codelets/device/device.h"
#include "codelets/device/products.h"

static struct cavs__device devices[CAVS__MAX_DEVICES];
static int ndevices;
static int8_t device_of[STARPU_NMAXWORKERS]; /* number + 1 */
static struct cavs__launch_counts launched[STARPU_NMAXWORKERS];
bool cavs__devices_tf32;
static pthread_mutex_t failing = PTHREAD_MUTEX_INITIALIZER;

/* ---- failures ---- */

void cavs__device_fail(struct cavs__device *d, const char *format, ...)
{
    va_list arguments;

    pthread_mutex_lock(&failing); /* a device may have several workers */
    if (!d->reason[0]) {
        va_start(arguments, format);
        vsnprintf(d->reason, sizeof d->reason, format, arguments);
        va_end(arguments);
        __atomic_store_n(&d->usable, false, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&failing);
}

static bool has_failed(const struct cavs__device *d)
{
    return !__atomic_load_n(&d->usable, __ATOMIC_ACQUIRE);
}

int cavs__devices_failed(void)
{
    int n = 0;

    for (int i = 0; i < ndevices; i++)
        n += has_failed(&devices[i]);
    return n;
}

/* A scheduler that has taken a task must find a worker for it: no device is left out before all
 * that has been submitted is done. */
static bool find_leaving(bool *leaving)
{
    bool any = false;

    for (int i = 0; i < ndevices; i++) {
        leaving[i] = has_failed(&devices[i]) && !devices[i].left_out;
        any |= leaving[i];
    }
    if (any)
        starpu_task_wait_for_all();
    return any;
}

/* Memory may be what has run out: the text is the caller's.  What does not fit is left away. */
bool cavs__devices_failures(char text[CAVS__FAILURES_TEXT])
{
    bool leaving[CAVS__MAX_DEVICES];
    size_t n = 0;

    if (!find_leaving(leaving))
        return false;
    for (int i = 0; i < ndevices; i++) {
        struct cavs__device *d = &devices[i];

        if (!leaving[i])
            continue;
        d->left_out = true;
        n += (size_t)snprintf(text + n, CAVS__FAILURES_TEXT - n,
                              "%s device %d (%s) is left out: %s\n", d->backend->name, d->id,
                              d->name, d->reason);
        n = n < CAVS__FAILURES_TEXT ? n : CAVS__FAILURES_TEXT - 1;
    }
    text[n - 1] = '\n';
    return true;
}

static void visit(void (*run)(struct cavs__device *d, void *arg), void *arg, bool all);

/* ---- finding them ---- */

static const struct cavs__backend *backend_of(enum starpu_worker_archtype type)
{
    for (int i = 0; i < cavs__backends_count; i++)
        if (cavs__backends[i].driver && cavs__backends[i].worker == type)
            return &cavs__backends[i];
    return NULL;
}

static struct cavs__device *find(const struct cavs__backend *b, int id)
{
    for (int i = 0; i < ndevices; i++)
        if (devices[i].backend == b && devices[i].id == id)
            return &devices[i];
    return NULL;
}

static void add_worker(unsigned worker)
{
    const struct cavs__backend *b = backend_of(starpu_worker_get_type((int)worker));
    int id = starpu_worker_get_devid((int)worker);
    struct cavs__device *d = b ? find(b, id) : NULL;

    if (!b)
        return;
    if (!d && ndevices < CAVS__MAX_DEVICES) {
        d = &devices[ndevices];
        *d = (struct cavs__device){
            .backend = b, .driver = b->driver, .number = ndevices, .id = id, .usable = true};
        snprintf(d->name, sizeof d->name, "device %d", id);
        ndevices++;
    }
    if (d)
        device_of[worker] = (int8_t)(d->number + 1);
}

static void open_device(struct cavs__device *d, void *arg)
{
    (void)arg;
    if (d->driver->open(d))
        return;
    d->module = cavs__device_build(d, cavs__device_kernels_text);
    for (int i = 0; i < CAVS__DEVICE_COUNT && d->module; i++) {
        if (i >= CAVS__DEVICE_IN_DOUBLE && !d->has_double)
            break;
        d->kernels[i] = d->driver->find(d, d->module, cavs__device_kernel_names[i]);
        if (!d->kernels[i])
            return;
    }
    if (d->module)
        cavs__device_choose_products(d);
    if (d->module && d->usable)
        cavs__device_choose_collecting(d);
}

static void close_device(struct cavs__device *d, void *arg)
{
    (void)arg;
    if (d->module)
        d->driver->unload(d, d->module, CAVS__DEVICE_COUNT, d->kernels);
    d->driver->close(d);
}

/* Calls start or stop of each kind of device that there is. */
static void each_driver(bool starting)
{
    for (int i = 0; i < cavs__backends_count; i++) {
        const struct cavs__backend *b = &cavs__backends[i];
        void (*call)(void) = !b->driver ? NULL : starting ? b->driver->start : b->driver->stop;

        if (call && cavs__devices_found(b) > 0)
            call();
    }
}

void cavs__devices_open(void)
{
    ndevices = 0;
    memset(device_of, 0, sizeof device_of);
    memset(launched, 0, sizeof launched);
    for (unsigned i = 0; i < starpu_worker_get_count(); i++)
        add_worker(i);
    each_driver(true);
    cavs__devices_each(open_device, NULL);
}

void cavs__devices_close(void)
{
    visit(close_device, NULL, true);
    each_driver(false);
    ndevices = 0;
    memset(device_of, 0, sizeof device_of);
}

/* ---- asking ---- */

struct cavs__device *cavs__device_at(int number)
{
    struct cavs__device *d = number >= 0 && number < ndevices ? &devices[number] : NULL;

    return d && __atomic_load_n(&d->usable, __ATOMIC_ACQUIRE) ? d : NULL;
}

struct cavs__device *cavs__device_of_worker(int worker)
{
    return worker >= 0 && worker < STARPU_NMAXWORKERS ? cavs__device_at(device_of[worker] - 1)
                                                      : NULL;
}

bool cavs__device_takes_tasks(int worker)
{
    int number = worker >= 0 && worker < STARPU_NMAXWORKERS ? device_of[worker] - 1 : -1;

    return number >= 0 && !devices[number].left_out;
}

int cavs__devices_count(void)
{
    int n = 0;

    for (int i = 0; i < ndevices; i++)
        n += cavs__device_at(i) != NULL;
    return n;
}

int cavs__devices_found(const struct cavs__backend *b)
{
    int n = 0;

    for (int i = 0; i < ndevices; i++)
        n += devices[i].backend == b;
    return n;
}

size_t cavs__devices_parameters(void)
{
    size_t least = 4096;

    for (int i = 0; i < ndevices; i++)
        if (cavs__device_at(i) && devices[i].max_parameters < least)
            least = devices[i].max_parameters;
    return least;
}

/* ---- on their workers ---- */

struct errand {
    void (*run)(struct cavs__device *d, void *arg);
    void *arg;
};

static void run_errand(void *arg)
{
    const struct errand *e = arg;

    e->run(&devices[device_of[starpu_worker_get_id()] - 1], e->arg);
}

static void on_workers(struct errand *e, unsigned *workers, unsigned n)
{
#ifdef CAVS_SIMULATED /* their workers run nothing */
    for (unsigned i = 0; i < n; i++)
        e->run(&devices[device_of[workers[i]] - 1], e->arg);
    (void)run_errand;
#else
    starpu_execute_on_specific_workers(run_errand, e, n, workers, "cavs_device");
#endif
}

static void visit(void (*run)(struct cavs__device *d, void *arg), void *arg, bool all)
{
    struct errand e = {run, arg};
    unsigned workers[CAVS__MAX_DEVICES], n = 0;

    for (int i = 0; i < ndevices; i++) {
        unsigned worker = 0;

        while (device_of[worker] != i + 1)
            worker++;
        if (all || cavs__device_at(i))
            workers[n++] = worker;
    }
    if (n > 0)
        on_workers(&e, workers, n);
}

void cavs__devices_each(void (*run)(struct cavs__device *d, void *arg), void *arg)
{
    visit(run, arg, false);
}

void cavs__devices_each_opened(void (*run)(struct cavs__device *d, void *arg), void *arg)
{
    visit(run, arg, true);
}

/* ---- counting ---- */

struct cavs__launch_counts *cavs__launched_here(void)
{
    return &launched[starpu_worker_get_id()];
}

void cavs__count_launch(void)
{
    __atomic_add_fetch(&cavs__launched_here()->all, 1, __ATOMIC_RELAXED);
}

struct cavs__launch_counts cavs__devices_launched(void)
{
    struct cavs__launch_counts sum = {0};

    for (int i = 0; i < STARPU_NMAXWORKERS; i++) {
        sum.all += __atomic_load_n(&launched[i].all, __ATOMIC_RELAXED);
        for (int c = 0; c < CAVS__CHAINS; c++) {
            sum.vt[c] += __atomic_load_n(&launched[i].vt[c], __ATOMIC_RELAXED);
            sum.of_vt[c] += __atomic_load_n(&launched[i].of_vt[c], __ATOMIC_RELAXED);
        }
    }
    return sum;
}

/* ---- launching ---- */

void cavs__launch_kernel(struct cavs__launch *l, void *kernel, int64_t groups_x, int64_t groups_y,
                         int items)
{
    l->kernel = kernel;
    l->groups[0] = (size_t)groups_x;
    l->groups[1] = (size_t)groups_y;
    l->items = (size_t)items;
    l->nargs = 0;
}

void cavs__launch_groups(struct cavs__launch *l, struct cavs__device *d, enum cavs__device_kernel k,
                         int64_t x, int64_t y, int items)
{
    cavs__launch_kernel(l, d->kernels[k], x, y, items);
}

void cavs__launch_items(struct cavs__launch *l, struct cavs__device *d, enum cavs__device_kernel k,
                        int64_t n)
{
    cavs__launch_groups(l, d, k, (n + 63) / 64, 1, 64);
}

void cavs__argument_int(struct cavs__launch *l, int64_t value)
{
    l->argument[l->nargs].size = sizeof(int32_t);
    l->argument[l->nargs++].value.i = (int32_t)value;
}

void cavs__argument_float(struct cavs__launch *l, float value)
{
    l->argument[l->nargs].size = sizeof value;
    l->argument[l->nargs++].value.f = value;
}

void cavs__argument_pointer(struct cavs__launch *l, void *p)
{
    l->argument[l->nargs].size = sizeof p;
    l->argument[l->nargs++].value.p = p;
}

void cavs__argument_memory(struct cavs__launch *l, struct cavs__memory m)
{
    cavs__argument_pointer(l, m.p);
    l->argument[l->nargs].size = sizeof m.at;
    l->argument[l->nargs++].value.l = m.at;
}

void cavs__argument_view(struct cavs__launch *l, const struct cavs__device_view *v)
{
    cavs__argument_memory(l, v->memory);
    cavs__argument_int(l, v->ld);
    cavs__argument_int(l, v->index);
}

int cavs__launch(struct cavs__device *d, const struct cavs__launch *l)
{
    if (l->groups[0] == 0 || l->groups[1] == 0)
        return 0;
    cavs__count_launch();
    return d->driver->launch(d, l);
}

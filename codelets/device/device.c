/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - which devices there are, and what each worker has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starpu.h>

#include "codelets/device/device.h"
#include "codelets/device/products.h"

static struct cavs__device devices[CAVS__MAX_DEVICES];
static int ndevices;
static int8_t device_of[STARPU_NMAXWORKERS]; /* number + 1 */
bool cavs__devices_tf32;

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
}

static void close_device(struct cavs__device *d, void *arg)
{
    (void)arg;
    if (d->module)
        d->driver->unload(d, d->module, CAVS__DEVICE_COUNT, d->kernels);
    if (d->driver->close)
        d->driver->close(d);
}

void cavs__device_flush(struct cavs__device *d)
{
    if (d->driver->flush)
        d->driver->flush(d);
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
    cavs__launches_forget();
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

struct cavs__device *cavs__device_opened(int number)
{
    return number >= 0 && number < ndevices ? &devices[number] : NULL;
}

struct cavs__device *cavs__device_at(int number)
{
    struct cavs__device *d = cavs__device_opened(number);

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

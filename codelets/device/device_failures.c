/* SPDX-License-Identifier: Apache-2.0 */
/* device_failures.c - devices that fail are left out, when all that they were given is done. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include <starpu.h>

#include "codelets/device/device.h"

static pthread_mutex_t failing = PTHREAD_MUTEX_INITIALIZER;

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
    const struct cavs__device *d;
    int n = 0;

    for (int i = 0; (d = cavs__device_opened(i)); i++)
        n += has_failed(d);
    return n;
}

/* A scheduler that has taken a task must find a worker for it: no device is left out before all
 * that has been submitted is done. */
static bool find_leaving(bool *leaving)
{
    const struct cavs__device *d;
    bool any = false;

    for (int i = 0; (d = cavs__device_opened(i)); i++) {
        leaving[i] = has_failed(d) && !d->left_out;
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
    struct cavs__device *d;
    size_t n = 0;

    if (!find_leaving(leaving))
        return false;
    for (int i = 0; (d = cavs__device_opened(i)); i++) {
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

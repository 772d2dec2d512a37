/* SPDX-License-Identifier: Apache-2.0 */
/*
 * start_devices.c - see start_devices.h.  It chooses the record of codelets/device_set.h, and is
 * the one file outside codelets/device that includes its headers.
 */
#include "core/run/start_devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codelets/device/device.h"
#include "codelets/device_set.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/notice.h"

const struct cavs__devices *cavs__devices = &cavs__devices_offer;

/* ---- what is asked for ---- */

int cavs__devices_check(const struct cavs_runtime_options *o)
{
    char text[CAVS__DEVICES_TEXT];

    for (int i = 0; i < cavs__backends_count; i++)
        if (cavs__backends[i].asked(o) < -1)
            return cavs__fail(CAVS_EINVAL, "%s devices: -1 is all, 0 none",
                              cavs__devices_text(o, text));
    return CAVS_OK;
}

bool cavs__devices_wanted(const struct cavs_runtime_options *o)
{
    for (int i = 0; i < cavs__backends_count; i++)
        if (cavs__backends[i].asked(o) != 0)
            return true;
    return false;
}

int cavs__devices_asked(const struct cavs_runtime_options *o)
{
    int n = 0;

    for (int i = 0; i < cavs__backends_count; i++)
        n += cavs__backends[i].asked(o) > 0 ? cavs__backends[i].asked(o) : 0;
    return n;
}

const char *cavs__devices_text(const struct cavs_runtime_options *o, char to[CAVS__DEVICES_TEXT])
{
    size_t n = 0;

    to[0] = 0;
    for (int i = 0; i < cavs__backends_count && n < CAVS__DEVICES_TEXT; i++) {
        int asked = cavs__backends[i].asked(o);
        char number[16] = "all";

        if (asked != -1)
            snprintf(number, sizeof number, "%d", asked);
        n += (size_t)snprintf(to + n, CAVS__DEVICES_TEXT - n, "%s%s %s", i > 0 ? " and " : "",
                              number, cavs__backends[i].name);
    }
    return to;
}

uint64_t cavs__devices_given(void)
{
    uint64_t h = CAVS__HASH_START;

    for (int i = 0; i < cavs__backends_count; i++) {
        const char *seen = cavs__backends[i].given ? getenv(cavs__backends[i].given) : NULL;

        h = cavs__hash(h, seen ? seen : "", seen ? strlen(seen) + 1 : 0);
    }
    return h;
}

int cavs__devices_prepare(const struct cavs_runtime_options *o, int here, int all,
                          struct starpu_conf *conf)
{
    int known = 0;

    for (int i = 0; i < cavs__backends_count; i++) {
        const struct cavs__backend *b = &cavs__backends[i];
        int n = b->prepare(b->driver, b->asked(o), here, all, conf);

        known += n > 0 ? n : 0;
    }
    return known;
}

/* ---- what is there ---- */

/* Fewer than asked for is worth a notice, and an error only where they are required: otherwise the
 * run goes on with what is there. */
static int report_missing(const struct cavs__backend *b, const struct cavs_runtime_options *o)
{
    int wanted = b->asked(o), found = cavs__devices_found(b);
    char number[16], text[200];

    if (found >= wanted && !(o->require && wanted == -1 && found == 0))
        return CAVS_OK;
    snprintf(number, sizeof number, "%d", wanted);
    snprintf(text, sizeof text, "%s %s device%s asked for, StarPU found %d%s",
             wanted == -1 ? "all" : number, b->name, wanted == 1 ? "" : "s", found, b->hint);
    if (o->require)
        return cavs__fail(CAVS_ERUNTIME, "%s", text);
    cavs__notice("%s", text);
    return CAVS_OK;
}

/* The workers of a device whose kernels cannot be built get no task. */
static int report(const struct cavs_runtime_options *o)
{
    int rc = CAVS_OK;

    for (int i = 0; i < cavs__backends_count && !rc; i++)
        rc = report_missing(&cavs__backends[i], o);
    if (!rc)
        rc = cavs__report_devices(o->require);
    if (!rc && starpu_cpu_worker_get_count() == 0 && cavs__devices_count() == 0)
        rc = cavs__fail(CAVS_ERUNTIME, "no device can be used, and there is no CPU worker");
    return rc;
}

int cavs__devices_start(const struct cavs_runtime_options *o)
{
    int rc;

    cavs__devices_tf32 = o->tf32;
    cavs__devices_open();
    rc = report(o);
    if (rc)
        cavs__devices_close();
    return rc;
}

void cavs__devices_stop(void)
{
    cavs__devices_close();
}

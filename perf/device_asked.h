/* SPDX-License-Identifier: Apache-2.0 */
/* device_asked.h - the device that a program here measures: the option --device, and a runtime. */
#ifndef CAVS_PERF_DEVICE_ASKED_H
#define CAVS_PERF_DEVICE_ASKED_H

#include <argp.h>
#include <stdbool.h>

struct device_asked {
    bool opencl; /* else CUDA */
    bool tf32;
};

/* Its entry in a table of options, of which the program says the key. */
#define DEVICE_OPTION(key)                                        \
    {                                                             \
        "device", (key), "NAME", 0, "cuda (default) or opencl", 1 \
    }

/* Takes the value of that option, or ends the program. */
void device_option(struct device_asked *asked, const char *value, const struct argp_state *state);

struct cavs_runtime;

/* A runtime of that device alone, whose notices go to stderr; NULL: stderr says why there is
 * none. */
struct cavs_runtime *device_runtime(const struct device_asked *asked);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* device_asked.c - see device_asked.h. */
#include "perf/device_asked.h"

#include <stdio.h>
#include <string.h>

#include "core/cavs.h"

void device_option(struct device_asked *asked, const char *value, const struct argp_state *state)
{
    asked->opencl = strcmp(value, "opencl") == 0;
    if (!asked->opencl && strcmp(value, "cuda") != 0)
        argp_error(state, "--device wants cuda or opencl, not '%s'", value);
}

static void notice(const char *text, void *context)
{
    (void)context;
    fprintf(stderr, "%s: note: %s\n", program_invocation_short_name, text);
}

struct cavs_runtime *device_runtime(const struct device_asked *asked)
{
    struct cavs_runtime_options o = CAVS_RUNTIME_DEFAULTS;
    struct cavs_runtime *rt;

    o.workers = 0;
    o.cuda = !asked->opencl;
    o.opencl = asked->opencl;
    o.tf32 = asked->tf32;
    cavs_notice_set_handler(notice, NULL);
    if (cavs_runtime_create(&o, &rt) == CAVS_OK)
        return rt;
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, cavs_error_message());
    return NULL;
}

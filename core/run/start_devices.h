/* SPDX-License-Identifier: Apache-2.0 */
/* start_devices.h - what the start and the end of the runtime do about devices. */
#ifndef CAVS_CORE_RUN_START_DEVICES_H
#define CAVS_CORE_RUN_START_DEVICES_H

#include <stdbool.h>

#include <starpu.h>

#include "core/cavs.h"

enum { CAVS__DEVICES_TEXT = 200 };

/* CAVS_EINVAL if no such number of devices can be asked for. */
int cavs__devices_check(const struct cavs_runtime_options *o);
bool cavs__devices_wanted(const struct cavs_runtime_options *o);
/* How many are asked for by number: "all" counts as none. */
int cavs__devices_asked(const struct cavs_runtime_options *o);
/* "1 X and 0 Y", written to `to`. */
const char *cavs__devices_text(const struct cavs_runtime_options *o, char to[CAVS__DEVICES_TEXT]);
/* A number of what the launcher has said that this process sees of them. */
uint64_t cavs__devices_given(void);
/* What StarPU must know before it starts.  Of `all` ranks that see the same devices, this is number
 * `here`.  Returns how many there will be, where that is known. */
int cavs__devices_prepare(const struct cavs_runtime_options *o, int here, int all,
                          struct starpu_conf *conf);
/* After starpu_init(): opens them.  Those that cannot be used, or are not there, are notices, and
 * errors only where they are required or where nothing is left; then all are closed again. */
int cavs__devices_start(const struct cavs_runtime_options *o);
/* Before starpu_shutdown(). */
void cavs__devices_stop(void);

#endif

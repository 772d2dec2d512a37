/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workers.c - StarPU's workers at rest.
 *
 * Programs that submit tasks of their own beside the library say so (leave_to_workers), and they
 * never sleep.
 */
#include <starpu.h>

#include "core/run/runtime.h"

static bool asleep; /* of the one runtime that a process can have */

void cavs__workers_rest(void)
{
    if (asleep)
        return;
    asleep = true;
    starpu_pause();
}

void cavs__workers_wake(void)
{
    if (!asleep)
        return;
    asleep = false;
    starpu_resume();
}

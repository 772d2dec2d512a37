/* SPDX-License-Identifier: Apache-2.0 */
/* own_name.h - names that model files and checkpoints need themselves: neither parameters nor notes
 * have them. */
#ifndef CAVS_CORE_BASE_OWN_NAME_H
#define CAVS_CORE_BASE_OWN_NAME_H

#include <stdbool.h>
#include <string.h>

#define CAVS__OWN_PREFIX "cavs."

static inline bool cavs__is_own(const char *name)
{
    return strncmp(name, CAVS__OWN_PREFIX, sizeof CAVS__OWN_PREFIX - 1) == 0;
}

#endif

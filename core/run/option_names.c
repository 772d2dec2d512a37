/* SPDX-License-Identifier: Apache-2.0 */
/* option_names.c - what the choices of a session's options are called, for programs that offer them. */
#include "core/cavs.h"
#include "scheduler/schedule.h"

static const struct cavs__policy *policy_at(int i)
{
    static const struct cavs__policy none;

    return i >= 0 && i < CAVS_POLICIES ? &cavs__policies[i] : &none;
}

const char *cavs_policy_name(int policy)
{
    return policy_at(policy)->name;
}

const char *cavs_policy_summary(int policy)
{
    return policy_at(policy)->summary;
}

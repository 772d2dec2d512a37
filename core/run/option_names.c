/* SPDX-License-Identifier: Apache-2.0 */
/* option_names.c - what the choices of a session's options are called, for programs that offer
 * them. */
#include "codelets/update.h"
#include "core/cavs.h"
#include "scheduler/schedule.h"

static const struct cavs__policy *policy_at(int i)
{
    static const struct cavs__policy none;

    return i >= 0 && i < CAVS_POLICIES ? &cavs__policies[i] : &none;
}

static const struct cavs__rule *rule_at(int i)
{
    static const struct cavs__rule none;

    return i >= 0 && i < CAVS_OPTIMIZERS ? &cavs__rules[i] : &none;
}

const char *cavs_optimizer_name(int optimizer)
{
    return rule_at(optimizer)->name;
}

const char *cavs_optimizer_summary(int optimizer)
{
    return rule_at(optimizer)->summary;
}

const char *cavs_policy_name(int policy)
{
    return policy_at(policy)->name;
}

const char *cavs_policy_summary(int policy)
{
    return policy_at(policy)->summary;
}

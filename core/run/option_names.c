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

static const struct precision {
    const char *name, *summary;
} precisions[CAVS_PRECISIONS] = {
    [CAVS_FLOAT32] = {"float32", "products of float32 numbers"},
    [CAVS_BFLOAT16] = {"bfloat16", "operands of products are rounded to 8 significant bits, sums "
                                   "are float32: many times faster on a CPU with AMX"},
};

static const struct precision *precision_at(int i)
{
    static const struct precision none;

    return i >= 0 && i < CAVS_PRECISIONS ? &precisions[i] : &none;
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

const char *cavs_precision_name(int precision)
{
    return precision_at(precision)->name;
}

const char *cavs_precision_summary(int precision)
{
    return precision_at(precision)->summary;
}

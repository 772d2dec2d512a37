/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.c - between what vertices with equal inputs share and the vertices: core/compile/share.c puts these
 * operators there, no call of the user does.
 */
#include "core/operators/family.h"

const struct cavs__operator cavs__operator_spread = {
    .name = "spread",
    .role = CAVS__ROLE_VIEW,
    .domain = cavs__domain_of_operands,
};

const struct cavs__operator cavs__operator_collect = {
    .name = "collect",
    .role = CAVS__ROLE_SINGLE,
    .domain = cavs__domain_of_operands,
};

const struct cavs__operator cavs__operator_spread_grad = {
    .name = "spread_grad",
    .role = CAVS__ROLE_DESTINATION,
    .domain = cavs__domain_of_operands,
};

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_cases.h - one table of cases for the kernels of codelets/kernels/kernel.h, for every
 * implementation of them.
 */
#ifndef CAVS_TESTS_KERNEL_CASES_H
#define CAVS_TESTS_KERNEL_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codelets/kernels/kernel.h"

enum { KERNEL_CASES = 15 };
extern const struct CMUnitTest kernel_cases[KERNEL_CASES];

/* What runs a kernel on views of main memory, and on how many random operands; set before the cases
 * run. */
typedef void kernel_runner(const struct cavs__call *call, int rows, const struct cavs__view *v,
                           unsigned flags);
void kernel_cases_run_by(kernel_runner *runner, int trials);

#endif

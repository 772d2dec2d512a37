# SPDX-License-Identifier: Apache-2.0
#
# codelets/: what a worker does with a task, and what tasks consist of.
#
# Glue (codelets, tables, generators) is ordinary code:
#     libcavs_la_SOURCES += codelets/x.c codelets/x.h
# A file whose loops must vectorise is a kernel file. It is compiled with $(KERNEL_CFLAGS) on top
# of the usual flags (-O3, omp simd, fast-math that still knows NaN and Inf):
#     libkernels_la_SOURCES += codelets/kernels/x.c
# A reference kernel is NOT a kernel file: it is the oracle and keeps strict arithmetic.
# Files for one device only go below the device's condition (codelets/device/local.mk).

# tasks: parts of vertex functions, run tile by tile, and updates of parameters
libcavs_la_SOURCES += \
	codelets/copies.c \
	codelets/copies.h \
	codelets/device_set.c \
	codelets/device_set.h \
	codelets/exchange_task.c \
	codelets/exchange_task.h \
	codelets/lines_task.c \
	codelets/lines_task.h \
	codelets/locate.h \
	codelets/part.c \
	codelets/part.h \
	codelets/rows_task.c \
	codelets/rows_task.h \
	codelets/simulated_time.c \
	codelets/task.c \
	codelets/task.h \
	codelets/task_model.c \
	codelets/task_model.h \
	codelets/update_reference.c \
	codelets/update_rules.c \
	codelets/update_task.c \
	codelets/update_task.h
# the arithmetic of gradients and updates
libkernels_la_SOURCES += \
	codelets/bf16_pack.c \
	codelets/bf16_pack.h \
	codelets/gradient_sums.c \
	codelets/gradient_sums.h \
	codelets/update.c \
	codelets/update.def \
	codelets/update.h

include codelets/products/local.mk
include codelets/kernels/local.mk
include codelets/groups/local.mk
include codelets/device/local.mk

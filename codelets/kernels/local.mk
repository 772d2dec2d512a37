# SPDX-License-Identifier: Apache-2.0
#
# codelets/kernels/: row kernels and their references.

libcavs_la_SOURCES += \
	codelets/kernels/kernel.c \
	codelets/kernels/kernel.h \
	codelets/kernels/kernel_gemm.c \
	codelets/kernels/kernel_lists_reference.c \
	codelets/kernels/kernel_metric.c \
	codelets/kernels/kernel_reference.c \
	codelets/kernels/kernel_reference.h \
	codelets/kernels/kernel_row_softmax.c \
	codelets/kernels/kernel_rows.c \
	codelets/kernels/kernel_select.c \
	codelets/kernels/kernel_select_gradient.c \
	codelets/kernels/kernel_softmax.c \
	codelets/kernels/kernel_table.h \
	codelets/kernels/philox.h \
	codelets/kernels/sorted_rows.c \
	codelets/kernels/sorted_rows.h
libkernels_la_SOURCES += \
	codelets/kernels/ew_math.def \
	codelets/kernels/exponentials.c \
	codelets/kernels/exponentials.h \
	codelets/kernels/kernel_dropout.c \
	codelets/kernels/kernel_list_softmax.c \
	codelets/kernels/kernel_lists.c \
	codelets/kernels/kernel_row_products.c \
	codelets/kernels/kernel_sums.c \
	codelets/kernels/list_parts.h \
	codelets/kernels/narrow_sums.c \
	codelets/kernels/narrow_sums.h \
	codelets/kernels/row_sums.c \
	codelets/kernels/row_sums.h \
	codelets/kernels/vector_math.h

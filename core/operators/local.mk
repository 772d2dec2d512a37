# SPDX-License-Identifier: Apache-2.0
#
# core/operators/: a family of operators a file.

libcavs_la_SOURCES += \
	core/operators/channels.c \
	core/operators/columns.c \
	core/operators/dropout.c \
	core/operators/apply.c \
	core/operators/family.h \
	core/operators/graph.c \
	core/operators/inputs.c \
	core/operators/lists.c \
	core/operators/losses.c \
	core/operators/nodes.c \
	core/operators/norms.c \
	core/operators/parameters.c \
	core/operators/matmul.c \
	core/operators/rows.c \
	core/operators/spread.c \
	core/operators/symbol_products.c \
	core/operators/table.c

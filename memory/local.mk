# SPDX-License-Identifier: Apache-2.0
#
# memory/: dynamic tensors as StarPU handles, the order that StarPU keeps, arenas, growing columns.
#
# To add a file:
#     libcavs_la_SOURCES += memory/x.c memory/x.h

libcavs_la_SOURCES += \
	memory/arena.c \
	memory/arena.h \
	memory/column.c \
	memory/column.h \
	memory/handover.c \
	memory/handover.h \
	memory/tensor.c \
	memory/tensor.h

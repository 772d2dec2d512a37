# SPDX-License-Identifier: Apache-2.0
#
# core/data/: samples in memory and in packed files.

libcavs_la_SOURCES += \
	core/data/adding.c \
	core/data/adding.h \
	core/data/adding_graph.c \
	core/data/adding_inputs.c \
	core/data/columns_of_stage.c \
	core/data/data.c \
	core/data/data.h \
	core/data/fingerprint.c \
	core/data/intern.c \
	core/data/packed.c \
	core/data/packed.h \
	core/data/packed_arrays.c \
	core/data/packed_data.c \
	core/data/packed_describe.c \
	core/data/packed_gather.c \
	core/data/packed_read.c \
	core/data/packed_records.c \
	core/data/packed_write.c \
	core/data/packing.c \
	core/data/pulled.c \
	core/data/sound.c

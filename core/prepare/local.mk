# SPDX-License-Identifier: Apache-2.0
#
# core/prepare/: samples -> shards, schedules and index sections: what the tasks of a batch read.

libcavs_la_SOURCES += \
	core/prepare/arrange.c \
	core/prepare/batch.c \
	core/prepare/batch_graph.c \
	core/prepare/distinct_inputs.c \
	core/prepare/index.c \
	core/prepare/kept.c \
	core/prepare/list_index.c \
	core/prepare/noise.c \
	core/prepare/prepare.h \
	core/prepare/pulled_rows.c \
	core/prepare/preparing.h \
	core/prepare/shard_memory.c \
	core/prepare/size.c \
	core/prepare/touched.c

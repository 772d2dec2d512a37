# SPDX-License-Identifier: Apache-2.0
libcavs_la_SOURCES += \
	scheduler/schedule.h \
	scheduler/internal.h \
	scheduler/schedule.c \
	scheduler/policies.c \
	scheduler/capacity.c \
	scheduler/cut.c \
	scheduler/distinct.c \
	scheduler/topology.c \
	scheduler/merge.c \
	scheduler/agenda.c \
	scheduler/layout.c \
	scheduler/graph_check.c \
	scheduler/shard.c

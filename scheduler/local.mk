# SPDX-License-Identifier: Apache-2.0
#
# scheduler/: input graphs -> V_t and rows, by a policy.  Pure C: neither models nor StarPU are known here.

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

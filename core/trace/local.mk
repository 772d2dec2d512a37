# SPDX-License-Identifier: Apache-2.0
#
# core/trace/: what happened in a run, from StarPU's records.

libcavs_la_SOURCES += \
	core/trace/graph.c \
	core/trace/link.c \
	core/trace/pauses.c \
	core/trace/phase.c \
	core/trace/read.c \
	core/trace/run.c \
	core/trace/summarise.c \
	core/trace/svg.c \
	core/trace/svg.h \
	core/trace/svg_bars.c \
	core/trace/svg_detail.c \
	core/trace/svg_head.c \
	core/trace/svg_lane.c \
	core/trace/svg_runs.c \
	core/trace/sweep.c \
	core/trace/text.c \
	core/trace/tool.c \
	core/trace/totals.c \
	core/trace/trace.h

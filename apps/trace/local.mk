# SPDX-License-Identifier: Apache-2.0
#
# apps/trace/: cavs-trace, what happened in a run from StarPU's records.
#
# All but its main() is in libtrace.la, for tests.

noinst_LTLIBRARIES += libtrace.la
libtrace_la_SOURCES = \
	apps/trace/convert.c \
	apps/trace/dependencies.c \
	apps/trace/longest_path.c \
	apps/trace/messages.c \
	apps/trace/pauses.c \
	apps/trace/record_fields.c \
	apps/trace/records.c \
	apps/trace/records.h \
	apps/trace/summarise.c \
	apps/trace/summary_text.c \
	apps/trace/svg.c \
	apps/trace/svg.h \
	apps/trace/svg_bars.c \
	apps/trace/svg_detail.c \
	apps/trace/svg_head.c \
	apps/trace/svg_lane.c \
	apps/trace/svg_messages.c \
	apps/trace/svg_runs.c \
	apps/trace/sweep.c \
	apps/trace/totals.c \
	apps/trace/trace.h \
	core/compile/work.c \
	core/compile/work.h

APPS += apps/cavs-trace
apps_cavs_trace_SOURCES = apps/trace/cavs_trace.c
apps_cavs_trace_LDADD = libtrace.la libapp.la $(APP_LIBS) -ldl

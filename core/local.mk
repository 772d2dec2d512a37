# SPDX-License-Identifier: Apache-2.0
#
# core/: the public API, symbols, passes, the engine, optimizers, sessions, checkpoints.
#
# To add a file x.c with its header x.h:
#     libcavs_la_SOURCES += core/x.c core/x.h
# It includes headers by their path from the top: #include "core/x.h".
# A header for the library's users (there is one, cavs.h) goes to include_HEADERS.

include_HEADERS += core/cavs.h core/cavs_cells.h

pkgconfig_DATA += core/cavs.pc

libcavs_la_SOURCES += \
	core/arena.c \
	core/array.h \
	core/autodiff.c \
	core/batch.c \
	core/beside.c \
	core/beside.h \
	core/build.h \
	core/cells.c \
	core/check.c \
	core/checkpoint.c \
	core/classify.c \
	core/column.c \
	core/column.h \
	core/cost.c \
	core/cost.h \
	core/data.c \
	core/data.h \
	core/delay.c \
	core/devices.c \
	core/distinct.c \
	core/emit.c core/equal.c \
	core/error.c \
	core/error.h \
	core/explain.c \
	core/expressions.c \
	core/folder.c \
	core/fingerprint.c \
	core/fuse.c \
	core/graph.c \
	core/homes.c \
	core/index.c \
	core/intern.c \
	core/json_text.c \
	core/json_text.h \
	core/kinds.c \
	core/losses.c \
	core/list_index.c \
	core/lists.c \
	core/merge.c \
	core/metadata.c \
	core/metadata.h \
	core/model.c \
	core/model.h \
	core/model_file.c \
	core/needs_grad.c \
	core/noise.c \
	core/operand.c \
	core/operators.c \
	core/optimizer.c \
	core/output.c \
	core/pack.c \
	core/packed.c \
	core/packed.h \
	core/packed_data.c \
	core/peak.c \
	core/place.c core/readers.c \
	core/place.h \
	core/plan.c \
	core/plan.h \
	core/pulled.c \
	core/replace.c \
	core/replace.h \
	core/rows.c \
	core/room.c \
	core/runtime.c \
	core/safetensors.c \
	core/safetensors.h \
	core/safetensors_write.c \
	core/scratch.c \
	core/session.c \
	core/session.h \
	core/share.c \
	core/sharing.c \
	core/slot.c \
	core/starpu_init.c \
	core/submit.c \
	core/symbol.c \
	core/together.c \
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
	core/trace/trace.h \
	core/values.c

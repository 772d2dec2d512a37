# SPDX-License-Identifier: Apache-2.0
#
# core/run/: sessions: batches, tasks, parameters, optimizers, the runtime.

libcavs_la_SOURCES += \
	core/run/batch.c \
	core/run/batch_graph.c \
	core/run/choices.c \
	core/run/cost.c \
	core/run/cost.h \
	core/run/devices.c \
	core/run/distinct_inputs.c \
	core/run/homes.c \
	core/run/index.c \
	core/run/list_index.c \
	core/run/noise.c \
	core/run/optimizer.c \
	core/run/output.c \
	core/run/peak.c \
	core/run/record.c \
	core/run/record.h \
	core/run/room.c \
	core/run/runtime.c \
	core/run/session.c \
	core/run/session.h \
	core/run/slot.c \
	core/run/starpu_folder.c \
	core/run/starpu_init.c \
	core/run/submit.c \
	core/run/values.c

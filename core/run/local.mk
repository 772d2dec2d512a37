# SPDX-License-Identifier: Apache-2.0
#
# core/run/: sessions: tensors, tasks, parameters, optimizers, the runtime.

libcavs_la_SOURCES += \
	core/run/schedule_tasks.c \
	core/run/choices.c \
	core/run/cost.c \
	core/run/cost.h \
	core/run/deal.c \
	core/run/device_room.c \
	core/run/device_scratch.c \
	core/run/devices.c \
	core/run/engine.c \
	core/run/engine.h \
	core/run/exchange.c \
	core/run/exchange.h \
	core/run/exchange_lists.c \
	core/run/exchange_pace.c \
	core/run/exchange_parcels.c \
	core/run/exchange_routes.c \
	core/run/exchange_row_sums.c \
	core/run/exchange_rows.c \
	core/run/exchange_shares.c \
	core/run/exchange_sums.c \
	core/run/exchange_values.c \
	core/run/fault.c \
	core/run/here.c \
	core/run/home_shares.c \
	core/run/homes.c \
	core/run/join.c \
	core/run/optimizer.c \
	core/run/optimizer.h \
	core/run/looked_up.c \
	core/run/option_names.c \
	core/run/output.c \
	core/run/peak.c \
	core/run/made_gradients.c \
	core/run/pieces.c \
	core/run/pieces.h \
	core/run/placement.c \
	core/run/record.c \
	core/run/record.h \
	core/run/room.c \
	core/run/run_batch.c \
	core/run/runtime.c \
	core/run/runtime.h \
	core/run/session.c \
	core/run/session.h \
	core/run/shared_runs.c \
	core/run/simulated.c \
	core/run/simulated.h \
	core/run/slot.c \
	core/run/start_devices.c \
	core/run/start_devices.h \
	core/run/starpu_folder.c \
	core/run/starpu_init.c \
	core/run/stats.c \
	core/run/store.c \
	core/run/store.h \
	core/run/submit.c \
	core/run/submit_updates.c \
	core/run/values.c \
	core/run/workers.c

# SPDX-License-Identifier: Apache-2.0
#
# core/tape/: networks recorded by ordinary code, sample by sample, batched and run on a session's engine.

libcavs_la_SOURCES += \
	core/tape/answered_rows.c \
	core/tape/answered_rows.h \
	core/tape/answers.c \
	core/tape/applied_form.c \
	core/tape/applying.h \
	core/tape/background.c \
	core/tape/block_forms.c \
	core/tape/block_function.c \
	core/tape/compiled.c \
	core/tape/declared.c \
	core/tape/explain_tape.c \
	core/tape/fault_tape.c \
	core/tape/fill.c \
	core/tape/fill_sections.c \
	core/tape/fill_sections.h \
	core/tape/found.c \
	core/tape/going.h \
	core/tape/increment_devices.c \
	core/tape/increments.c \
	core/tape/known_runs.c \
	core/tape/known_runs.h \
	core/tape/learned_runs.c \
	core/tape/list.c \
	core/tape/lookups.c \
	core/tape/needed.c \
	core/tape/operand_sorts.c \
	core/tape/order.c \
	core/tape/order.h \
	core/tape/order_parts.h \
	core/tape/reached.c \
	core/tape/record_computed.c \
	core/tape/record_symbol.c \
	core/tape/recording.c \
	core/tape/recording.h \
	core/tape/recording_parts.h \
	core/tape/row_places.c \
	core/tape/run_form.c \
	core/tape/run_form.h \
	core/tape/run_parts.c \
	core/tape/run_parts.h \
	core/tape/sample_shards.c \
	core/tape/signature.c \
	core/tape/signature.h \
	core/tape/signature_function.c \
	core/tape/signature_function.h \
	core/tape/signature_operands.c \
	core/tape/sites.c \
	core/tape/sites.h \
	core/tape/submit_increment.c \
	core/tape/tape.c \
	core/tape/tape.h \
	core/tape/tape_blocks.c \
	core/tape/tape_blocks.h \
	core/tape/tape_chain_tasks.c \
	core/tape/tape_graph.c \
	core/tape/tape_sum_tasks.c \
	core/tape/tape_tasks.c \
	core/tape/tape_tasks.h \
	core/tape/unfold.c \
	core/tape/unfolded.h \
	core/tape/unfolded_function.c \
	core/tape/unfolded_parts.c

# SPDX-License-Identifier: Apache-2.0
#
# core/compile/: passes over a declared model: sharing, dF, classes, and the plan of steps that a task runs.

libcavs_la_SOURCES += \
	core/compile/autodiff.c \
	core/compile/bind_kinds.c \
	core/compile/classify.c \
	core/compile/delay.c \
	core/compile/diff.c \
	core/compile/diff.h \
	core/compile/diff_children.c \
	core/compile/emit.c \
	core/compile/emit.h \
	core/compile/emit_group.c \
	core/compile/evaluate_once.c \
	core/compile/explain.c \
	core/compile/finish.c \
	core/compile/fuse.c \
	core/compile/in_place.c \
	core/compile/in_place.h \
	core/compile/in_place_room.c \
	core/compile/join_products.c \
	core/compile/kinds.c \
	core/compile/move.c \
	core/compile/needs_grad.c \
	core/compile/operand.c \
	core/compile/parts.c \
	core/compile/passes.h \
	core/compile/place.c \
	core/compile/place.h \
	core/compile/places.c \
	core/compile/plan.c \
	core/compile/plan.h \
	core/compile/plan_stage.c \
	core/compile/plan_tensors.c \
	core/compile/readers.c \
	core/compile/recorded.c \
	core/compile/roles.c \
	core/compile/row_steps.c \
	core/compile/scratch.c \
	core/compile/share.c \
	core/compile/tiles.c \
	core/compile/together.c \
	core/compile/work.c \
	core/compile/work.h \
	core/compile/worth.c

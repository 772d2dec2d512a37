# SPDX-License-Identifier: Apache-2.0
#
# core/declare/: models, stages, functions and symbols as the user declares them, with their shape rules.

libcavs_la_SOURCES += \
	core/declare/build.c \
	core/declare/build.h \
	core/declare/cells.c \
	core/declare/check.c \
	core/declare/equal.c \
	core/declare/model.c \
	core/declare/model.h \
	core/declare/operator.h \
	core/declare/operators.def \
	core/declare/param.c \
	core/declare/stage.c \
	core/declare/symbol.c

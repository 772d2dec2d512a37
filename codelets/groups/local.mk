# SPDX-License-Identifier: Apache-2.0
#
# codelets/groups/: element-wise operators and fused groups of them.

libcavs_la_SOURCES += \
	codelets/groups/elementwise.c \
	codelets/groups/elementwise.def \
	codelets/groups/elementwise.h \
	codelets/groups/ew_blame.c \
	codelets/groups/ew_cache.c \
	codelets/groups/ew_compile.c \
	codelets/groups/ew_folder.c \
	codelets/groups/ew_generate.c \
	codelets/groups/ew_internal.h \
	codelets/groups/ew_interpret.c \
	codelets/groups/ew_library.c \
	codelets/groups/ew_plan.c \
	codelets/groups/ew_process.c \
	codelets/groups/ew_program.c \
	codelets/groups/ew_reference.c \
	codelets/groups/ew_spec.c
libkernels_la_SOURCES += \
	codelets/groups/ew_loops.c

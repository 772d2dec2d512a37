# SPDX-License-Identifier: Apache-2.0
#
# core/files/: model files and checkpoints.

libcavs_la_SOURCES += \
	core/files/contents.c \
	core/files/contents.h \
	core/files/load.c \
	core/files/metadata.c \
	core/files/metadata.h \
	core/files/model_file.c \
	core/files/safetensors.c \
	core/files/safetensors.h \
	core/files/safetensors_matrices.c \
	core/files/safetensors_write.c \
	core/files/save.c

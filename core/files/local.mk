# SPDX-License-Identifier: Apache-2.0
#
# core/files/: model files and checkpoints.

libcavs_la_SOURCES += \
	core/files/checkpoint.c \
	core/files/metadata.c \
	core/files/metadata.h \
	core/files/model_file.c \
	core/files/safetensors.c \
	core/files/safetensors.h \
	core/files/safetensors_write.c

# SPDX-License-Identifier: Apache-2.0
#
# core/tape/: networks recorded by ordinary code, sample by sample, batched and run on a session's engine.

libcavs_la_SOURCES += \
	core/tape/order.c \
	core/tape/order.h \
	core/tape/recording.c \
	core/tape/recording.h \
	core/tape/signature.c \
	core/tape/signature.h \
	core/tape/tape.c \
	core/tape/tape.h

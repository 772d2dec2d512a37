# SPDX-License-Identifier: Apache-2.0
#
# core/base/: what everything else may use: errors, notices, growing arrays, hashes and tables by
# them, files that are written beside and renamed.

libcavs_la_SOURCES += \
	core/base/array.h \
	core/base/beside.c \
	core/base/beside.h \
	core/base/bits.h \
	core/base/error.c \
	core/base/error.h \
	core/base/fetches.h \
	core/base/file.c \
	core/base/hash.h \
	core/base/hash_table.h \
	core/base/json_text.c \
	core/base/json_text.h \
	core/base/notice.c \
	core/base/notice.h \
	core/base/own_name.h \
	core/base/points.h \
	core/base/read_at.c \
	core/base/read_at.h \
	core/base/replace.c \
	core/base/replace.h \
	core/base/splitmix.h \
	core/base/stopwatch.h

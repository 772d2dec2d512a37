# SPDX-License-Identifier: Apache-2.0
#
# core/: the public interface, and a room for each step from a declared model to a trained one.
#
# To add a file x.c with its header x.h to a room: name both in the room's local.mk.
# Headers are included by their path from the top: #include "core/run/x.h".
# A header for the library's users (there are two) goes to include_HEADERS.

include_HEADERS += core/cavs.h core/cavs_cells.h

pkgconfig_DATA += core/cavs.pc

include core/base/local.mk
include core/declare/local.mk
include core/compile/local.mk
include core/operators/local.mk
include core/data/local.mk
include core/prepare/local.mk
include core/ranks/local.mk
include core/run/local.mk
include core/files/local.mk
include core/tape/local.mk

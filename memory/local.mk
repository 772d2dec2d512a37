# SPDX-License-Identifier: Apache-2.0
#
# memory/: dynamic tensors, chunk arenas, StarPU handles.
#
# To add a file:
#     libcavs_la_SOURCES += memory/x.c memory/x.h

libcavs_la_SOURCES += memory/tensor.c memory/tensor.h

# SPDX-License-Identifier: Apache-2.0
#
# codelets/products/: matrix products: the table and its providers.

libcavs_la_SOURCES += \
	codelets/products/gemm.c \
	codelets/products/gemm.h \
	codelets/products/gemm_long.c \
	codelets/products/gemm_openblas.c \
	codelets/products/gemm_panels.c \
	codelets/products/gemm_providers.h \
	codelets/products/gemm_reference.c \
	codelets/products/gemm_tile.h \
	codelets/products/gemm_tiled.c \
	codelets/products/panels.h
libkernels_la_SOURCES += \
	codelets/products/gemm_avx2.c \
	codelets/products/gemm_avx512.c
if HAVE_LIBXSMM
libcavs_la_SOURCES += codelets/products/gemm_libxsmm.c
endif

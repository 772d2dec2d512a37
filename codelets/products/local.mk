# SPDX-License-Identifier: Apache-2.0
#
# codelets/products/: matrix products: the tables, of float32 and of bfloat16, and their providers.

libcavs_la_SOURCES += \
	codelets/products/bf16.c \
	codelets/products/bf16.h \
	codelets/products/bf16_providers.h \
	codelets/products/bf16_reference.c \
	codelets/products/blocks.h \
	codelets/products/choice.c \
	codelets/products/choice.h \
	codelets/products/claimed_gradient.c \
	codelets/products/claimed_products.c \
	codelets/products/claims.c \
	codelets/products/claims.h \
	codelets/products/fetch.h \
	codelets/products/gemm.c \
	codelets/products/gemm.h \
	codelets/products/gemm_far.h \
	codelets/products/gemm_few.h \
	codelets/products/gemm_long.c \
	codelets/products/gemm_openblas.c \
	codelets/products/gemm_panels.c \
	codelets/products/gemm_providers.h \
	codelets/products/gemm_reference.c \
	codelets/products/gemm_tile.h \
	codelets/products/gemm_tiled.c \
	codelets/products/gemm_turned.h \
	codelets/products/panels.h \
	codelets/products/simd.h
libkernels_la_SOURCES += \
	codelets/products/bf16_amx.c \
	codelets/products/bf16_amx.h \
	codelets/products/bf16_amx_pack.c \
	codelets/products/bf16_amx_tiles.c \
	codelets/products/bf16_avx512.c \
	codelets/products/bf16_converted.c \
	codelets/products/bf16_round.h \
	codelets/products/bf16_vectors.h \
	codelets/products/gemm_avx2.c \
	codelets/products/gemm_avx512.c \
	codelets/products/transpose.c \
	codelets/products/transpose.h \
	codelets/products/turn_fours.h
if HAVE_LIBXSMM
libcavs_la_SOURCES += codelets/products/gemm_libxsmm.c
endif

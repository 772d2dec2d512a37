# SPDX-License-Identifier: Apache-2.0
#
# codelets/: the operators: reference kernels, CPU, CUDA and OpenCL kernels, StarPU codelets.
#
# Glue (codelets, tables, generators) is ordinary code:
#     libcavs_la_SOURCES += codelets/x.c codelets/x.h
# A file whose loops must vectorise is a kernel file. It is compiled with $(KERNEL_CFLAGS) on top
# of the usual flags (-O3, omp simd, fast-math that still knows NaN and Inf):
#     libkernels_la_SOURCES += codelets/x_cpu.c
# A reference kernel is NOT a kernel file: it is the oracle and keeps strict arithmetic.
# Files for one device only go below the device's condition:
#     if HAVE_CUDA
#     libcavs_la_SOURCES += codelets/x_cuda.c
#     endif
# (and HAVE_OPENCL, HAVE_CLBLAST, HAVE_LIBXSMM likewise).


# matrix products: the table and its providers
libcavs_la_SOURCES += codelets/gemm.c codelets/gemm.h codelets/gemm_providers.h \
	codelets/gemm_openblas.c codelets/gemm_reference.c codelets/gemm_tile.h codelets/gemm_tiled.c
libkernels_la_SOURCES += codelets/gemm_avx512.c codelets/gemm_avx2.c
if HAVE_LIBXSMM
libcavs_la_SOURCES += codelets/gemm_libxsmm.c
endif

# row kernels and their references
libcavs_la_SOURCES += codelets/kernel.c codelets/kernel.h codelets/kernels.h codelets/kernel_gemm.c \
	codelets/kernel_lists_reference.c codelets/kernel_metric.c codelets/kernel_reference.c \
	codelets/kernel_reference.h \
	codelets/kernel_rows.c codelets/kernel_rows_reference.c codelets/kernel_select.c \
	codelets/kernel_softmax.c codelets/philox.h
libkernels_la_SOURCES += codelets/simd.h codelets/exponentials.c codelets/exponentials.h \
	codelets/kernel_dropout.c codelets/kernel_lists.c codelets/kernel_sums.c

# optimizer arithmetic
libkernels_la_SOURCES += codelets/update.h codelets/update.c codelets/transpose.c
libcavs_la_SOURCES += codelets/update_task.c codelets/update_task.h

# tasks: parts of vertex functions, run tile by tile
libcavs_la_SOURCES += codelets/part.c codelets/part.h codelets/task.c codelets/task.h

# what is said, and is no error
libcavs_la_SOURCES += codelets/notice.c codelets/notice.h

# element-wise operators and fused groups
libcavs_la_SOURCES += codelets/elementwise.c codelets/elementwise.def codelets/elementwise.h \
	codelets/ew_blame.c codelets/ew_cache.c codelets/ew_compile.c codelets/ew_folder.c codelets/ew_generate.c codelets/ew_internal.h \
	codelets/ew_interpret.c codelets/ew_library.c codelets/ew_plan.c codelets/ew_process.c codelets/ew_program.c \
	codelets/ew_reference.c codelets/hash.h codelets/points.h
libkernels_la_SOURCES += codelets/ew_loops.c codelets/ew_math.def

# devices: what CUDA and OpenCL share, and one file each for what they do not
libcavs_la_SOURCES += codelets/device/cache.c codelets/device/device.c codelets/device/device.h codelets/device/groups.c \
	codelets/device/kernels.c codelets/device/kernels.h codelets/device/products.c \
	codelets/device/products.h codelets/device/source.c \
	codelets/device/task.c codelets/device/task.h codelets/device/update.c codelets/device/walk.c \
	codelets/device/walk.h
if HAVE_OPENCL
libcavs_la_SOURCES += codelets/device/opencl.c
endif
if HAVE_CUDA
libcavs_la_SOURCES += codelets/device/cuda.c codelets/device/nvrtc.c codelets/device/nvrtc.h
endif

# their kernels, embedded as a string
EXTRA_DIST += codelets/device/dialect.cl codelets/device/kernels.cl codelets/device/products.cl
device_texts = codelets/device/dialect.inc codelets/device/kernels.inc codelets/device/products.inc
BUILT_SOURCES += $(device_texts)
CLEANFILES += $(device_texts)
# BUILT_SOURCES are made for `make all` only, and any target may be the first in a new tree
codelets/device/source.lo: $(device_texts)
SUFFIXES = .cl .inc
.cl.inc:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(SED) -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' \
		-e 's/$$/\\n"/' $< >$@.tmp && mv $@.tmp $@

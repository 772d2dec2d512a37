# SPDX-License-Identifier: Apache-2.0
#
# tests/cuda/: stand-ins for NVIDIA's libraries (gpu.h), on which tests run what StarPU and the library do on GPUs.
# They are neither installed nor linked; tests/cuda/run runs a command on them.

gpu_sources = tests/cuda/cublas.c tests/cuda/cublas_old.c tests/cuda/cudart.c tests/cuda/cudriver.c \
	tests/cuda/cunvrtc.c tests/cuda/cusolvers.c tests/cuda/dialect.h tests/cuda/gpu.h tests/cuda/gpu_copies.c \
	tests/cuda/gpu_kernels.c tests/cuda/gpu_kernel.h \
	tests/cuda/gpu_memory.c tests/cuda/gpu_options.c tests/cuda/gpu_streams.c tests/cuda/no_driver.c tests/cuda/wrong.c
EXTRA_DIST += $(gpu_sources) tests/cuda/build tests/cuda/programs_on_gpus.sh tests/cuda/run

if HAVE_CUDA
check_DATA += tests/cuda/libcuda.so.1
tests/cuda/libcuda.so.1: $(gpu_sources) tests/cuda/build
	$(AM_V_GEN)CC='$(CC)' CUDA_CFLAGS='$(CUDA_CFLAGS)' CUDA_LIBS='$(CUDA_LIBS)' \
		OPENBLAS='$(OPENBLAS_CFLAGS) $(OPENBLAS_LIBS)' $(SHELL) $(srcdir)/tests/cuda/build tests/cuda
endif
clean-gpus:
	rm -rf tests/cuda/lib* tests/cuda/unused
	rm -f tests/cuda/no_driver tests/cuda/symbols tests/cuda/wrong

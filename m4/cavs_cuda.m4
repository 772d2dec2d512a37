# SPDX-License-Identifier: Apache-2.0

# CAVS_CUDA_FIND_ROOT
#   Sets cuda_root to the toolkit's folder: the one asked for, $CUDA_HOME, the one nvcc is in, or
#   /usr/local/cuda. Empty if there is none. nvcc itself is not needed: NVRTC compiles the kernels.
AC_DEFUN([CAVS_CUDA_FIND_ROOT],
[cuda_root=
cavs_nvcc=$(command -v nvcc 2>/dev/null)
AS_CASE([$with_cuda],
    [auto|yes],
    [for cavs_dir in "$CUDA_HOME" "${cavs_nvcc%/bin/nvcc}" /usr/local/cuda; do
         AS_IF([test -z "$cuda_root" && test -n "$cavs_dir" &&
                test -f "$cavs_dir/include/cuda_runtime_api.h"], [cuda_root=$cavs_dir])
     done],
    [AS_IF([test -f "$with_cuda/include/cuda_runtime_api.h"], [cuda_root=$with_cuda])])])

# CAVS_CUDA_TRY_LIBS
#   Tries to link cuBLAS, NVRTC and the runtime below $cuda_root. The driver (-lcuda) is left out
#   on purpose: linked with it no program would start on a machine without a GPU. The runtime
#   loads modules too (cudaLibraryLoadData), and gives driver entry points
#   (cudaGetDriverEntryPoint). NVRTC has to be there, but is opened when there is a GPU
#   (codelets/device/nvrtc.c).
AC_DEFUN([CAVS_CUDA_TRY_LIBS],
[AC_MSG_CHECKING([for cuBLAS and NVRTC in $cuda_root])
CUDA_CFLAGS="-isystem $cuda_root/include"
CUDA_LIBS=
for cavs_dir in lib64 lib targets/x86_64-linux/lib; do
    AS_IF([test -d "$cuda_root/$cavs_dir"], [CUDA_LIBS="$CUDA_LIBS -L$cuda_root/$cavs_dir"])
done
CUDA_LIBS="$CUDA_LIBS -lcublas -lcudart"
cavs_saved_CPPFLAGS=$CPPFLAGS
cavs_saved_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $CUDA_CFLAGS"
LIBS="$CUDA_LIBS -lnvrtc $LIBS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <cuda_runtime_api.h>
#include <cublas_v2.h>
#include <nvrtc.h>]], [[cublasHandle_t h; int major, minor;
cublasCreate(&h); nvrtcVersion(&major, &minor); cudaDeviceSynchronize();]])],
    [have_cuda=yes; cuda_why=$cuda_root])
CPPFLAGS=$cavs_saved_CPPFLAGS
LIBS=$cavs_saved_LIBS
AC_MSG_RESULT([$have_cuda])])

# CAVS_CUDA
#   HAVE_CUDA needs all of: a StarPU with CUDA, the toolkit's headers, cuBLAS, NVRTC.
AC_DEFUN([CAVS_CUDA],
[AC_ARG_WITH([cuda],
    [AS_HELP_STRING([--with-cuda=auto|yes|no|DIR], [NVIDIA GPUs; DIR is the toolkit @<:@auto@:>@])],
    [], [with_cuda=auto])
have_cuda=no
CAVS_CUDA_FIND_ROOT
AS_IF([test "x$with_cuda" = xno], [cuda_why="switched off (--with-cuda=no)"],
    [test -z "$cuda_root"], [cuda_why="no CUDA toolkit (include/cuda_runtime_api.h) found"],
    [test $starpu_has_cuda = no], [cuda_why="this StarPU was built without CUDA"],
    [cuda_why="cuBLAS or NVRTC does not link (see config.log)"
     CAVS_CUDA_TRY_LIBS])
AS_IF([test $have_cuda = yes],
    [AC_DEFINE([HAVE_CUDA], [1], [CUDA, cuBLAS and NVRTC are there and StarPU drives GPUs])],
    [CUDA_CFLAGS= CUDA_LIBS=
     AS_CASE([$with_cuda], [auto|no], [], [AC_MSG_ERROR([--with-cuda: $cuda_why])])])
AC_SUBST([CUDA_CFLAGS])
AC_SUBST([CUDA_LIBS])
AM_CONDITIONAL([HAVE_CUDA], [test $have_cuda = yes])
CAVS_FEATURE([CUDA], [$have_cuda], [$cuda_why])])

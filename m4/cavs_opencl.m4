# SPDX-License-Identifier: Apache-2.0

# CAVS_OPENCL
#   HAVE_OPENCL needs a StarPU with OpenCL, CL/cl.h and an ICD loader. HAVE_CLBLAST needs
#   HAVE_OPENCL and CLBlast, the GEMM provider there.
AC_DEFUN([CAVS_OPENCL],
[AC_ARG_WITH([opencl],
    [AS_HELP_STRING([--with-opencl=auto|yes|no], [OpenCL devices @<:@auto@:>@])],
    [], [with_opencl=auto])
have_opencl=no
OPENCL_LIBS=
AS_IF([test "x$with_opencl" = xno], [opencl_why="switched off (--with-opencl=no)"],
    [test $starpu_has_opencl = no], [opencl_why="this StarPU was built without OpenCL"], [
    opencl_why="CL/cl.h or -lOpenCL is missing (Debian: opencl-headers, ocl-icd-opencl-dev)"
    AC_MSG_CHECKING([for OpenCL])
    cavs_saved_LIBS=$LIBS
    LIBS="-lOpenCL $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>]], [[clGetPlatformIDs(0, 0, 0);]])],
        [have_opencl=yes; OPENCL_LIBS=-lOpenCL; opencl_why=])
    LIBS=$cavs_saved_LIBS
    AC_MSG_RESULT([$have_opencl])])
AS_IF([test $have_opencl = yes],
    [AC_DEFINE([HAVE_OPENCL], [1], [OpenCL is there and StarPU drives it])],
    [test "x$with_opencl" = xyes], [AC_MSG_ERROR([--with-opencl: $opencl_why])])
AC_SUBST([OPENCL_LIBS])
AM_CONDITIONAL([HAVE_OPENCL], [test $have_opencl = yes])
CAVS_FEATURE([OpenCL], [$have_opencl], [$opencl_why])
CAVS_CLBLAST])

AC_DEFUN([CAVS_CLBLAST],
[have_clblast=no
CLBLAST_LIBS=
AS_IF([test $have_opencl = no], [clblast_why="needs OpenCL"], [
    clblast_why="clblast_c.h or -lclblast is missing (Debian: libclblast-dev)"
    AC_MSG_CHECKING([for CLBlast])
    cavs_saved_LIBS=$LIBS
    LIBS="-lclblast $OPENCL_LIBS $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>]], [[CLBlastClearCache();]])],
        [have_clblast=yes; CLBLAST_LIBS=-lclblast; clblast_why=])
    LIBS=$cavs_saved_LIBS
    AC_MSG_RESULT([$have_clblast])])
AS_IF([test $have_clblast = yes], [AC_DEFINE([HAVE_CLBLAST], [1], [CLBlast is there])])
AC_SUBST([CLBLAST_LIBS])
AM_CONDITIONAL([HAVE_CLBLAST], [test $have_clblast = yes])
CAVS_FEATURE([CLBlast], [$have_clblast], [$clblast_why])])

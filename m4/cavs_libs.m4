# SPDX-License-Identifier: Apache-2.0

# CAVS_SYSTEM_LIBS: what the C library may keep in separate libraries. These go to LIBS.
AC_DEFUN([CAVS_SYSTEM_LIBS],
[AC_SEARCH_LIBS([pthread_create], [pthread])
AC_SEARCH_LIBS([dlopen], [dl])
AC_SEARCH_LIBS([argp_parse], [argp], [],
    [AC_MSG_ERROR([argp is missing (it is part of glibc; elsewhere install argp-standalone)])])
AC_CHECK_LIB([m], [expf], [], [AC_MSG_ERROR([libm is missing])])])

# CAVS_REQUIRED_LIBS: hwloc, OpenBLAS with its C interface, jansson.
AC_DEFUN([CAVS_REQUIRED_LIBS],
[PKG_CHECK_MODULES([HWLOC], [hwloc], [],
    [AC_MSG_ERROR([hwloc is missing (Debian: libhwloc-dev)])])
PKG_CHECK_MODULES([JANSSON], [jansson >= 2.10], [],
    [AC_MSG_ERROR([jansson is missing (Debian: libjansson-dev)])])
PKG_CHECK_MODULES([OPENBLAS], [openblas], [],
    [AC_MSG_ERROR([OpenBLAS is missing (Debian: libopenblas-dev)])])
cavs_saved_CPPFLAGS=$CPPFLAGS
cavs_saved_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $OPENBLAS_CFLAGS"
LIBS="$OPENBLAS_LIBS $LIBS"
AC_CHECK_HEADER([cblas.h], [], [AC_MSG_ERROR([cblas.h is missing (Debian: libopenblas-dev)])])
AC_CHECK_FUNC([cblas_sgemm], [], [AC_MSG_ERROR([this OpenBLAS lacks cblas_sgemm])])
AC_CHECK_FUNCS([openblas_set_num_threads])
CPPFLAGS=$cavs_saved_CPPFLAGS
LIBS=$cavs_saved_LIBS
CAVS_FEATURE([BLAS], [yes], [OpenBLAS $($PKG_CONFIG --modversion openblas)])])

# CAVS_LIBXSMM: the small-GEMM library (x86-64). Its two static archives are asked for by name.
AC_DEFUN([CAVS_LIBXSMM],
[AC_ARG_WITH([libxsmm],
    [AS_HELP_STRING([--with-libxsmm=auto|yes|no], [small GEMMs through libxsmm @<:@auto@:>@])],
    [], [with_libxsmm=auto])
have_libxsmm=no
LIBXSMM_LIBS=
AS_IF([test "x$with_libxsmm" = xno], [libxsmm_why="switched off (--with-libxsmm=no)"], [
    libxsmm_why="libxsmm.h or -lxsmm -lxsmmnoblas is missing (Debian: libxsmm-dev)"
    AC_MSG_CHECKING([for libxsmm])
    cavs_saved_LIBS=$LIBS
    LIBS="-lxsmm -lxsmmnoblas $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <libxsmm.h>]], [[libxsmm_init();]])],
        [have_libxsmm=yes; LIBXSMM_LIBS="-lxsmm -lxsmmnoblas"; libxsmm_why=])
    LIBS=$cavs_saved_LIBS
    AC_MSG_RESULT([$have_libxsmm])
    AS_IF([test $have_libxsmm = yes],
        [AC_DEFINE([HAVE_LIBXSMM], [1], [libxsmm is there])],
        [test "x$with_libxsmm" = xyes], [AC_MSG_ERROR([--with-libxsmm: $libxsmm_why])])
])
AC_SUBST([LIBXSMM_LIBS])
AM_CONDITIONAL([HAVE_LIBXSMM], [test $have_libxsmm = yes])
CAVS_FEATURE([libxsmm], [$have_libxsmm], [$libxsmm_why])])

# CAVS_CMOCKA: only the tests need it.
AC_DEFUN([CAVS_CMOCKA],
[PKG_CHECK_MODULES([CMOCKA], [cmocka],
    [have_cmocka=yes; cmocka_why=],
    [have_cmocka=no; cmocka_why="make check will not build (Debian: libcmocka-dev)"])
AM_CONDITIONAL([HAVE_CMOCKA], [test $have_cmocka = yes])
CAVS_FEATURE([cmocka], [$have_cmocka], [$cmocka_why])])

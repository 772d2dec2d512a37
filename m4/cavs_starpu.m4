# SPDX-License-Identifier: Apache-2.0

# CAVS_STARPU_HAS(FEATURE)
#   Sets cavs_starpu_has to yes if the StarPU found was built with STARPU_FEATURE.
AC_DEFUN([CAVS_STARPU_HAS],
[AC_MSG_CHECKING([whether StarPU has $1])
cavs_saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $($PKG_CONFIG --cflags-only-I "$STARPU_MODULE")"
AC_PREPROC_IFELSE([AC_LANG_SOURCE([[#include <starpu_config.h>
#ifndef STARPU_$1
#error no
#endif
]])], [cavs_starpu_has=yes], [cavs_starpu_has=no])
CPPFLAGS=$cavs_saved_CPPFLAGS
AC_MSG_RESULT([$cavs_starpu_has])])

# CAVS_STARPU
#   Finds StarPU (at --with-starpu=PREFIX, or where pkg-config looks): 1.4.8 or later, else
#   whatever offers the 1.3 interface. Sets STARPU_MODULE, STARPU_CFLAGS, STARPU_LIBS and
#   starpu_has_{fxt,cuda,opencl}.
AC_DEFUN([CAVS_STARPU],
[AC_ARG_WITH([starpu],
    [AS_HELP_STRING([--with-starpu=PREFIX], [where StarPU is installed @<:@as pkg-config says@:>@])],
    [], [with_starpu=])
STARPU_CONFIGURE_FLAG=
AS_CASE([$with_starpu],
    [yes|''], [with_starpu=],
    [no], [AC_MSG_ERROR([cavs cannot work without StarPU])],
    [AS_IF([test ! -d "$with_starpu"], [AC_MSG_ERROR([--with-starpu: no folder $with_starpu])])
     for cavs_dir in "$with_starpu"/lib/*/pkgconfig "$with_starpu/lib64/pkgconfig" \
            "$with_starpu/lib/pkgconfig"; do
         AS_IF([test -d "$cavs_dir"],
             [PKG_CONFIG_PATH="$cavs_dir${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"])
     done
     export PKG_CONFIG_PATH
     STARPU_CONFIGURE_FLAG="--with-starpu=$with_starpu"])
AC_SUBST([STARPU_CONFIGURE_FLAG])

PKG_CHECK_MODULES([STARPU], [starpu-1.4 >= 1.4.8], [STARPU_MODULE=starpu-1.4], [
    PKG_CHECK_MODULES([STARPU], [starpu-1.3 >= 1.3.9], [STARPU_MODULE=starpu-1.3], [
        AC_MSG_ERROR([StarPU is missing. ./quickstart gets it (or Debian's libstarpu-dev: no trace);
--with-starpu=PREFIX points to one that is already there.])])])
AC_SUBST([STARPU_MODULE])
# other people's headers (StarPU includes CUDA's) do not concern our warnings
STARPU_CFLAGS=$(AS_ECHO([" $STARPU_CFLAGS"]) | $SED 's/ -I/ -isystem /g')
STARPU_VERSION=$($PKG_CONFIG --modversion "$STARPU_MODULE")
cavs_prefix=$($PKG_CONFIG --variable=prefix "$STARPU_MODULE")
AC_DEFINE_UNQUOTED([CAVS_STARPU_BINDIR], ["$cavs_prefix/bin"], [Where StarPU's tools are])
AC_DEFINE_UNQUOTED([CAVS_STARPU_VERSION], ["$STARPU_VERSION"], [Version of StarPU built against])
cavs_note=$cavs_prefix
AS_IF([test "$STARPU_MODULE" = starpu-1.3],
    [cavs_note="$cavs_note (works, but older than 1.4.8; ./quickstart gets a newer one)"])
CAVS_FEATURE([StarPU], [$STARPU_VERSION], [$cavs_note])

CAVS_STARPU_HAS([USE_FXT])
starpu_has_fxt=$cavs_starpu_has
AS_IF([test $starpu_has_fxt = yes],
    [AC_DEFINE([HAVE_STARPU_FXT], [1], [StarPU can write FxT traces])
     CAVS_FEATURE([FxT trace], [yes])],
    [CAVS_FEATURE([FxT trace], [no], [this StarPU was built without FxT])])
CAVS_STARPU_HAS([USE_CUDA])
starpu_has_cuda=$cavs_starpu_has
CAVS_STARPU_HAS([USE_OPENCL])
starpu_has_opencl=$cavs_starpu_has])

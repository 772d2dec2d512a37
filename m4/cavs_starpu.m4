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

# CAVS_STARPU_AT(PREFIX): from here on pkg-config finds the StarPU there first.
AC_DEFUN([CAVS_STARPU_AT],
[for cavs_dir in "$1"/lib/*/pkgconfig "$1/lib64/pkgconfig" "$1/lib/pkgconfig"; do
    AS_IF([test -d "$cavs_dir"], [PKG_CONFIG_PATH="$cavs_dir${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"])
done
export PKG_CONFIG_PATH
STARPU_CONFIGURE_FLAG="--with-starpu=$1"])

# CAVS_STARPU_IN_CACHE: without a word from the user, and where pkg-config knows of no StarPU that
# is new enough, one that ./quickstart has built will do: the last, those aside that are slow
# (STARPU_DEBUG) or compute nothing (STARPU_SIMGRID).
AC_DEFUN([CAVS_STARPU_IN_CACHE],
[AS_IF([! $PKG_CONFIG --exists 'starpu-1.4 >= 1.4.8' && ! $PKG_CONFIG --exists starpu-1.5], [
    for cavs_dir in $(ls -td "$cavs_cache"/starpu-1.*-* 2>/dev/null); do
        AS_IF([ls "$cavs_dir"/lib/pkgconfig/starpu-1.[[45]].pc >/dev/null 2>&1 &&
               ! grep -qE 'define STARPU_(DEBUG|SIMGRID) ' "$cavs_dir"/include/starpu/1.*/starpu_config.h],
            [AC_MSG_NOTICE([taking the StarPU of ./quickstart, in $cavs_dir])
             cavs_found=$cavs_dir
             break])
    done
    AS_IF([test -n "$cavs_found"], [CAVS_STARPU_AT([$cavs_found])])
])])

# CAVS_STARPU_COPY: --enable-starpu-copy. Sets the conditional STARPU_COPY, cavs_copy_note, and to
# what holds StarPU once cavs is installed, in terms of cavs.pc, cavs_installed_starpu.
AC_DEFUN([CAVS_STARPU_COPY],
[AC_ARG_ENABLE([starpu-copy],
    [AS_HELP_STRING([--enable-starpu-copy@<:@=auto|yes|no@:>@],
        [make install takes StarPU along, to LIBDIR/cavs @<:@auto: if it is in a cache or a home@:>@])],
    [], [enable_starpu_copy=auto])
cavs_private=no
AS_CASE([$STARPU_LIBDIR], ["$cavs_cache"/*|"${HOME:-/nonexistent}"/*], [cavs_private=yes])
AS_IF([test "x$enable_starpu_copy" = xauto], [enable_starpu_copy=$cavs_private])
cavs_copy_note=
cavs_installed_starpu=$STARPU_LIBDIR
AS_IF([test "x$enable_starpu_copy" = xyes],
    [cavs_copy_note="; make install takes it along"
     cavs_installed_starpu='${libdir}/cavs'],
    [test $cavs_private = yes],
    [cavs_copy_note="; make install leaves it there, and only who can read that can run cavs"
     AC_MSG_WARN([what make install installs will need $STARPU_LIBDIR; see --enable-starpu-copy])])
AM_CONDITIONAL([STARPU_COPY], [test "x$enable_starpu_copy" = xyes])])

# CAVS_STARPU_SIMULATION: of a StarPU with SimGrid. Programs then begin as starpu_main(): main() is
# StarPU's. Sets SIMULATION_CPPFLAGS, SIMULATION_LIBS and the conditional SIMULATED. With MPI, StarPU
# is a static library: each simulated rank has its own copy of all variables of a program, not of
# those of libraries. SMPI loads the program, which for this is linked as a library is.
AC_DEFUN([CAVS_STARPU_SIMULATION],
[CAVS_STARPU_HAS([SIMGRID])
AM_CONDITIONAL([SIMULATED], [test $cavs_starpu_has = yes])
starpu_has_simgrid=$cavs_starpu_has
SIMULATION_CPPFLAGS=
SIMULATION_LDFLAGS=
SIMULATION_LIBS=
AS_IF([test $starpu_has_simgrid = yes], [
    CAVS_STARPU_HAS([USE_MPI])
    AS_IF([test $cavs_starpu_has = yes], [
        STARPU_LIBS=$($PKG_CONFIG --static --libs "$STARPU_MODULE")
        CAVS_CFLAGS="$CAVS_CFLAGS -fPIC"
        SIMULATION_LDFLAGS="-XCClinker --shared"])
    SIMULATION_CPPFLAGS="-DCAVS_SIMULATED $($PKG_CONFIG --cflags-only-I simgrid | $SED 's/-I/-isystem /g')"
    SIMULATION_LIBS="$STARPU_LIBS $($PKG_CONFIG --libs simgrid)"
    CAVS_FEATURE([simulation], [yes], [SimGrid $($PKG_CONFIG --modversion simgrid): programs compute nothing])])
AC_SUBST([SIMULATION_CPPFLAGS])
AC_SUBST([SIMULATION_LDFLAGS])
AC_SUBST([SIMULATION_LIBS])])

# CAVS_STARPU
#   Finds StarPU (at --with-starpu=PREFIX, where pkg-config looks, or in quickstart's cache): 1.4.8
#   or later, 1.5, else whatever offers the 1.3 interface. Sets STARPU_MODULE, STARPU_CFLAGS,
#   STARPU_LIBS, STARPU_LIBDIR, STARPU_BINDIR and starpu_has_{fxt,cuda,opencl}.
AC_DEFUN([CAVS_STARPU],
[AC_ARG_WITH([starpu],
    [AS_HELP_STRING([--with-starpu=PREFIX],
        [where StarPU is installed, or yes: only where pkg-config says @<:@there, or the one of ./quickstart@:>@])],
    [], [with_starpu=])
cavs_cache=${CAVS_CACHE:-${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/cavs}
STARPU_CONFIGURE_FLAG=
AS_CASE([$with_starpu],
    [''], [CAVS_STARPU_IN_CACHE],
    [yes], [],
    [no], [AC_MSG_ERROR([cavs cannot work without StarPU])],
    [AS_IF([test ! -d "$with_starpu"], [AC_MSG_ERROR([--with-starpu: no folder $with_starpu])])
     CAVS_STARPU_AT([$with_starpu])])
AC_SUBST([STARPU_CONFIGURE_FLAG])

PKG_CHECK_MODULES([STARPU], [starpu-1.4 >= 1.4.8], [STARPU_MODULE=starpu-1.4], [
    PKG_CHECK_MODULES([STARPU], [starpu-1.5], [STARPU_MODULE=starpu-1.5], [
        PKG_CHECK_MODULES([STARPU], [starpu-1.4], [STARPU_MODULE=starpu-1.4], [
            PKG_CHECK_MODULES([STARPU], [starpu-1.3 >= 1.3.9], [STARPU_MODULE=starpu-1.3], [
                AC_MSG_ERROR([StarPU is missing. ./quickstart gets it (or Debian's libstarpu-dev: no trace);
--with-starpu=PREFIX points to one that is already there.])])])])])
AC_SUBST([STARPU_MODULE])
# other people's headers (StarPU includes CUDA's) do not concern our warnings
STARPU_CFLAGS=$(AS_ECHO([" $STARPU_CFLAGS"]) | $SED 's/ -I/ -isystem /g')
STARPU_VERSION=$($PKG_CONFIG --modversion "$STARPU_MODULE")
cavs_prefix=$($PKG_CONFIG --variable=prefix "$STARPU_MODULE")
STARPU_LIBDIR=$($PKG_CONFIG --variable=libdir "$STARPU_MODULE")
STARPU_BINDIR=$cavs_prefix/bin
AC_SUBST([STARPU_LIBDIR])
AC_SUBST([STARPU_BINDIR])
CAVS_STARPU_COPY
AC_DEFINE_UNQUOTED([CAVS_STARPU_BINDIR], ["$STARPU_BINDIR"], [Where StarPU's tools are])
AC_DEFINE_UNQUOTED([CAVS_STARPU_VERSION], ["$STARPU_VERSION"], [Version of StarPU built against])
cavs_note=$cavs_prefix$cavs_copy_note
AS_IF([! $PKG_CONFIG --atleast-version=1.4.8 "$STARPU_MODULE"],
    [cavs_note="$cavs_note (works, but older than 1.4.8; ./quickstart gets a newer one)"])
CAVS_FEATURE([StarPU], [$STARPU_VERSION], [$cavs_note])

CAVS_STARPU_HAS([USE_FXT])
starpu_has_fxt=$cavs_starpu_has
AS_IF([test $starpu_has_fxt = yes],
    [AC_DEFINE([HAVE_STARPU_FXT], [1], [StarPU can write FxT traces])
     CAVS_FEATURE([FxT trace], [yes])],
    [CAVS_FEATURE([FxT trace], [no], [this StarPU was built without FxT])])
CAVS_STARPU_SIMULATION
cavs_saved_LIBS=$LIBS
LIBS="$STARPU_LIBS $LIBS"
AC_CHECK_FUNCS([starpu_memory_get_used])
LIBS=$cavs_saved_LIBS
CAVS_STARPU_HAS([USE_CUDA])
starpu_has_cuda=$cavs_starpu_has
CAVS_STARPU_HAS([USE_OPENCL])
starpu_has_opencl=$cavs_starpu_has])

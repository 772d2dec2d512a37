# SPDX-License-Identifier: Apache-2.0

# CAVS_MPI
#   HAVE_MPI needs StarPU's own library for MPI, of the same version as StarPU, and the MPI that it
#   was built with. Sets MPI_CFLAGS and MPI_LIBS.
AC_DEFUN([CAVS_MPI],
[AC_ARG_WITH([mpi],
    [AS_HELP_STRING([--with-mpi=auto|yes|no], [training on several machines @<:@auto@:>@])],
    [], [with_mpi=auto])
AC_ARG_VAR([MPICC], [compiler of MPI])
have_mpi=no
MPI_CFLAGS=
MPI_LIBS=
cavs_starpumpi=starpumpi${STARPU_MODULE#starpu}
AS_IF([test "x$with_mpi" = xno], [mpi_why="switched off (--with-mpi=no)"], [
    AC_CHECK_PROGS([MPICC], [mpicc])
    CAVS_STARPU_HAS([USE_MPI])
    AS_IF([test -z "$MPICC"], [mpi_why="no mpicc (./quickstart --mpi installs one)"],
        [test $cavs_starpu_has = no || ! $PKG_CONFIG --exists "$cavs_starpumpi >= 1.4.8"],
        [mpi_why="this StarPU was built without MPI, or is older than 1.4.8"],
        [CAVS_MPI_LINK])])
AS_IF([test $have_mpi = yes],
    [AC_DEFINE([HAVE_MPI], [1], [StarPU carries data between processes by MPI])
     mpi_why=$("$MPICC" -show 2>/dev/null | tr ' ' '\n' | $SED -n 's/^-l\(mpi.*\)/by $MPICC, lib\1/p' |
         $SED "s|.MPICC|$MPICC|; q")],
    [test "x$with_mpi" = xyes], [AC_MSG_ERROR([--with-mpi: $mpi_why])])
AC_SUBST([MPI_CFLAGS])
AC_SUBST([MPI_LIBS])
AM_CONDITIONAL([HAVE_MPI], [test $have_mpi = yes])
# Open MPI's files of settings; of other MPIs there is nothing that says so.
cavs_mpi_settings=$(dirname "$(command -v "${MPICC:-mpicc}")")/ompi_info
cavs_mpi_settings=$("$cavs_mpi_settings" --path sysconfdir --parsable 2>/dev/null |
    $SED -n 's/^path:sysconfdir://p')
AC_DEFINE_UNQUOTED([CAVS_MPI_SETTINGS], ["$cavs_mpi_settings"],
    [The folder of Open MPI's files of settings])
CAVS_FEATURE([MPI], [$have_mpi], [$mpi_why])])

# What mpicc adds to a command line is asked of it; everything is compiled by the compiler of the rest.
AC_DEFUN([CAVS_MPI_LINK],
[MPI_CFLAGS=$("$MPICC" -show 2>/dev/null | tr ' ' '\n' | $SED -n 's/^-I/-isystem /p' | tr '\n' ' ')
MPI_CFLAGS="$MPI_CFLAGS$($PKG_CONFIG --cflags-only-I "$cavs_starpumpi" | $SED 's/-I/-isystem /g')"
MPI_LIBS="$($PKG_CONFIG --libs "$cavs_starpumpi") $("$MPICC" -show 2>/dev/null | tr ' ' '\n' |
    $SED -n '/^-L\|^-l/p' | tr '\n' ' ')"
AC_MSG_CHECKING([for StarPU's MPI])
cavs_saved_LIBS=$LIBS
cavs_saved_CPPFLAGS=$CPPFLAGS
LIBS="$MPI_LIBS $STARPU_LIBS $LIBS"
CPPFLAGS="$CPPFLAGS $MPI_CFLAGS $STARPU_CFLAGS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <starpu_mpi.h>]],
    [[MPI_Query_thread(0); return starpu_mpi_init_comm(0, 0, 0, MPI_COMM_WORLD);]])],
    [have_mpi=yes], [mpi_why="StarPU's library for MPI does not link with $MPICC"])
LIBS=$cavs_saved_LIBS
CPPFLAGS=$cavs_saved_CPPFLAGS
AC_MSG_RESULT([$have_mpi])])

# SPDX-License-Identifier: Apache-2.0

# CAVS_DOCUMENTS
#   What documents are made with. The pages of the manual come from the programs' --help, so they are
#   made only where the programs run; a tarball brings them along. Sets HELP2MAN, DOXYGEN and the
#   conditionals MANUALS (pages are made) and REFERENCE (make doc works).
AC_DEFUN([CAVS_DOCUMENTS],
[AC_ARG_ENABLE([manuals],
    [AS_HELP_STRING([--enable-manuals@<:@=auto|yes|no@:>@],
        [make manual pages of the programs, by help2man @<:@auto@:>@])],
    [], [enable_manuals=auto])
AC_PATH_PROG([HELP2MAN], [help2man])
manuals=no
manuals_why="switched off (--enable-manuals=no)"
AS_IF([test "x$enable_manuals" = xno], [],
    [test -z "$HELP2MAN"], [manuals_why="help2man is missing (Debian: help2man)"],
    [test "x$cross_compiling" = xyes], [manuals_why="the programs do not run here"],
    [manuals=yes
     manuals_why=])
AS_IF([test "x$enable_manuals$manuals" = xyesno],
    [AC_MSG_ERROR([--enable-manuals: $manuals_why])])
AS_IF([test $manuals = no && test -f "$srcdir/man/cavs-tree_lstm.1"],
    [manuals_why="$manuals_why; those of the tarball are installed"])
AM_CONDITIONAL([MANUALS], [test $manuals = yes])
CAVS_FEATURE([manual pages], [$manuals], [$manuals_why])

AC_PATH_PROG([DOXYGEN], [doxygen])
AM_CONDITIONAL([REFERENCE], [test -n "$DOXYGEN"])
AS_IF([test -n "$DOXYGEN"], [CAVS_FEATURE([reference], [yes], [make doc])],
    [CAVS_FEATURE([reference], [no], [doxygen is missing (Debian: doxygen)])])])

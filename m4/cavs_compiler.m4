# SPDX-License-Identifier: Apache-2.0

# CAVS_ADD_FLAGS(VARIABLE, FLAGS)
#   Appends to VARIABLE each of FLAGS that the C compiler takes without a warning.
AC_DEFUN([CAVS_ADD_FLAGS],
[for cavs_flag in $2; do
    AC_MSG_CHECKING([whether $CC takes $cavs_flag])
    cavs_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -Werror $cavs_flag"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes]); $1="${$1:+$$1 }$cavs_flag"],
        [AC_MSG_RESULT([no])])
    CFLAGS=$cavs_saved_CFLAGS
done])

# CAVS_COMPILER_FLAGS
#   CAVS_CFLAGS: language, warnings and optimisation of every file.
#   KERNEL_CFLAGS: added for kernel files, whose loops have to vectorise. NaN and Inf keep their
#   meaning there (-fno-finite-math-only): --check-finite has to see them.
AC_DEFUN([CAVS_COMPILER_FLAGS],
[AC_ARG_VAR([KERNEL_CFLAGS], [C compiler flags added for kernel files, instead of the usual ones])
AC_ARG_ENABLE([werror],
    [AS_HELP_STRING([--enable-werror], [take warnings for errors])],
    [], [enable_werror=no])
CAVS_CFLAGS=
CAVS_ADD_FLAGS([CAVS_CFLAGS], [-std=gnu11 -O2 -Wall -Wextra -Wmissing-prototypes])
AS_IF([test "x$enable_werror" = xyes], [CAVS_CFLAGS="$CAVS_CFLAGS -Werror"])
AS_IF([test -z "${KERNEL_CFLAGS+set}"],
    [CAVS_ADD_FLAGS([KERNEL_CFLAGS], [-O3 -fopenmp-simd -ffast-math -fno-finite-math-only])])
AC_SUBST([CAVS_CFLAGS])])

# CAVS_CHECK_SANITIZER
#   --enable-sanitizer[=LIST] puts -fsanitize=LIST into SANITIZER_CFLAGS.  --enable-fuzzing does,
#   too, and tests/fuzz/explore is built: it needs clang's libFuzzer.
AC_DEFUN([CAVS_CHECK_SANITIZER],
[AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer@<:@=LIST@:>@],
        [build with -fsanitize=LIST @<:@address,undefined@:>@; or thread])],
    [], [enable_sanitizer=no])
AC_ARG_ENABLE([fuzzing],
    [AS_HELP_STRING([--enable-fuzzing],
        [build tests/fuzz/explore, libFuzzer over the readers, with sanitizers (needs clang)])],
    [], [enable_fuzzing=no])
AS_IF([test "x$enable_fuzzing" != xno && test "x$enable_sanitizer" = xno], [enable_sanitizer=yes])
AS_IF([test "x$enable_sanitizer" = xyes], [enable_sanitizer=address,undefined])
AS_IF([test "x$enable_fuzzing" != xno], [enable_sanitizer="$enable_sanitizer,fuzzer-no-link"])
AM_CONDITIONAL([THREAD_SANITIZER], [test "x$enable_sanitizer" = xthread])
AM_CONDITIONAL([FUZZING], [test "x$enable_fuzzing" != xno])
SANITIZER_CFLAGS=
AS_IF([test "x$enable_sanitizer" != xno], [
    SANITIZER_CFLAGS="-fsanitize=$enable_sanitizer -fno-omit-frame-pointer"
    AS_CASE([$enable_sanitizer],
        [*undefined*], [SANITIZER_CFLAGS="$SANITIZER_CFLAGS -fno-sanitize-recover=undefined"])
    dnl clang warns of loops that are to be vectorised (update.c), and are not with these checks
    CAVS_ADD_FLAGS([SANITIZER_CFLAGS], [-Wno-pass-failed])
    AC_MSG_CHECKING([whether $CC links with -fsanitize=$enable_sanitizer])
    cavs_saved_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS $SANITIZER_CFLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([$CC cannot link with -fsanitize=$enable_sanitizer])])
    CFLAGS=$cavs_saved_CFLAGS
    AC_DEFINE_UNQUOTED([CAVS_SANITIZER], ["$enable_sanitizer"], [The sanitizers built in])
])
AC_SUBST([SANITIZER_CFLAGS])
CAVS_FEATURE([sanitizer], [$enable_sanitizer])])

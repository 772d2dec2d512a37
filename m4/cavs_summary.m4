# SPDX-License-Identifier: Apache-2.0
#
# CAVS_FEATURE(NAME, ANSWER, [DETAIL])
#   Adds a line to the table that configure prints at its end. ANSWER is yes, no or a version;
#   DETAIL says what was found or why not. All three may contain shell variables.
AC_DEFUN([CAVS_FEATURE],
[cavs_table="$cavs_table$(printf '  %-12s %-8s %s' "$1" "$2" "$3")
"])

# CAVS_SUMMARY: prints the table.
AC_DEFUN([CAVS_SUMMARY],
[cat <<CAVS_EOF

$PACKAGE_NAME $PACKAGE_VERSION
$cavs_table
  compiler     $CC
  flags        $CAVS_CFLAGS $CFLAGS
  kernel flags $KERNEL_CFLAGS
  install to   $prefix

CAVS_EOF
])

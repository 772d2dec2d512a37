#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Functions with CAVS__CLONES (codelets/products/simd.h) are in the library for each generation of x86-64.  Without its
# clones a function gives the same results, only several times as slowly, so nothing else notices that they are gone.

export LC_ALL=C
top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
build=${abs_top_builddir:-$PWD}
library=$build/.libs/libcavs.so

nothing() {
    echo "1..0 # SKIP $*"
    exit 0
}

# setting NAME: what the build's Makefile has for it
setting() {
    sed -n "s/^$1 = //p" "$build/Makefile"
}

# What simd.h asks the headers for is asked here of the compiler and the C library themselves, since a header that is
# not included any more is what switches clones off.
[ -e "$library" ] || nothing "there is no $library"
command -v nm >/dev/null || nothing "there is no nm"
# shellcheck disable=SC2046 # lists
defined=$(echo '#include <features.h>' |
    $(setting CC) $(setting SANITIZER_CFLAGS) $(setting CFLAGS) -x c -dM -E - 2>/dev/null) ||
    nothing "the C library has no features.h"
has() {
    printf '%s\n' "$defined" | grep -qE "^#define $1( |\$)"
}
has __x86_64__ || nothing "the processor is no x86-64"
has __GLIBC__ || nothing "the C library is not the one whose loader chooses"
! has __clang__ || nothing "clang compiles no clones here"
! has '__SANITIZE_(ADDRESS|THREAD)__' || nothing "there are no clones under sanitizers"
[ "$(printf '%s\n' "$defined" | sed -n 's/^#define __GNUC__ //p')" -ge 12 ] ||
    nothing "the compiler does not know these generations"

folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT
cd "$top" || exit 99

# A function is the name before "(" behind the word; names that macros make follow from the lists that these are used on.
{
    find codelets -name '*.c' -exec grep -hE '^ *CAVS__CLONES ' {} + |
        sed -E 's/^([^(]*)\(.*/\1/; s/.*[ *]//' | grep -vE '##|^name$'
    sed -nE 's/^CAVS_RULE\(([A-Z0-9_]+),.*/update_\1/p' codelets/update.def
    sed -nE 's/^CAVS_EW[12]\(([a-z0-9_]+),.*/\1_y \1_grad_a/p; s/^CAVS_EW2\(([a-z0-9_]+),.*/\1_grad_b/p' \
        codelets/groups/elementwise.def | tr ' ' '\n'
} | sort -u >"$folder/functions"
nm "$library" | awk '{ print $NF }' | sort -u >"$folder/symbols"

number=0
check() { # text, file of offenders
    number=$((number + 1))
    if [ -s "$2" ]; then
        echo "not ok $number - $1"
        sed 's/^/# /' "$2"
    else
        echo "ok $number - $1"
    fi
}

echo 1..3
for generation in v3 v4; do
    sed "s/\$/.arch_x86_64_$generation/" "$folder/functions" | comm -23 - "$folder/symbols" >"$folder/missing"
    check "functions with CAVS__CLONES are there for x86-64-$generation" "$folder/missing"
done
# There are more than sixty such functions: fewer mean that a name, a list or its form has changed unnoticed.
[ "$(wc -l <"$folder/functions")" -gt 60 ] || cp "$folder/functions" "$folder/few"
check "the sources were understood" "$folder/few"

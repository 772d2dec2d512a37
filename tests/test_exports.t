#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The library exports the functions that core/cavs.h and core/cavs_cells.h declare, all of them and nothing else.

top=${abs_top_srcdir:-$(dirname "$0")/..}
library=${abs_top_builddir:-.}/.libs/libcavs.so

echo 1..4
if ! [ -e "$library" ]; then
    for i in 1 2 3 4; do
        echo "ok $i # SKIP there is no $library"
    done
    exit 0
fi
folder=$(mktemp -d) || exit 99
trap 'rm -rf "$folder"' EXIT

# Comments, macros (with their continuation lines) and bodies of structs aside, a function is a name before "(".
cat "$top/core/cavs.h" "$top/core/cavs_cells.h" | tr '\n' '\001' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/||g; s/\\\x01/ /g' | tr '\001' '\n' |
    grep -v '^[ \t]*#' | grep -o 'cavs_[a-z0-9_]*(' | tr -d '(' | sort -u >"$folder/declared"
nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$folder/exported"

check() { # number, text, file of offenders
    if [ -s "$3" ]; then
        echo "not ok $1 - $2"
        sed 's/^/# /' "$3"
    else
        echo "ok $1 - $2"
    fi
}

comm -23 "$folder/declared" "$folder/exported" >"$folder/missing"
comm -13 "$folder/declared" "$folder/exported" >"$folder/extra"
check 1 "every function of cavs.h and cavs_cells.h is exported" "$folder/missing"
check 2 "nothing else is exported" "$folder/extra"
if [ "$(wc -l <"$folder/declared")" -gt 50 ]; then
    echo "ok 3 - the header was understood"
else
    echo "not ok 3 - the header was understood"
    sed 's/^/# /' "$folder/declared"
fi

# A function that is not called with NULL has not been asked what it does then.
sed 's/_at$//' "$folder/declared" | while read -r name; do
    grep -Eq "\\b${name}(_at)?\\(" "$top/tests/test_misuse.c" "$top/tests/probes.c" || echo "$name"
done >"$folder/untried"
check 4 "every function is called with NULL in tests/test_misuse.c, or by a probe that it applies" "$folder/untried"

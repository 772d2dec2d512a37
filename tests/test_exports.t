#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The library exports the functions that core/cavs.h and core/cavs_cells.h declare, all of them and nothing else; and of
# StarPU's functions it uses those that the oldest accepted one has.

export LC_ALL=C
top=${abs_top_srcdir:-$(dirname "$0")/..}
build=${abs_top_builddir:-.}
library=$build/.libs/libcavs.so

echo 1..5
if ! [ -e "$library" ]; then
    for i in 1 2 3 4 5; do
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

# A function that is not called with NULL has not been asked what it does then. Element-wise operators are called all, from their
# table.
sed -n 's/^CAVS_EW[12](\([a-z0-9_]*\),.*/cavs_\1_at/p' "$top/codelets/groups/elementwise.def" | sort >"$folder/table"
comm -23 "$folder/declared" "$folder/table" | sed 's/_at$//' | while read -r name; do
    grep -Eq "\\b${name}(_at)?\\(" "$top/tests/test_misuse.c" "$top/tests/probes.c" || echo "$name"
done >"$folder/untried"
check 4 "every function is called with NULL in tests/test_misuse.c, or by a probe that it applies" "$folder/untried"

# tests/starpu-1.3.names are functions of StarPU 1.3, as Debian 12 has it. What configure looks for may be used, too, where
# it is found, and StarPU-MPI's: configure takes no old one.
find "$build" -name '*.o' -exec nm -u {} + 2>/dev/null | sed -n 's/^ *U \(starpu_[a-z0-9_]*\)$/\1/p' | sort -u >"$folder/used"
grep -v '^starpu_mpi_' "$folder/used" | comm -23 - "$top/tests/starpu-1.3.names" | while read -r name; do
    grep -qwi "HAVE_$name" "$build/config.h" || echo "$name"
done >"$folder/newer"
[ "$(wc -l <"$folder/used")" -gt 30 ] || echo "few of StarPU's functions were found" >>"$folder/newer"
check 5 "StarPU's functions are those of its oldest version that configure accepts, or looked for" "$folder/newer"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The guide's programs run, and README.md and doc/ quote code as it is.

top=${abs_top_srcdir:-$(cd "$(dirname "$0")/.." && pwd)}
examples=${abs_top_builddir:-.}/doc/examples
work=$(mktemp -d "${abs_top_builddir:-.}/tests/home/guide.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$top" || exit 1
documents="README.md doc/*.md"
# shellcheck source=tests/tap.sh
. "$top/tests/tap.sh"

# --- the programs --------------------------------------------------------------------------------

# correct FILE PREFIX: the number before "correct" in the line that starts with PREFIX is at least 0.95
correct() {
    sed -n "s/^$2.* \([0-9.]*\) correct.*/\1/p" "$1" | awk '{ good = $1 >= 0.95 } END { exit !good }'
}

"$examples/first" "$work/model.safetensors" >"$work/first" 2>&1
[ $? -eq 0 ] && correct "$work/first" "new formulas" && [ -s "$work/model.safetensors" ]
ok $? "examples/first learns, and writes its parameters" "$work/first"

"$examples/two_ways" >"$work/two_ways" 2>&1
[ $? -eq 0 ] && correct "$work/two_ways" "new words"
ok $? "examples/two_ways learns" "$work/two_ways"

"$examples/recorded" >"$work/recorded" 2>&1
[ $? -eq 0 ] && correct "$work/recorded" "new formulas"
ok $? "examples/recorded learns" "$work/recorded"

# a program of the reader's own, as the guide compiles it
name="a copy of a program is compiled against the build"
if [ -e "$abs_top_builddir/.libs/libcavs.so" ] && command -v cc >/dev/null; then
    cc -Icore doc/examples/first.c -o "$work/mine" -L"$abs_top_builddir/.libs" -lcavs \
        -Wl,-rpath,"$abs_top_builddir/.libs" >"$work/compiled" 2>&1 && "$work/mine" >"$work/ran" 2>&1
    ok $? "$name" "$work/compiled" "$work/ran"
else
    skip "$name" "no shared library in the build, or no compiler"
fi

# folders and line numbers of source files are not compared
plain() {
    sed 's|[^ ]*/\([a-z_]*\.c\):|\1:|; s|\(\.c\):[0-9]*:|\1:|' "$@"
}

"$examples/mistakes" >"$work/out" 2>&1
ok $? "examples/mistakes is refused everything" "$work/out"

sed -n '/^```text mistakes$/,/^```$/p' doc/guide.md | sed '/^```/d; s/^ *//' | plain >"$work/quoted"
plain "$work/out" | sed 's/^ *//' >"$work/said"
while IFS= read -r line; do
    grep -qxF -- "$line" "$work/said" || echo "$line"
done <"$work/quoted" >"$work/missing"
[ -s "$work/quoted" ] && ! [ -s "$work/missing" ]
ok $? "the guide quotes what the library says to mistakes" "$work/missing"

# --- code in the documents -----------------------------------------------------------------------

# A block that starts with ```c FILE stands in FILE as it is.
for document in $documents; do
    awk '
        /^```c [^ ]+$/ { file = $2; block = ""; first = NR; next }
        /^```/ && file {
            whole = ""
            while ((getline line <file) > 0)
                whole = whole line "\n"
            close(file)
            if (!index(whole, block))
                print FILENAME ":" first ": not in " file
            file = ""
        }
        file { block = block $0 "\n" }' "$document"
done >"$work/wrong"
! [ -s "$work/wrong" ]
ok $? "code is quoted as it is" "$work/wrong"

awk '/^```c$/ { print FILENAME ":" NR }' doc/guide.md README.md >"$work/wrong"
! [ -s "$work/wrong" ]
ok $? "all code of the guide comes from a program" "$work/wrong"

echo "1..$count"

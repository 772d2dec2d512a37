#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# The benchmarks that go through all programs still know their options. Too slow for `make check`; needs $CAVS_DATA.

# shellcheck source=tests/tap.sh
. "${abs_top_srcdir:-.}/tests/tap.sh"
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP no python3"
    exit 0
fi
for file in sst/train.txt wikitext2/wiki.train.tokens wikiner10k/train.txt ud_ewt/en_ewt-ud-train.conllu; do
    if [ ! -f "$CAVS_DATA/$file" ]; then
        echo "1..0 # SKIP no $CAVS_DATA/$file"
        exit 0
    fi
done

for script in models tasks-by-policy; do
    "${abs_top_srcdir:?}/perf/$script" --quick --build "${abs_top_builddir:?}" >"$work/out" 2>"$work/err"
    [ $? -eq 0 ] && [ "$(grep -c '^|' "$work/out")" -gt 4 ] && ! grep -q 'not measured' "$work/out"
    ok $? "perf/$script measures every declared program" "$work/out" "$work/err"
done
echo "1..$count"
